"""Every example runs in its short form, meets its budget to the weight,
and stays short enough to copy from.
"""

import importlib
import sys
from pathlib import Path

import pytest
import torch

from bandstop.engine.trace import effective_weights, kept

FOLDER = Path(__file__).parents[2] / "examples"
NEEDS = {
    "digits_mlp": "sklearn",
    "digits_cnn": "sklearn",
    "char_transformer": "torch",
    "hands_lstm": "torch",
    "graph_gcn": "torch_geometric",
    "accelerate_digits": "accelerate",
}


@pytest.fixture(autouse=True)
def _examples_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))


@pytest.mark.parametrize("name", NEEDS)
def test_short_form_meets_the_budget(name: str) -> None:
    pytest.importorskip(NEEDS[name])
    net, accuracy = importlib.import_module(name).train(0.98, 0, True, False)
    total = sum(w.numel() for w in effective_weights(net).values())
    assert sum(kept(net).values()) == round(0.02 * total)
    assert 0 < accuracy <= 100


def test_the_table_and_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = importlib.import_module("example_runs")
    monkeypatch.setattr(runs, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["x", "--seeds", "2", "--rates", "0", "0.5", "--record"])

    def train(rate: float, seed: int, short: bool, validation: bool) -> tuple[torch.nn.Module, float]:
        net = torch.nn.Linear(4, 5, bias=False)
        net.weight.data.view(-1)[: round(rate * 20)] = 0
        return net, 90.0 + seed

    runs.main("thing", train)
    assert "50.000%" in capsys.readouterr().out
    assert '"kept": 10' in (tmp_path / "thing.json").read_text()


@pytest.mark.parametrize("name", NEEDS)
def test_short_enough_to_copy(name: str) -> None:
    assert len((FOLDER / f"{name}.py").read_text().splitlines()) <= 80


def test_page_is_up_to_date() -> None:
    page = importlib.import_module("examples_page")
    assert page.PAGE.read_text() == page.page(), "run python examples/examples_page.py"
