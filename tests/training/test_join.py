"""Several runs side by side in one network."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from bandstop.errors import ConfigError
from bandstop.nets import NetConfig
from bandstop.record.folder import read_metrics
from bandstop.skeleton import SequenceSet
from bandstop.training.config import RunConfig
from bandstop.training.join import join_runs
from bandstop.training.model_file import load_recogniser
from bandstop.training.run import train_run

SMALL = RunConfig(
    rate=0.8,
    epochs=2,
    chunks=8,
    signal="places+steps+duration",
    net=NetConfig(kind="tcn", widths=(6, 8), kernels=(1, 3), strides=(1, 2)),
)
OTHERS = {
    "a": SMALL,
    "b": replace(SMALL, seed=1, signal="places+slow+distances+duration+moment"),
    "c": replace(SMALL, seed=2, signal="places", net=replace(SMALL.net, widths=(4, 5))),
}


@pytest.fixture(scope="module")
def runs(tiny: SequenceSet, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("joined")
    for name, config in OTHERS.items():
        train_run(config, root / name, sequences=tiny)
    return {name: root / name for name in OTHERS}


def test_scores_are_the_mean_and_weights_add_up(
    runs: dict[str, Path], tiny: SequenceSet, tmp_path: Path
) -> None:
    found = join_runs(list(runs.values()), tmp_path / "abc", sequences=tiny)
    members = [read_metrics(run) for run in runs.values()]
    assert found.weights_kept == sum(member.weights_kept for member in members)
    assert found.weights_live == sum(member.weights_live for member in members)
    assert found.macs_live == sum(member.macs_live for member in members)
    assert found.seconds == pytest.approx(sum(member.seconds for member in members), abs=0.02)
    assert found.joined_from == tuple(map(str, runs.values())) and found.rate_asked is None
    joined = load_recogniser(tmp_path / "abc")
    assert joined.config.net.widths == (16, 21) and joined.config.weights == found.weights_kept
    raw = [tiny[i] for i in range(5)]
    mean = torch.stack([load_recogniser(run).scores(raw) for run in runs.values()]).mean(0)
    assert torch.allclose(joined.scores(raw), mean, atol=1e-4)


def test_a_join_is_taken_up_and_a_finished_one_left(
    runs: dict[str, Path], tiny: SequenceSet, tmp_path: Path
) -> None:
    both, out = [runs["a"], runs["b"]], tmp_path / "ab"
    first = join_runs(both, out, sequences=tiny, seed=7)
    assert first.seed == 7
    assert join_runs(both, out, sequences=tiny, seed=7) == first
    (out / "metrics.json").unlink()
    assert join_runs(both, out, sequences=tiny, seed=7) == first
    with pytest.raises(ConfigError, match="is not empty: choose another --out"):
        join_runs([runs["a"], runs["c"]], out, sequences=tiny)


def test_what_cannot_be_joined_is_refused(runs: dict[str, Path], tiny: SequenceSet, tmp_path: Path) -> None:
    for few in ([], [runs["a"]]):
        with pytest.raises(ConfigError, match=f"at least two pruned runs can be joined, found {len(few)}"):
            join_runs(few, tmp_path / "no", sequences=tiny)
    with pytest.raises(ConfigError, match=r"once, found .* twice"):
        join_runs([runs["a"], runs["b"], runs["a"] / "model.safetensors"], tmp_path / "no", sequences=tiny)
    flat = NetConfig(kind="tcn", widths=(4,), kernels=(1,), strides=(1,))
    for name, config, message in (
        (
            "gcn",
            replace(SMALL, signal="places", net=NetConfig(kind="gcn", heads=2)),
            "convolutions over time",
        ),
        ("dense", replace(SMALL, method="dense", rate=None), "dense is not pruned: leave it out"),
        ("chunks", replace(SMALL, chunks=10), "the same chunks, found 8 and 10"),
        ("kernels", replace(SMALL, net=replace(SMALL.net, kernels=(3, 3))), "the same kernels and strides"),
        ("deep", replace(SMALL, net=flat), "the same kernels and strides"),
    ):
        train_run(replace(config, epochs=1), tmp_path / name, sequences=tiny)
        with pytest.raises(ConfigError, match=message):
            join_runs([runs["a"], tmp_path / name], tmp_path / f"no-{name}", sequences=tiny)
    with pytest.raises(ConfigError, match="trained on other data"):
        join_runs([runs["a"], runs["b"]], tmp_path / "no", sequences=tiny.subset(range(0, 90, 2)))


def test_of_a_joined_run_all_networks_count(runs: dict[str, Path], tiny: SequenceSet, tmp_path: Path) -> None:
    join_runs([runs["a"], runs["b"]], tmp_path / "ab", sequences=tiny)
    found = join_runs([tmp_path / "ab", runs["c"]], tmp_path / "abc", sequences=tiny)
    assert found.joined_from == tuple(map(str, runs.values()))
    raw = [tiny[i] for i in range(5)]
    mean = torch.stack([load_recogniser(run).scores(raw) for run in runs.values()]).mean(0)
    assert torch.allclose(load_recogniser(tmp_path / "abc").scores(raw), mean, atol=1e-4)
    with pytest.raises(ConfigError, match=r"once, found .*a twice"):
        join_runs([tmp_path / "ab", runs["a"]], tmp_path / "no", sequences=tiny)
