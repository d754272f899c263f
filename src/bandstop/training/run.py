"""A run from start to end, in a folder that can be taken up again after any interruption."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bandstop.engine.multirate.pruner import MultiRatePruner
from bandstop.errors import ConfigError
from bandstop.files import write_text
from bandstop.nets import build_net
from bandstop.nets.inference import for_inference
from bandstop.skeleton import SequenceSet, load
from bandstop.training.checkpoint import save_checkpoint
from bandstop.training.config import RunConfig
from bandstop.training.data import TrainingData, data_of_run
from bandstop.training.extract import save_latents
from bandstop.training.finish import write_result
from bandstop.training.folder import (
    CHECKPOINT,
    CONFIG,
    LOG,
    METRICS,
    cut_log,
    open_folder,
    read_metrics,
    restore,
)
from bandstop.training.loop import Trainer
from bandstop.training.memory import keep_freed_memory
from bandstop.training.methods import net_for
from bandstop.training.recogniser import load_recogniser

__all__ = ["train_run"]


def train_run(
    config: RunConfig,
    out: Path,
    *,
    resume: bool = False,
    sequences: SequenceSet | None = None,
    show: Callable[[dict[str, Any]], None] = lambda row: None,
    checkpoint_seconds: float = 20.0,
    tensorboard: bool = False,
) -> dict[str, Any]:
    """Train as ``config`` says into the folder ``out``; returns the metrics that it writes there.

    With ``resume`` a folder that holds a checkpoint is continued, a finished one is left as it is, a new one is begun.
    """
    config = open_folder(config, out, resume)
    if (out / METRICS).is_file():
        return read_metrics(out)
    keep_freed_memory()
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)
    source = sequences if sequences is not None else load(config.data)
    data = data_of_run(config, source)
    if not (out / CONFIG).is_file():  # a resumed run's config holds the net as it was built
        config = replace(config, net=net_for(config, **data.shape))
    net = build_net(config.net, **data.shape, edges=source.edges.tolist())
    teachers = [_teacher(path, data) for path in config.distill.teachers]
    trainer = Trainer(config, net, data, teachers)
    write_text(out / CONFIG, config.to_json())
    mark = data.fingerprint()
    if (out / CHECKPOINT).is_file():
        restore(trainer, out / CHECKPOINT, mark)
    else:
        save_checkpoint(out / CHECKPOINT, {"data": mark, **trainer.state_dict()})
    cut_log(out / LOG, trainer.epoch)
    board = _board(out, trainer.epoch) if tensorboard else None
    saved = time.monotonic()
    with (out / LOG).open("a", encoding="utf-8") as log:
        while not trainer.finished:
            row = trainer.run_epoch()
            every = max(1, config.epochs // 12)
            if row["epoch"] % every == 0 or row["epoch"] in (1, config.epochs):
                row |= trainer.method.snapshot()
            log.write(json.dumps(row) + "\n")
            show(row)
            if board is not None:
                for key in ("loss", "penalty", "kl", "train_accuracy", "rate", "kept", "lr"):
                    if row[key] is not None:
                        board.add_scalar(key, row[key], row["epoch"])
            if time.monotonic() - saved >= checkpoint_seconds and not trainer.finished:
                log.flush()
                save_checkpoint(out / CHECKPOINT, {"data": mark, **trainer.state_dict()})
                saved = time.monotonic()
    if board is not None:
        board.close()
    return _finish(config, out, trainer, data)


def _teacher(path: str, data: TrainingData) -> Callable[[Tensor], Tensor]:
    teacher = load_recogniser(path)
    if teacher.class_names != data.source.class_names:
        raise ConfigError(
            f"the teacher in {path} knows other classes than the data: distil from a run on the same data"
        )
    if teacher.normaliser.chunks != data.normaliser.chunks:
        raise ConfigError(
            f"the teacher in {path} was trained with {teacher.normaliser.chunks} chunks, this run with {data.normaliser.chunks}"
        )
    if teacher.normaliser.values != data.normaliser.values:
        raise ConfigError(
            f"the teacher in {path} was trained with --signal {teacher.config.signal}, this run sees other values: give both the same"
        )
    return for_inference(teacher.net)


def _board(out: Path, epoch: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        from bandstop.errors import MissingExtra

        raise MissingExtra("tensorboard", extra="app") from None
    return SummaryWriter(str(out / "tensorboard"), purge_step=epoch + 1)


def _finish(config: RunConfig, out: Path, trainer: Trainer, data: TrainingData) -> dict[str, Any]:
    layers = trainer.method.snapshot().get("layers", {})
    net = trainer.finalize()
    if isinstance(trainer.method, MultiRatePruner):
        assert config.budget is not None
        layers = trainer.method.described(config.budget)
        save_latents(out, trainer, data.fingerprint())
    metrics = write_result(config, out, net, data, layers, seconds=trainer.seconds)
    with suppress(FileNotFoundError):
        (out / CHECKPOINT).unlink()
    return metrics
