"""The code of docs/any-network.md is run as it stands."""

import re
from pathlib import Path

import pytest

from bandstop import Pruner, trace

PAGE = Path(__file__).parents[3] / "docs" / "any-network.md"


def test_the_one_call(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    scope: dict[str, object] = {}
    exec(compile(code, str(PAGE), "exec"), scope)
    pruner = scope["pruner"]
    assert isinstance(pruner, Pruner)
    assert [layer.name for layer in pruner.layers] == ["0.weight"]
    found = trace(pruner.model, pruner.example).weights["0.weight"]
    assert found.macs_nominal == pruner.outcome().macs == 27 * 36
    assert "asked a budget of 1,000 macs" in capsys.readouterr().out
