"""Every rival is found by its name, with the settings of its own class."""

import pytest
from torch import nn

from bandstop import rivals
from bandstop.rivals.evolution import Evolution
from bandstop.rivals.masked import MaskedMethod
from bandstop.rivals.one_shot import OneShot, OneShotSettings
from bandstop.rivals.random_static import RandomStatic
from bandstop.rivals.rigl import RigL
from bandstop.rivals.settings import Settings
from bandstop.rivals.snip import Snip
from bandstop.rivals.synflow import SynFlow
from bandstop.rivals.top_kast import TopKast

CLASSES = {
    "set": Evolution,
    "mp": OneShot,
    "mp-lamp": OneShot,
    "random-erk": RandomStatic,
    "rigl": RigL,
    "snip": Snip,
    "top-kast": TopKast,
}


@pytest.mark.parametrize("name", CLASSES)
def test_a_name_makes_its_class(name: str) -> None:
    method = rivals.make(name, nn.Linear(8, 8), 0.5, steps=2)
    assert type(method) is CLASSES[name]


@pytest.mark.parametrize("name", rivals.NAMES)
def test_every_rival_has_published_settings_and_a_sentence(name: str) -> None:
    assert isinstance(rivals.published(name), Settings)
    assert rivals.NAMES[name].endswith(".") and len(rivals.NAMES[name]) < 120


def test_variants_differ_from_their_method_in_settings_only() -> None:
    assert rivals.published("mp-lamp") == OneShotSettings(allocation="lamp") != rivals.published("mp")
    assert issubclass(SynFlow, MaskedMethod)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        rivals.nonsense  # noqa: B018
