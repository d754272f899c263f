"""Another budget out of a run that was trained for many: a whole run folder, without training."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from bandstop.engine.multirate.pruner import MultiRatePruner
from bandstop.errors import ConfigError, DataError
from bandstop.files import write_text
from bandstop.method.budget import Budget
from bandstop.nets import build_net
from bandstop.skeleton import SequenceSet, load
from bandstop.training.checkpoint import load_checkpoint, save_checkpoint
from bandstop.training.config import RunConfig
from bandstop.training.data import TrainingData, data_of_run
from bandstop.training.finish import write_result
from bandstop.training.folder import CONFIG, LOG, open_folder, read_metrics, stored_config
from bandstop.training.loop import Trainer
from bandstop.training.methods import make_method

__all__ = ["LATENTS", "extract_run", "save_latents"]

LATENTS = "latents.safetensors"


def save_latents(out: Path, trainer: Trainer, fingerprint: str) -> None:
    """Keep what any budget can be extracted from: latents, gains and slopes, and where the schedules ended."""
    state = {
        "data": fingerprint,
        "method": trainer.method.state_dict(),
        "net": dict(trainer.net.state_dict()),
    }
    save_checkpoint(out / LATENTS, state)


def extract_run(
    run: Path,
    budget: Budget,
    out: Path,
    *,
    data: str | None = None,
    sequences: SequenceSet | None = None,
) -> dict[str, Any]:
    """Extract ``budget`` from the run folder ``run`` into the run folder ``out``; returns its metrics.

    The data of training is needed (``data`` where it has moved): the statistics of normalisations are measured anew on its training
    part, and the result is judged on its test part.
    """
    if not (run / CONFIG).is_file():
        raise DataError("there is no config.json; is this a finished run folder?", path=run)
    parent = stored_config(run)
    if parent.rate_range is None or not (run / LATENTS).is_file():
        raise DataError(
            "this run was trained for one budget only; train with a range, such as --rates 0.5:0.995, to extract any of it",
            path=run,
        )
    amounts: dict[str, Any] = dict.fromkeys(("rate", "weights", "bytes", "macs"))
    amounts[budget.kind] = budget.amount
    config = replace(parent, **amounts, scope=budget.scope, extracted_from=os.path.relpath(run, out.parent))
    open_folder(config, out, resume=False)
    seconds = float(read_metrics(run)["seconds"])
    source = sequences if sequences is not None else load(data or parent.data)
    prepared = data_of_run(parent, source)
    pruner = _pruner(run, parent, prepared)
    net = pruner.extract(budget, prepared.calibration(parent.augment))
    layers = pruner.described(budget)
    if (run / LOG).is_file():
        write_text(out / LOG, (run / LOG).read_text(encoding="utf-8"))
    write_text(out / CONFIG, config.to_json())
    return write_result(config, out, net, prepared, layers, seconds=seconds)


def _pruner(run: Path, config: RunConfig, data: TrainingData) -> MultiRatePruner:
    """The pruner as it stood at the end of training."""
    state = load_checkpoint(run / LATENTS)
    if state.get("data") != data.fingerprint():
        raise DataError(
            "the data has changed since this run was trained",
            path=run,
            hint="say where the data of training is now, with --data",
        )
    torch.set_num_threads(config.threads)
    net = build_net(config.net, **data.shape, edges=data.source.edges.tolist())
    pruner = make_method(config, net, 1, data.judge_signals[:1])
    assert isinstance(pruner, MultiRatePruner)
    try:
        pruner.load_state_dict(state["method"])
        net.load_state_dict(state["net"])
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        raise ConfigError(f"{run / LATENTS} does not fit its run ({str(error).splitlines()[0]})") from None
    return pruner
