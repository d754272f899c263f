"""A run trained for many rates, and the runs extracted from it."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from bandstop.cli import main
from bandstop.errors import BudgetError, ConfigError, DataError
from bandstop.method.budget import Budget
from bandstop.nets import NetConfig
from bandstop.record.folder import LATENTS, read_metrics
from bandstop.skeleton import SequenceSet, write_archive
from bandstop.training.config import OptimConfig, PruneConfig, RunConfig
from bandstop.training.extract import extract_run
from bandstop.training.model_file import load_checkpoint, load_recogniser, save_checkpoint
from bandstop.training.resume import stored_config
from bandstop.training.run import train_run

CONFIG = RunConfig(
    data="tiny",
    rates="0.5:0.98",
    epochs=6,
    chunks=8,
    net=NetConfig(kind="gcn", channels=6, heads=3, filters=8),
    optim=OptimConfig(batch=27),
)


@pytest.fixture(scope="module")
def run(tiny: SequenceSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many") / "run"
    train_run(CONFIG, folder, sequences=tiny)
    return folder


def test_the_run_itself_is_its_highest_rate(run: Path) -> None:
    metrics = read_metrics(run)
    assert metrics.rate_asked == 0.98 and metrics.rates == "0.5:0.98" and metrics.extracted_from is None
    kept = Budget.rate(0.98).connections(prunable=metrics.weights_total)
    assert metrics.weights_kept == metrics.weights_live == kept
    assert (run / LATENTS).is_file() and not (run / "checkpoint.safetensors").exists()


@pytest.mark.parametrize("rate", [0.5, 0.613, 0.97])
def test_an_extracted_run_is_a_whole_run(run: Path, tiny: SequenceSet, tmp_path: Path, rate: float) -> None:
    out = tmp_path / "extracted"
    metrics = extract_run(run, Budget.rate(rate), out, sequences=tiny)
    assert metrics == read_metrics(out)
    kept = Budget.rate(rate).connections(prunable=metrics.weights_total)
    assert metrics.weights_kept == metrics.weights_live == kept
    assert metrics.rate_asked == rate and metrics.split == "test"
    recogniser = load_recogniser(out)
    weights = [p for p in recogniser.net.parameters() if p.ndim > 1]
    assert sum(int(p.count_nonzero()) for p in weights) == kept
    parent = recogniser.config.extracted_from
    assert parent is not None and (out.parent / parent).resolve() == run.resolve()
    assert all(row.threshold is not None and row.gain is not None and row.gain > 0 for row in metrics.layers)


def test_extraction_repeats_bit_for_bit(run: Path, tiny: SequenceSet, tmp_path: Path) -> None:
    for name in ("one", "two"):
        extract_run(run, Budget.rate(0.9), tmp_path / name, sequences=tiny)
    one, two = (load_recogniser(tmp_path / name).net.state_dict() for name in ("one", "two"))
    assert all(torch.equal(one[k], two[k]) for k in one)


def test_the_runs_own_model_is_what_extraction_gives(run: Path, tiny: SequenceSet, tmp_path: Path) -> None:
    extract_run(run, Budget.rate(0.98), tmp_path / "same", sequences=tiny)
    own, same = load_recogniser(run).net.state_dict(), load_recogniser(tmp_path / "same").net.state_dict()
    assert all(torch.equal(own[k], same[k]) for k in own)


def test_it_learns_at_every_rate(tiny: SequenceSet, tmp_path: Path) -> None:
    train_run(replace(CONFIG, epochs=40), tmp_path / "run", sequences=tiny)
    for rate in (0.5, 0.8, 0.9):
        metrics = extract_run(tmp_path / "run", Budget.rate(rate), tmp_path / str(rate), sequences=tiny)
        assert metrics.accuracy > 80, (rate, metrics.accuracy)


def test_killed_and_resumed_gives_the_same_bits(tiny: SequenceSet, tmp_path: Path, run: Path) -> None:
    class StopError(Exception):
        pass

    def stop(row: dict[str, object]) -> None:
        if row["epoch"] == 4:
            raise StopError

    with pytest.raises(StopError):
        train_run(CONFIG, tmp_path / "run", sequences=tiny, show=stop, checkpoint_seconds=0)
    train_run(CONFIG, tmp_path / "run", sequences=tiny, resume=True)
    one, two = (load_recogniser(folder).net.state_dict() for folder in (run, tmp_path / "run"))
    assert all(torch.equal(one[k], two[k]) for k in one)


def test_what_cannot_be_extracted_is_said(run: Path, tiny: SequenceSet, tmp_path: Path) -> None:
    with pytest.raises(BudgetError, match=r"covered rates from 0\.5 to 0\.98"):
        extract_run(run, Budget.rate(0.3), tmp_path / "low", sequences=tiny)
    assert not (tmp_path / "low").exists()
    with pytest.raises(DataError, match="data has changed"):
        extract_run(run, Budget.rate(0.9), tmp_path / "other", sequences=tiny.subset(range(80)))
    single = replace(CONFIG, rates=None, rate=0.9, epochs=1)
    train_run(single, tmp_path / "single", sequences=tiny)
    with pytest.raises(DataError, match="one budget only"):
        extract_run(tmp_path / "single", Budget.rate(0.9), tmp_path / "no", sequences=tiny)
    with pytest.raises(DataError, match=r"no config\.json"):
        extract_run(tmp_path / "nowhere", Budget.rate(0.9), tmp_path / "no", sequences=tiny)
    with pytest.raises(ConfigError, match="not empty"):
        extract_run(run, Budget.rate(0.9), run, sequences=tiny)


@pytest.mark.parametrize("bad", ["0.5", "0.9:0.5", "0.5:1", "a:b", "-0.1:0.5", "0.5:0.9:0.95"])
def test_a_range_that_is_none_is_refused(bad: str) -> None:
    with pytest.raises(ConfigError, match="--rates needs a range"):
        RunConfig(rates=bad)


def test_only_the_method_itself_trains_for_many_rates() -> None:
    with pytest.raises(ConfigError, match="only method pmp"):
        RunConfig(rates="0.5:0.9", method="gmp", rate=0.9)


def test_the_command_line(tiny: SequenceSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_archive(tiny, tmp_path / "tiny.npz")
    words = [
        "train",
        str(tmp_path / "tiny.npz"),
        "--rates",
        "0.5:0.95",
        "--epochs",
        "2",
        "--out",
        str(tmp_path / "any"),
    ]
    assert main([*words, "--quiet", "--no-report"]) == 0
    assert main(["extract", str(tmp_path / "any"), "--rate", "0.9", "--out", str(tmp_path / "any90")]) == 0
    assert "any90" in capsys.readouterr().out and (tmp_path / "any90" / "report.html").is_file()
    assert main(["evaluate", str(tmp_path / "any90"), str(tmp_path / "tiny.npz")]) == 0
    judged = json.loads(capsys.readouterr().out)
    assert judged["accuracy"] == json.loads((tmp_path / "any90" / "metrics.json").read_text())["accuracy"]
    assert main(["extract", str(tmp_path / "any"), "--out", str(tmp_path / "none")]) == 2
    assert "one budget is needed" in capsys.readouterr().err
    assert main(["export", str(tmp_path / "any90"), "--to", "bytes", "--out", str(tmp_path / "c")]) == 0


def test_settings_of_many_rates_are_checked() -> None:
    for bad in ({"waypoints": 0}, {"sweep_average": 1.5}, {"sweep_from": 0.9, "sweep_until": 0.5}):
        with pytest.raises(ConfigError):
            PruneConfig(**bad)


@pytest.mark.parametrize(
    "change",
    [
        {"prune": PruneConfig(ramp=0.5)},
        {"prune": PruneConfig(freeze=0.6)},
        {"optim": OptimConfig(batch=27, average=0.9)},
    ],
)
def test_settings_that_a_sweep_would_pass_over_are_refused(
    tiny: SequenceSet, tmp_path: Path, change: dict[str, PruneConfig | OptimConfig]
) -> None:
    with pytest.raises(ConfigError, match="is for one rate"):
        train_run(replace(CONFIG, **change), tmp_path / "no", sequences=tiny)


def test_runs_of_version_0_1_are_read_and_those_for_many_rates_not_extracted_from(
    run: Path, tiny: SequenceSet, tmp_path: Path
) -> None:
    old = tmp_path / "old"
    shutil.copytree(run, old)
    stored = json.loads((old / "config.json").read_text())
    new = ("sweep_from", "sweep_until", "sweep_average", "waypoints")
    kept = {name: value for name, value in stored["prune"].items() if name not in new}
    several = {"passes": 3, "self_share": 0.5, "follow": False, "ramp": 0.5, "freeze": 0.6, "gate": "hard"}
    (old / "config.json").write_text(json.dumps(stored | {"prune": kept | several}))
    state = load_checkpoint(old / LATENTS)
    del state["method"]["waypoints"]
    save_checkpoint(old / LATENTS, state)
    assert stored_config(old).prune.freeze == 0.6
    with pytest.raises(ConfigError, match="earlier version of bandstop"):
        extract_run(old, Budget.rate(0.9), tmp_path / "no", sequences=tiny)
