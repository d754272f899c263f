"""The preset in which the prior holds, and the dual variable of the paper's, in whole runs."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from bandstop.errors import ConfigError
from bandstop.nets import NetConfig
from bandstop.skeleton import SequenceSet
from bandstop.study.runs import digest
from bandstop.training.config import OptimConfig, PruneConfig, RunConfig
from bandstop.training.presets import empirical, held, paper, paper_literal
from bandstop.training.run import train_run

SMALL = RunConfig(
    data="tiny",
    rate=0.9,
    epochs=20,
    chunks=8,
    net=NetConfig(kind="gcn", heads=2, channels=8, filters=16),
    optim=OptimConfig(batch=27),
)


def rows(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]


def test_the_log_says_how_well_the_prior_holds(tiny: SequenceSet, tmp_path: Path) -> None:
    metrics = train_run(held(SMALL), tmp_path / "run", sequences=tiny)
    assert metrics.weights_kept == round(0.1 * metrics.weights_total)
    shown = [row for row in rows(tmp_path / "run") if "fit" in row]
    last = shown[-1]
    assert {"kl", "scale"} == set(next(iter(last["fit"].values())))
    assert len(last["quantiles"]["prior"]) == len(last["quantiles"]["observed"])
    held_now = rows(tmp_path / "run")[14]
    assert held_now["epoch"] == 15
    assert abs(held_now["rate"] - 0.9) < 0.02


def test_the_default_is_the_preset_held_by_another_name(tiny: SequenceSet, tmp_path: Path) -> None:
    found = [
        train_run(config, tmp_path / name, sequences=tiny)
        for name, config in {"default": SMALL, "held": held(SMALL), "empirical": empirical(SMALL)}.items()
    ]
    assert [row["loss"] for row in rows(tmp_path / "default")] == [
        row["loss"] for row in rows(tmp_path / "held")
    ]
    assert found[0].accuracy == found[1].accuracy
    assert rows(tmp_path / "default")[5]["loss"] != rows(tmp_path / "empirical")[5]["loss"]


def test_free_latents_keep_the_ids_that_their_runs_had_as_the_default() -> None:
    free = dataclasses.replace(
        SMALL, prune=PruneConfig(threshold="empirical", spacing="width")
    )  # as configs of before say it, under the name "default"
    assert digest(empirical(SMALL).resolved()) == digest(free.resolved()) != digest(SMALL.resolved())


@pytest.mark.parametrize("given", [{"hold": 0.3}, {"hold_first": 0.5}, {"coordinates": "prior"}])
def test_settings_of_the_hold_are_refused_where_nothing_is_held(given: dict[str, Any]) -> None:
    PruneConfig(**given)
    for other in ({"threshold": "empirical"}, {"allocation": "learned"}, {"start": "scale"}):
        with pytest.raises(ConfigError, match=rf"prune\.{next(iter(given))} is for latents that are held"):
            PruneConfig(**given, **other)


def test_the_paper_preset_changes_nothing_that_the_paper_prints(tiny: SequenceSet, tmp_path: Path) -> None:
    ours, printed = paper(SMALL), paper_literal(SMALL)
    for name in ("gate", "kl", "bins", "histogram", "threshold", "ramp", "spacing", "sigma"):
        assert getattr(ours.prune, name) == getattr(printed.prune, name), name
    assert dataclasses.replace(ours.optim, average=0.0) == printed.optim
    metrics = train_run(dataclasses.replace(ours, rate=0.55), tmp_path, sequences=tiny)
    assert metrics.weights_kept == rows(tmp_path)[-1]["kept"]  # what passed at the freeze, and no count


def test_a_run_whose_prior_has_gaussian_coordinates_resumes_bit_for_bit(
    tiny: SequenceSet, tmp_path: Path
) -> None:
    config = dataclasses.replace(held(dataclasses.replace(SMALL, epochs=8)), prior="laplace")
    train_run(config, tmp_path / "whole", sequences=tiny)

    def stop(row: dict[str, object]) -> None:
        if row["epoch"] == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_run(config, tmp_path / "part", sequences=tiny, show=stop, checkpoint_seconds=0.0)
    train_run(config, tmp_path / "part", sequences=tiny, resume=True, checkpoint_seconds=0.0)
    one, two = rows(tmp_path / "part"), rows(tmp_path / "whole")
    assert [row["loss"] for row in one] == [row["loss"] for row in two]


def test_a_run_with_a_dual_variable_resumes_bit_for_bit(tiny: SequenceSet, tmp_path: Path) -> None:
    config = paper(dataclasses.replace(SMALL, epochs=8))
    whole = train_run(config, tmp_path / "whole", sequences=tiny)

    def stop(row: dict[str, object]) -> None:
        if row["epoch"] == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_run(config, tmp_path / "part", sequences=tiny, show=stop, checkpoint_seconds=0.0)
    again = train_run(config, tmp_path / "part", sequences=tiny, resume=True, checkpoint_seconds=0.0)
    assert again.weights_kept == whole.weights_kept
    one, two = rows(tmp_path / "part"), rows(tmp_path / "whole")
    assert [row["loss"] for row in one] == [row["loss"] for row in two]
