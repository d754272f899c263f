"""A run from start to end: exact, repeatable, and able to survive being killed."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from bandstop.errors import BandstopError, ConfigError, DataError, TrainingError
from bandstop.nets import NetConfig
from bandstop.record.folder import read_metrics
from bandstop.skeleton import SequenceSet, write_archive
from bandstop.training.config import OptimConfig, PruneConfig, RunConfig
from bandstop.training.model_file import load_checkpoint, load_recogniser
from bandstop.training.presets import paper_literal
from bandstop.training.run import train_run

SMALL = RunConfig(
    epochs=12,
    chunks=8,
    rate=0.9,
    net=NetConfig(kind="gcn", channels=4, heads=2, filters=6),
    optim=OptimConfig(batch=27),
)
ASKED_KEYS = {
    "accuracy", "class_accuracy", "weights_total", "weights_kept", "weights_live", "parameters_total",
    "macs_dense",
    "macs_live", "rate_asked", "rate_observed", "seed", "epochs", "seconds",
}  # fmt: skip


def test_a_run_folder_holds_what_it_must(tiny: SequenceSet, tmp_path: Path) -> None:
    metrics = train_run(SMALL, tmp_path / "run", sequences=tiny)
    assert {"config.json", "metrics.json", "model.safetensors", "log.jsonl"} <= {
        p.name for p in (tmp_path / "run").iterdir()
    }
    assert not (tmp_path / "run" / "checkpoint.safetensors").exists()
    assert metrics == read_metrics(tmp_path / "run")
    assert set(json.loads((tmp_path / "run" / "metrics.json").read_text())) >= ASKED_KEYS
    assert RunConfig.from_json((tmp_path / "run" / "config.json").read_text()) == SMALL.resolved()
    rows = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert [row["epoch"] for row in rows] == list(range(1, 13))
    assert "histogram" in rows[0]


def test_asked_is_kept_is_file_is_report(tiny: SequenceSet, tmp_path: Path) -> None:
    metrics = train_run(dataclasses.replace(SMALL, rate=None, weights=41), tmp_path, sequences=tiny)
    state = load_file(tmp_path / "model.safetensors")
    weights = [k for k, v in state.items() if v.ndim >= 2]
    assert sum(int(state[k].count_nonzero()) for k in weights) == 41
    assert metrics.weights_kept == metrics.weights_live == 41
    assert sum(row.kept for row in metrics.layers) == 41
    assert metrics.rate_observed == 1 - 41 / metrics.weights_total


def test_it_learns(tiny: SequenceSet, tmp_path: Path) -> None:
    config = dataclasses.replace(SMALL, epochs=60, rate=0.7)
    assert train_run(config, tmp_path, sequences=tiny).accuracy > 80


@pytest.mark.parametrize(
    "change", [{}, {"method": "dense", "rate": None}, {"net": NetConfig(kind="lstm", hidden=6)}]
)
def test_same_seed_same_bits(tiny: SequenceSet, tmp_path: Path, change: dict[str, object]) -> None:
    config = dataclasses.replace(SMALL, epochs=4, **change)  # type: ignore[arg-type]
    states = []
    for name in "ab":
        train_run(config, tmp_path / name, sequences=tiny)
        states.append(load_file(tmp_path / name / "model.safetensors"))
    assert all(torch.equal(states[0][k], states[1][k]) for k in states[0])


def test_the_printed_preset_runs(tiny: SequenceSet, tmp_path: Path) -> None:
    for rule in ("paper-speed", "paper-loss"):
        config = paper_literal(dataclasses.replace(SMALL, epochs=6, rate=0.55))
        config = dataclasses.replace(config, optim=dataclasses.replace(config.optim, rule=rule))  # type: ignore[arg-type]
        assert (config.prune.kl, config.prune.bins, config.optim.kind, config.optim.batch) == (
            10.0,
            100,
            "adam",
            600,
        )
        metrics = train_run(config, tmp_path / rule, sequences=tiny)
        assert metrics.weights_kept == round(0.45 * metrics.weights_total)


def test_killed_and_resumed_gives_the_same_bits(tiny: SequenceSet, tmp_path: Path) -> None:
    """A real process, killed with SIGKILL somewhere in the middle, twice."""
    archive = tmp_path / "tiny.npz"
    write_archive(tiny, archive)
    words = [
        str(archive), "--epochs", "60", "--chunks", "8", "--rate", "0.9",
        "--net.kind", "gcn", "--net.channels", "4", "--net.heads", "2",
        "--net.filters", "6", "--optim.batch", "27", "--optim.average", "0.9", "--quiet", "--no-report",
        "--checkpoint-seconds", "0",
    ]  # fmt: skip
    command = [sys.executable, "-m", "bandstop", "train", *words, "--out"]
    subprocess.run([*command, str(tmp_path / "whole")], check=True)
    for again in ([], ["--resume"]):
        process = subprocess.Popen([*command, str(tmp_path / "cut"), *again])
        log = tmp_path / "cut" / "log.jsonl"
        seen = len(log.read_text().splitlines()) if log.exists() else 0
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            if log.exists() and len(log.read_text().splitlines()) > seen + 8:
                break
            time.sleep(0.01)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert (tmp_path / "cut" / "checkpoint.safetensors").exists(), "the process was to be killed in mid-run"
    subprocess.run([*command, str(tmp_path / "cut"), "--resume"], check=True)
    one, two = (load_file(tmp_path / name / "model.safetensors") for name in ("whole", "cut"))
    assert all(torch.equal(one[k], two[k]) for k in one)
    logs = [
        [json.loads(x) for x in (tmp_path / n / "log.jsonl").read_text().splitlines()]
        for n in ("whole", "cut")
    ]
    assert [r["loss"] for r in logs[0]] == [r["loss"] for r in logs[1]]


def test_a_finished_run_is_not_repeated(tiny: SequenceSet, tmp_path: Path) -> None:
    config = dataclasses.replace(SMALL, epochs=2)
    train_run(config, tmp_path / "r", sequences=tiny)
    before = (tmp_path / "r" / "model.safetensors").stat().st_mtime_ns
    train_run(config, tmp_path / "r", sequences=tiny, resume=True)
    assert (tmp_path / "r" / "model.safetensors").stat().st_mtime_ns == before
    with pytest.raises(ConfigError, match="--resume"):
        train_run(config, tmp_path / "r", sequences=tiny)


def test_a_loss_that_is_not_a_number_stops_with_the_last_good_state(
    tiny: SequenceSet, tmp_path: Path
) -> None:
    config = dataclasses.replace(
        SMALL, epochs=30, optim=OptimConfig(batch=27, lr=1e30, latent_lr=1e30, warmup=0.5)
    )
    with pytest.raises(TrainingError, match="not a number in epoch"):
        train_run(config, tmp_path, sequences=tiny, checkpoint_seconds=0)
    assert not (tmp_path / "metrics.json").exists()
    state = load_checkpoint(tmp_path / "checkpoint.safetensors")
    assert all(bool(v.isfinite().all()) for v in state["net"].values())


def test_weights_that_are_not_numbers_after_the_last_step_are_no_result(
    tiny: SequenceSet, tmp_path: Path
) -> None:
    config = dataclasses.replace(
        SMALL, epochs=1, optim=OptimConfig(batch=27, lr=1e30, latent_lr=1e30, warmup=0.0)
    )
    with pytest.raises(TrainingError, match=r"not finite in epoch 1; .*--optim.lr"):
        train_run(config, tmp_path, sequences=tiny)
    assert not (tmp_path / "model.safetensors").exists()


def test_bytes_and_macs_are_not_exceeded(tiny: SequenceSet, tmp_path: Path) -> None:
    config = dataclasses.replace(SMALL, rate=None, epochs=3)
    found = train_run(dataclasses.replace(config, bytes=1200), tmp_path / "b", sequences=tiny)
    assert 1200 - 6 < found.bytes_sparse <= 1200
    found = train_run(dataclasses.replace(config, macs=900), tmp_path / "m", sequences=tiny)
    assert 700 < found.macs_nominal <= 900
    assert found.weights_kept == found.weights_live


BROKEN = {
    "not UTF-8": (b"\xff\xfe{}", "config.json"),
    "wrong type": (b'{"epochs": "3"}', "epochs must be a whole number, found '3'"),
    "wrong choice": (b'{"optim": {"rule": "nonsense"}}', "rule must be one of"),
    "another version": (b'{"colour": 1}', "colour"),
}


@pytest.mark.parametrize(("text", "found"), BROKEN.values(), ids=BROKEN)
def test_a_damaged_config_is_named_on_resume(text: bytes, found: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes(text)
    with pytest.raises(DataError, match=found):
        train_run(SMALL, tmp_path, resume=True)


def test_resuming_on_other_data_is_refused(tiny: SequenceSet, tmp_path: Path) -> None:
    class StopError(Exception):
        pass

    def stop(row: dict[str, object]) -> None:
        if row["epoch"] == 3:
            raise StopError

    with pytest.raises(StopError):
        train_run(SMALL, tmp_path, sequences=tiny, show=stop)
    (tmp_path / ".config.json.x7").write_text("left by a killed process")
    other = dataclasses.replace(tiny, joints=tiny.joints + 1)
    with pytest.raises(DataError, match="data has changed"):
        train_run(SMALL, tmp_path, sequences=other, resume=True)
    train_run(SMALL, tmp_path, sequences=tiny, resume=True)
    assert not list(tmp_path.glob(".config*"))


BAD_SETTINGS = [
    {"optim": {"lr": -1.0}}, {"optim": {"smoothing": 2.0}}, {"optim": {"warmup": -1.0}},
    {"prune": {"power": -1.0}},
    {"prune": {"cool": 0.0}}, {"augment": {"crop": 0.9}}, {"seed": -1}, {"seed": 2**70}, {"validation": 1.0},
    {"method": "rigl"}, {"method": "dense", "rate": 0.9}, {"rate": 1.5}, {"distill": {"share": 2}},
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD_SETTINGS, ids=str)
def test_settings_out_of_range_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(BandstopError):
        RunConfig.from_json(json.dumps(bad))


def test_distillation_from_a_dense_run(tiny: SequenceSet, tmp_path: Path) -> None:
    dense = dataclasses.replace(SMALL, rate=None, method="dense", epochs=3)
    train_run(dense, tmp_path / "dense", sequences=tiny)
    distill = dataclasses.replace(SMALL.distill, teachers=(str(tmp_path / "dense"),))
    metrics = train_run(dataclasses.replace(SMALL, epochs=3, distill=distill), tmp_path / "b", sequences=tiny)
    assert metrics.distilled_from == (str(tmp_path / "dense"),)


def test_a_recogniser_reads_raw_sequences(tiny: SequenceSet, tmp_path: Path) -> None:
    metrics = train_run(dataclasses.replace(SMALL, epochs=20), tmp_path, sequences=tiny)
    recogniser = load_recogniser(tmp_path)
    test = tiny.subset(tiny.split == "test")
    found = recogniser.scores([test[i] for i in range(len(test))]).argmax(1)
    assert (found == torch.as_tensor(test.labels)).float().mean() * 100 == pytest.approx(
        metrics.accuracy, abs=1e-3
    )
    with pytest.raises(DataError, match=r"\[frames, 5, 3\]"):
        recogniser.scores([test[0][:, :4]])


def test_validation_leaves_the_test_part_alone(tiny: SequenceSet, tmp_path: Path) -> None:
    metrics = train_run(dataclasses.replace(SMALL, epochs=1, validation=0.3), tmp_path, sequences=tiny)
    assert metrics.split == "validation"
    assert sum(map(sum, metrics.confusion)) == 18


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{", "JSON"),
        ('{"nonsense": 1}', "nonsense"),
        ("[]", "list"),
        ('{"epochs": 0}', "epochs"),
        ('{"net": {"heads": 0}}', "heads"),
    ],
)
def test_bad_configs_are_named(text: str, found: str) -> None:
    with pytest.raises(ConfigError, match=found):
        RunConfig.from_json(text)


def test_one_budget_at_a_time() -> None:
    with pytest.raises(ConfigError, match="--rate and --macs"):
        RunConfig(rate=0.5, macs=100)
    assert RunConfig(prune=PruneConfig()).dense


def test_tensorboard_curves_are_written(tiny: SequenceSet, tmp_path: Path) -> None:
    train_run(dataclasses.replace(SMALL, epochs=2), tmp_path, sequences=tiny, tensorboard=True)
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    board = EventAccumulator(str(tmp_path / "tensorboard"))
    board.Reload()
    assert {"loss", "rate", "train_accuracy"} <= set(board.Tags()["scalars"])
    assert len(board.Scalars("loss")) == 2


@pytest.mark.parametrize("method", ["gmp-lamp", "rigl", "snip", "mp", "str"])
def test_rivals_meet_the_same_budget(tiny: SequenceSet, tmp_path: Path, method: str) -> None:
    metrics = train_run(dataclasses.replace(SMALL, method=method, epochs=8), tmp_path, sequences=tiny)
    assert metrics.method == method
    assert metrics.weights_kept == round(0.1 * metrics.weights_total)


def test_a_small_dense_net_for_the_same_budget(tiny: SequenceSet, tmp_path: Path) -> None:
    pruned = train_run(dataclasses.replace(SMALL, epochs=2), tmp_path / "pruned", sequences=tiny)
    config = dataclasses.replace(SMALL, method="small-dense", epochs=2)
    small = train_run(config, tmp_path / "small", sequences=tiny)
    assert 0.5 * pruned.weights_kept < small.weights_total <= pruned.weights_kept
    assert load_recogniser(tmp_path / "small").config.net != SMALL.net
    (tmp_path / "small" / "metrics.json").unlink()
    again = train_run(config, tmp_path / "small", sequences=tiny, resume=True)
    assert again.weights_total == small.weights_total


def test_settings_of_a_rival(tiny: SequenceSet, tmp_path: Path) -> None:
    config = dataclasses.replace(SMALL, method="gmp-lamp", epochs=2, rival=(("end", 0.5),))
    train_run(config, tmp_path / "a", sequences=tiny)
    assert RunConfig.from_json((tmp_path / "a" / "config.json").read_text()).rival == (("end", 0.5),)
    with pytest.raises(ConfigError, match="nonsense"):
        train_run(dataclasses.replace(config, rival=(("nonsense", 1.0),)), tmp_path / "b", sequences=tiny)
