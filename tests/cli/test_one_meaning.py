"""Asked budget, table, report, header, exports, bench and the engine's outcome: one number for each word."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from bandstop import Budget, Pruner, trace
from bandstop.deploy import DeployModel, make_c
from bandstop.deploy.bench import Row
from bandstop.method.budget import sparse_bytes
from bandstop.record.folder import read_metrics
from bandstop.training.model_file import load_recogniser

Say = Callable[..., Any]
NETS = {
    "gcn": ["--chunks", 8, "--net.kind", "gcn", "--net.channels", 4, "--net.heads", 2, "--net.filters", 6],
    "tcn": [
        *("--chunks", 8, "--net.kind", "tcn", "--net.widths", 12, 16, "--net.kernels", 1, 3),
        *("--net.strides", 1, 2, "--signal", "places+steps+duration"),
    ],
    "lstm": ["--chunks", 8, "--net.kind", "lstm", "--net.hidden", 8],
}
ASKED = {"rate": 0.9, "weights": 150, "bytes": 1500, "macs": 600}


@dataclass(frozen=True)
class Found:
    """What one door says of a network."""

    kept: int
    macs: int


def numbers(text: str, pattern: str) -> Found:
    """Connections and multiply-accumulates in the first match of a pattern with these two."""
    found = re.search(pattern, text)
    assert found, (pattern, text)
    kept, macs = (int(group.replace(",", "")) for group in found.groups())
    return Found(kept, macs)


def met(kind: str, found: Found, total: int, unpruned: int) -> bool:
    """Whether a network is as the budget asks: rates and weights exactly, bytes and MACs to the last one."""
    amount = ASKED[kind]
    if kind == "rate":
        return found.kept == round((1 - amount) * total)
    if kind == "weights":
        return found.kept == amount
    if kind == "macs":
        return found.macs == amount
    return 0 <= amount - sparse_bytes(found.kept, unpruned) < 6


@pytest.mark.parametrize("kind", ASKED)
@pytest.mark.parametrize("net", NETS)
def test_every_door_of_a_run_says_the_same(
    say: Say, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, net: str, kind: str
) -> None:
    run = tmp_path / "run"
    said = say("train", folder, f"--{kind}", ASKED[kind], *NETS[net], "--epochs", 4, "--quiet", "--out", run)
    assert said.code == 0, said.err
    metrics = read_metrics(run)
    stored = load_recogniser(run)
    traced = trace(stored.net, torch.zeros(1, stored.joints, stored.normaliser.values))
    wanted = Found(traced.kept, traced.macs)
    assert met(kind, wanted, metrics.weights_total, metrics.parameters_total - metrics.weights_total)

    row = said.out.splitlines()[2].split()
    weights, total, stored_bytes, macs = row[5], row[7], row[9], row[10]
    assert Found(int(weights.replace(",", "")), int(macs.replace(",", ""))) == wanted
    assert int(total.replace(",", "")) == metrics.weights_total
    assert int(stored_bytes.replace(",", "")) == metrics.bytes_sparse == metrics.stored_bytes
    assert Found(metrics.weights_kept, metrics.macs) == wanted
    assert sum(layer.macs for layer in metrics.layers) == wanted.macs

    page = re.sub(r"<[^>]+>", " ", html.unescape((run / "report.html").read_text()))
    page = re.sub(r"\s+", " ", page)
    assert f"Weights kept {wanted.kept:,} of" in page and f"Multiply-accumulates {wanted.macs:,} of" in page
    if kind in ("rate", "weights"):
        assert "exactly as asked" in page
    if kind == "macs":
        assert "600 of the 600 multiply-accumulates asked" in page

    exported = say("export", run, "--to", "c")
    assert exported.code == 0, exported.err
    line = r"network: ([\d,]+) kept connections, ([\d,]+) multiply-accumulates"
    assert numbers(exported.out, line) == wanted
    header = (run / "export" / "recogniser.h").read_text()
    assert numbers(header, r"The network: (\d+) kept connections, (\d+) multiply-accumulates") == wanted
    report = json.loads((run / "export" / "recogniser-c.json").read_text())
    assert Found(report["kept"], report["macs"]) == wanted

    monkeypatch.setattr("bandstop.deploy.bench.bench_model", lambda *args, **options: [Row("C", 1.0)])
    assert numbers(say("bench", run).out, line) == wanted


@pytest.mark.parametrize("kind", ASKED)
def test_the_outcome_of_any_network_is_what_its_program_names(kind: str) -> None:
    torch.manual_seed(0)
    net, example = (
        nn.Sequential(nn.Linear(30, 40), nn.ReLU(), nn.Linear(40, 20), nn.ReLU(), nn.Linear(20, 5)),
        torch.zeros(1, 30),
    )
    pruner = Pruner(net, Budget(kind, ASKED[kind]), steps=2, example=example)  # type: ignore[arg-type]
    for _ in range(2):
        pruner.step()
    plain = pruner.finalize().eval()
    outcome = pruner.outcome()
    wanted = Found(outcome.kept, outcome.macs or 0)
    assert met(kind, wanted, outcome.prunable, outcome.unpruned if outcome.budget.scope == "network" else 0)
    found = trace(plain, example)
    assert Found(found.kept, found.macs) == wanted
    model = DeployModel(plain, None, tuple("abcde"), input_shape=(30,), macs=found.macs)
    header = make_c(model).header
    assert numbers(header, r"The network: (\d+) kept connections, (\d+) multiply-accumulates") == wanted
