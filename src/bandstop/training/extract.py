"""Another budget out of a run that was trained for many: a whole run folder, without training."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from bandstop.engine.multirate.pruner import MultiRatePruner
from bandstop.errors import ConfigError, DataError
from bandstop.files import only_writer, write_text
from bandstop.method.budget import Budget
from bandstop.nets import build_net
from bandstop.record.budget import BudgetChoice
from bandstop.record.folder import CONFIG, LATENTS, LOG, read_metrics
from bandstop.record.metrics import Metrics
from bandstop.skeleton import SequenceSet, load
from bandstop.skeleton.unusable import LeftOut, say_nothing
from bandstop.training.config import RunConfig
from bandstop.training.data import TrainingData, data_of_run
from bandstop.training.method import make_many_rates
from bandstop.training.model_file import load_checkpoint, load_recogniser
from bandstop.training.resume import stored_config
from bandstop.training.run_folder import RunFolder

__all__ = ["extract_run"]


def extract_run(
    run: Path,
    budget: Budget,
    out: Path,
    *,
    data: str | None = None,
    sequences: SequenceSet | None = None,
    say_dropped: LeftOut = say_nothing,
) -> Metrics:
    """Extract ``budget`` from the run folder ``run`` into the run folder ``out``; returns its metrics.

    The data of training is needed (``data`` where it has moved): the statistics of normalisations are
    measured anew on its training part, and the result is judged on its test part. An extraction that was
    interrupted is taken up by the same call. ``say_dropped`` is told which recordings are left out.
    """
    parent = _parent(run)
    settings: dict[str, Any] = BudgetChoice.settings(budget)
    config = replace(parent, **settings, extracted_from=os.path.relpath(run, out.parent))

    def prepared() -> TrainingData:
        source = sequences
        if source is None:
            source = load(data or parent.data, parent.reading, remembered=True)
        # In the order that the run stored: runs of MediaPipe's data once had our own order.
        ordered = load_recogniser(run).in_its_order(source, where=data or parent.data)
        return data_of_run(parent, ordered, say=say_dropped)

    with only_writer(out):
        finished = _begin(RunFolder(out), config)
        return finished or _extract(run, parent, config, budget, RunFolder(out), prepared)


def _begin(folder: RunFolder, config: RunConfig) -> Metrics | None:
    """Take up this very extraction where it was interrupted, or begin; the metrics if it is finished."""
    same = folder.begun and stored_config(folder.path).to_json() == config.to_json()
    if not same:
        folder.begin(config, resumable=False)
    return folder.finished if same else None


def _extract(
    run: Path,
    parent: RunConfig,
    config: RunConfig,
    budget: Budget,
    folder: RunFolder,
    prepared: Callable[[], TrainingData],
) -> Metrics:
    seconds, found = read_metrics(run).seconds, prepared()
    pruner = _pruner(run, parent, found)
    net = pruner.extract(budget, found.calibration(parent.augment))
    layers = pruner.described(budget)
    folder.write_config(config)
    if (run / LOG).is_file():
        write_text(folder.path / LOG, (run / LOG).read_text(encoding="utf-8"))
    return folder.write_result(config, net, found, layers, seconds=seconds)


def _parent(run: Path) -> RunConfig:
    if not (run / CONFIG).is_file():
        raise DataError("there is no config.json; is this a finished run folder?", path=run)
    parent = stored_config(run)
    if parent.rate_range is None or not (run / LATENTS).is_file():
        hint = "train with a range, such as --rates 0.5:0.995, to extract any of it"
        raise DataError("this run was trained for one budget only", path=run, hint=hint)
    return parent


def _pruner(run: Path, config: RunConfig, data: TrainingData) -> MultiRatePruner:
    """The pruner as it stood at the end of training."""
    state = load_checkpoint(run / LATENTS)
    if state.get("data") != data.frames_digest():
        hint = "say where the data of training is now, with --data"
        raise DataError("the data has changed since this run was trained", path=run, hint=hint)
    torch.set_num_threads(config.threads)
    net = build_net(config.net, **data.shape, edges=data.source.edges.tolist())
    pruner = make_many_rates(config, net, 1, data.judge_signals[:1])
    try:
        pruner.load_state_dict(state["method"])
        net.load_state_dict(state["net"])
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        raise ConfigError(f"{run / LATENTS} does not fit its run ({str(error).splitlines()[0]})") from None
    return pruner
