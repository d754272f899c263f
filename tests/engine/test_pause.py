"""A long pause says what is being done; a short one says nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from bandstop import Budget, Pruner
from bandstop.engine import pause
from bandstop.engine.pause import PATIENCE, telling


class NoPatience:
    """A timer that has run out as soon as it is started."""

    def __init__(self, seconds: float, say: Callable[[str], None], words: list[str]) -> None:
        assert seconds == PATIENCE == 2.0
        self.start, self.cancel = (lambda: say(*words)), lambda: None


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pause, "threading", SimpleNamespace(Timer=NoPatience))


def test_a_moment_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "bandstop"), telling("a moment"):
        pass
    assert not caplog.records


@pytest.mark.usefixtures("impatient")
def test_a_pause_is_told_on_standard_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("bandstop"), "propagate", False)  # pytest sets up logging
    with telling("counting sheep"):
        pass
    assert capsys.readouterr().err == "bandstop: counting sheep …\n"


@pytest.mark.usefixtures("impatient")
def test_attaching_fixing_the_mask_and_the_outcome_are_told(caplog: pytest.LogCaptureFixture) -> None:
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64))
    with caplog.at_level(logging.INFO, "bandstop"):
        pruner = Pruner(net, Budget.macs(300), steps=4, example=torch.zeros(1, 64))
        pruner.freeze()
        pruner.outcome()
    assert "choosing the connections that stay, of 8,192 …" in caplog.text
    assert "count multiply-accumulates" in caplog.text and "count live connections" in caplog.text
