"""`python -m bandstop` is the command line."""

import runpy
import sys

import pytest

from bandstop import __version__


def test_it_says_its_version(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["bandstop", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("bandstop", run_name="__main__")
    assert not ended.value.code and __version__ in capsys.readouterr().out
