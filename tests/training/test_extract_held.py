"""A run trained for many rates with latents held to the prior, and the runs extracted from it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from bandstop.cli import main
from bandstop.errors import BudgetError
from bandstop.method.budget import Budget
from bandstop.nets import NetConfig
from bandstop.record.folder import read_metrics
from bandstop.skeleton import SequenceSet, write_archive
from bandstop.training.config import OptimConfig, RunConfig
from bandstop.training.extract import extract_run
from bandstop.training.model_file import load_recogniser
from bandstop.training.presets import held, many_rates
from bandstop.training.run import train_run

BASE = RunConfig(
    data="tiny",
    rates="0.5:0.98",
    epochs=6,
    chunks=8,
    net=NetConfig(kind="gcn", channels=6, heads=3, filters=8),
    signal="places",
    optim=OptimConfig(batch=27),
)
CONFIG = many_rates(held(BASE))


@pytest.fixture(scope="module", params=["gaussian", "laplace"])
def run(request: pytest.FixtureRequest, tiny: SequenceSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("held") / request.param
    train_run(replace(CONFIG, prior=request.param), folder, sequences=tiny)
    return folder


@pytest.mark.parametrize("rate", [0.5, 0.613, 0.97])
def test_an_extracted_run_is_exact_and_live(
    run: Path, tiny: SequenceSet, tmp_path: Path, rate: float
) -> None:
    metrics = extract_run(run, Budget.rate(rate), tmp_path / "extracted", sequences=tiny)
    kept = Budget.rate(rate).connections(prunable=metrics.weights_total)
    assert metrics.weights_kept == metrics.weights_live == kept
    assert all(row.threshold is not None and row.threshold > 0 for row in metrics.layers)


def test_the_runs_own_model_is_what_extraction_gives(run: Path, tiny: SequenceSet, tmp_path: Path) -> None:
    extract_run(run, Budget.rate(0.98), tmp_path / "same", sequences=tiny)
    own, same = load_recogniser(run).net.state_dict(), load_recogniser(tmp_path / "same").net.state_dict()
    assert all(torch.equal(own[k], same[k]) for k in own)


@pytest.mark.parametrize("epoch", [2, 5])
def test_killed_and_resumed_gives_the_same_bits(
    run: Path, tiny: SequenceSet, tmp_path: Path, epoch: int
) -> None:
    def stop(row: dict[str, object]) -> None:
        if row["epoch"] == epoch:
            raise KeyboardInterrupt

    config = replace(CONFIG, prior=run.name)
    with pytest.raises(KeyboardInterrupt):
        train_run(config, tmp_path / "run", sequences=tiny, show=stop, checkpoint_seconds=0)
    train_run(config, tmp_path / "run", sequences=tiny, resume=True)
    one, two = (load_recogniser(folder).net.state_dict() for folder in (run, tmp_path / "run"))
    assert all(torch.equal(one[k], two[k]) for k in one)


def test_the_log_shows_the_fit_of_the_whole_sweep(tiny: SequenceSet, tmp_path: Path) -> None:
    train_run(replace(CONFIG, epochs=20), tmp_path / "run", sequences=tiny)
    rows = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert rows[-1]["kl"] < 0.1 < rows[0]["kl"] and "fit" in rows[-1]  # the hold rises on the way


def test_it_learns_at_every_rate(tiny: SequenceSet, tmp_path: Path) -> None:
    train_run(replace(CONFIG, epochs=60), tmp_path / "run", sequences=tiny)
    for rate in (0.5, 0.8, 0.9):
        metrics = extract_run(tmp_path / "run", Budget.rate(rate), tmp_path / str(rate), sequences=tiny)
        assert metrics.accuracy > 80, (rate, metrics.accuracy)


def test_a_budget_that_was_not_covered_is_refused(run: Path, tiny: SequenceSet, tmp_path: Path) -> None:
    with pytest.raises(BudgetError, match=r"covered rates from 0\.5 to 0\.98"):
        extract_run(run, Budget.rate(0.3), tmp_path / "low", sequences=tiny)


def test_the_command_line(tiny: SequenceSet, tmp_path: Path) -> None:
    write_archive(tiny, tmp_path / "tiny.npz")
    data, out = str(tmp_path / "tiny.npz"), str(tmp_path / "any")
    words = ["train", data, "--rates", "0.5:0.95", "--preset", "held", "--epochs", "3", "--out", out]
    assert main([*words, "--quiet"]) == 0
    assert (tmp_path / "any" / "report.html").is_file()
    assert main(["extract", out, "--rate", "0.9", "--out", str(tmp_path / "any90")]) == 0
    metrics = read_metrics(tmp_path / "any90")
    assert metrics.weights_kept == Budget.rate(0.9).connections(prunable=metrics.weights_total)
