"""The plain choices of the method: texts, ranges, and nothing that imports torch."""

import dataclasses
import subprocess
import sys

import pytest

from bandstop.errors import ConfigError
from bandstop.record.prune import PruneChoices


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("bins", 2, r"bins must be in \[3, 10000\], found 2"),
        ("freeze", 0, r"freeze must be in \(0, 1\], found 0"),
        ("every", 0, "every must be at least 1, found 0"),
        ("floor", -1, "floor must be at least 0, found -1"),
        ("floor", "1", "floor must be at least 0, found '1'"),
        ("allocation", "fair", "must be one of learned, uniform, erk, lamp, adapted, given, found 'fair'"),
        ("gain", "half", "gain must be one of variance, fixed, learned, found 'half'"),
        ("threshold", "best", "threshold must be one of empirical, prior, held, found 'best'"),
    ],
)
def test_a_choice_out_of_range_is_refused_by_name(field, value, message):
    with pytest.raises(ConfigError, match=message):
        PruneChoices(**{field: value})


def test_a_subclass_names_its_own_place_in_messages():
    @dataclasses.dataclass(frozen=True)
    class Prune(PruneChoices):
        prefix = "prune."

    with pytest.raises(ConfigError, match=r"prune\.bins must be"):
        Prune(bins=1)


def test_latents_are_held_unless_another_choice_speaks_against_it():
    assert PruneChoices().rule == "held" and PruneChoices(threshold="prior").rule == "prior"
    for other in ({"start": "scale"}, {"allocation": "learned"}, {"allocation": "adapted"}):
        assert PruneChoices(**other).rule == "empirical"
        assert PruneChoices(**other, threshold="held").rule == "held"
        assert PruneChoices(**other).bin_spacing == "width"
    assert PruneChoices(spacing="width").bin_spacing == "width"


def test_choices_that_contradict_each_other_are_refused():
    with pytest.raises(ConfigError, match="fixed before the end"):
        PruneChoices(live=True, freeze=1.0)
    with pytest.raises(ConfigError, match="exact count"):
        PruneChoices(live=True, count="passing")


def test_reading_the_choices_does_not_import_torch():
    code = "import sys, bandstop.record.prune; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
