"""A run from start to end, in a folder that can be taken up again after any interruption."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from bandstop.engine.pause import telling
from bandstop.engine.planned import PlannedBudget
from bandstop.errors import ConfigError, MissingExtra
from bandstop.files import naming, only_writer
from bandstop.nets import build_net
from bandstop.nets.inference import for_inference
from bandstop.record.folder import LOG
from bandstop.record.metrics import Metrics
from bandstop.skeleton import SequenceSet, load
from bandstop.skeleton.unusable import LeftOut, say_nothing
from bandstop.training.config import RunConfig
from bandstop.training.data import TrainingData, data_of_run
from bandstop.training.distil import Teacher
from bandstop.training.loop import Trainer
from bandstop.training.malloc import keep_freed_memory
from bandstop.training.method import make_method, net_for
from bandstop.training.model_file import load_recogniser
from bandstop.training.run_folder import RunFolder

__all__ = ["plan_run", "train_run"]

Row = dict[str, Any]
"""What the log says of an epoch."""
Show = Callable[[Row], None]
Announce = Callable[[PlannedBudget], None]

SNAPSHOTS = 12
"""How often the log holds a histogram of the latents, about."""


def train_run(
    config: RunConfig,
    out: Path,
    *,
    resume: bool = False,
    sequences: SequenceSet | None = None,
    show: Show = lambda row: None,
    checkpoint_seconds: float = 20.0,
    tensorboard: bool = False,
    announce: Announce = lambda plan: None,
    dropped: tuple[str, ...] | None = None,
    say_dropped: LeftOut = say_nothing,
) -> Metrics:
    """Train as ``config`` says into the folder ``out``; returns the metrics that it writes there.

    With ``resume`` the folder must hold a run with the same settings: an interrupted one is continued bit for
    bit, a finished one is left as it is. ``show`` is called with each epoch's row of the log, ``announce``
    before the first with the budget that is planned, where one is. ``say_dropped`` is told which recordings
    are left out as unusable, right after that; ``dropped``: which were left out of ``sequences`` before.
    """

    def prepared(config: RunConfig) -> TrainingData:
        found = load(config.data, config.reading) if sequences is None else sequences
        return data_of_run(config, found, dropped=dropped, say=say_dropped)

    with only_writer(out):
        return _train(
            config, RunFolder(out), resume, prepared, show, checkpoint_seconds, tensorboard, announce
        )


def _train(
    config: RunConfig,
    folder: RunFolder,
    resume: bool,
    prepared: Callable[[RunConfig], TrainingData],
    show: Show,
    checkpoint_seconds: float,
    tensorboard: bool,
    announce: Announce,
) -> Metrics:
    config = folder.resume(config) if resume else folder.begin(config)
    if (finished := folder.finished) is not None:
        folder.drop_checkpoint()
        return finished
    keep_freed_memory()
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)
    with telling(f"reading the recordings of {config.data} and preparing their signals"):
        data = prepared(config)
    if not folder.begun:  # a resumed run's config holds the net as it was built
        config = replace(config, net=net_for(config, **data.shape))
    net = build_net(config.net, **data.shape, edges=data.source.edges.tolist())
    trainer = Trainer(config, net, data, [_teacher(path, data) for path in config.distill.teachers])
    folder.write_config(config)
    if (plan := trainer.method.planned()) is not None:
        announce(plan)
    digest = data.frames_digest()
    folder.restore(trainer, digest)
    with _board(folder.path, trainer.epoch, tensorboard) as draw:
        for row in _epochs(folder, trainer, digest, checkpoint_seconds):
            show(row)
            draw(row)
    return folder.finish(config, trainer, data)


def plan_run(config: RunConfig, say_dropped: LeftOut = say_nothing) -> PlannedBudget | None:
    """The budget that a training as ``config`` says would keep to, by layer, without training.

    >>> plan = plan_run(RunConfig(data="hands", rate=0.98))
    >>> plan.total, round(100 * plan.total / sum(plan.sizes.values()))
    (4992, 2)
    """
    config = config.resolved()
    torch.manual_seed(config.seed)
    data = data_of_run(config, load(config.data, config.reading), say=say_dropped)
    net = build_net(net_for(config, **data.shape), **data.shape, edges=data.source.edges.tolist())
    return make_method(config, net, config.epochs, data.judge_signals[:1]).planned()


def _epochs(folder: RunFolder, trainer: Trainer, digest: str, checkpoint_seconds: float) -> Iterator[Row]:
    """Train to the end: each epoch is logged, then yielded; checkpoints are saved on the way."""
    epochs, saved = trainer.config.epochs, time.monotonic()
    every = max(1, epochs // SNAPSHOTS)
    path = folder.path / LOG
    with naming(path), path.open("a", encoding="utf-8") as log:
        while not trainer.finished:
            row = trainer.run_epoch()
            if row["epoch"] % every == 0 or row["epoch"] in (1, epochs):
                row |= trainer.method.snapshot()
            log.write(json.dumps(row) + "\n")
            yield row
            if time.monotonic() - saved >= checkpoint_seconds and not trainer.finished:
                log.flush()
                folder.save(trainer, digest)
                saved = time.monotonic()


def _teacher(path: str, data: TrainingData) -> Teacher:
    teacher = load_recogniser(path)
    ours, theirs = data.normaliser, teacher.normaliser
    if teacher.class_names != data.source.class_names:
        raise ConfigError(
            f"the teacher in {path} knows other classes than the data: distil from a run on the same data"
        )
    if theirs.chunks != ours.chunks:
        raise ConfigError(
            f"the teacher in {path} was trained with {theirs.chunks} chunks, this run with {ours.chunks}"
        )
    if theirs.values != ours.values:
        raise ConfigError(
            f"the teacher in {path} was trained with --signal {teacher.config.seen}, this run sees other "
            "values: give both the same"
        )
    return for_inference(teacher.net)


@contextmanager
def _board(out: Path, epoch: int, wanted: bool) -> Iterator[Show]:
    """Draws rows for TensorBoard, if that is wanted."""
    if not wanted:
        yield lambda row: None
        return
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise MissingExtra("tensorboard", extra="app") from None
    board = SummaryWriter(str(out / "tensorboard"), purge_step=epoch + 1)

    def draw(row: Row) -> None:
        for key in ("loss", "penalty", "kl", "train_accuracy", "validation_accuracy", "rate", "kept", "lr"):
            if row[key] is not None:
                board.add_scalar(key, row[key], row["epoch"])

    try:
        yield draw
    finally:
        board.close()
