"""Sequences made ready for training: running integrals to augment from, signals to judge on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor

from bandstop.record.augment import AugmentConfig
from bandstop.record.signal import signal_parts
from bandstop.skeleton import SequenceSet
from bandstop.skeleton.augment import Augmentation
from bandstop.skeleton.chunk import ChunkTable
from bandstop.skeleton.facing import turned, turns
from bandstop.skeleton.normalise import Normaliser, centred
from bandstop.skeleton.split import train_and_test
from bandstop.skeleton.unusable import LeftOut, mentioning, say_nothing, usable
from bandstop.training.config import RunConfig

__all__ = ["TrainingData", "data_of_run", "prepare"]


@dataclass(frozen=True)
class TrainingData:
    """Everything a run needs of its data."""

    table: ChunkTable
    """Training sequences, normalised frame by frame beforehand so that an epoch costs only new boundaries."""
    labels: Tensor
    judge_signals: Tensor
    judge_labels: Tensor
    judge_ids: tuple[str, ...]
    judged_on: str
    normaliser: Normaliser
    pose: Tensor
    source: SequenceSet
    dropped: tuple[str, ...] = ()
    """Recordings that were left out because they cannot be used."""

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.source.class_names)

    @property
    def shape(self) -> dict[str, Any]:
        """What a network must know of the data to be built."""
        _, joints, values = self.judge_signals.shape
        n = self.normaliser
        return {
            "joints": joints,
            "signal": values,
            "classes": self.classes,
            "chunks": n.chunks,
            "shared": n.shared,
        }

    def frames_digest(self) -> str:
        """A hash of frames, labels and split: a resumed run must see the same."""
        digest = hashlib.sha256()
        for part in (self.source.joints, self.source.offsets, self.source.labels, self.source.split):
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()

    def epoch(self, augment: AugmentConfig, generator: Generator) -> tuple[Tensor, Tensor]:
        """All training sequences once, in random order, each changed anew: signals ``[N, V, S]``, labels."""
        augmentation = Augmentation.of(augment)
        order = torch.randperm(len(self.table), generator=generator)
        root, lengths = self.normaliser.root, self.table.lengths[order]
        boundaries = augmentation.boundaries(lengths, self.normaliser.chunks, generator)
        chunks = self.table.chunks(order, boundaries)
        chunks[:, :, root] -= chunks[:, :, root].mean(dim=1, keepdim=True)
        frames = None if self.normaliser.duration is None else augmentation.frames(lengths, generator)
        return self.normaliser.signals(augmentation(chunks, generator), frames), self.labels[order]

    def calibration(self, augment: AugmentConfig, epochs: int = 8) -> Iterator[Tensor]:
        """The signals of some epochs, always the same, to measure the statistics of normalisations on."""
        generator = torch.Generator().manual_seed(2_654_435_761)
        for _ in range(epochs):
            yield from torch.split(self.epoch(augment, generator)[0], 1024)


def prepare(
    sequences: SequenceSet,
    *,
    chunks: int,
    signal: str = "places",
    normalise: str = "size",
    validation: float = 0.0,
    seed: int = 0,
) -> TrainingData:
    """Split, measure the normaliser on the training part, and chunk the judging part.

    ``signal``: places, motion, or parts (`bandstop.skeleton.parts`); ``normalise``: what is taken out of each
    sequence, as `RunConfig` has it.
    """
    sequences = sequences.repaired()
    train, judge, judged_on = train_and_test(sequences, validation=validation, seed=seed)
    raw = ChunkTable(sequences.subset(train))
    plain = raw.chunks(torch.arange(len(raw)), chunks)
    edges = torch.as_tensor(sequences.edges)
    parts = signal_parts(signal)
    lengths = raw.lengths if signal == "motion" or "duration" in parts else None
    removed = {name: name in normalise.split("+") for name in ("size", "orientation")}
    normaliser = Normaliser.fit(plain, edges, sequences.root, lengths, parts, **removed)
    judged = ChunkTable(sequences.subset(judge))
    return TrainingData(
        table=ChunkTable(_normal_frames(normaliser, plain, sequences.subset(train)), torch.float32),
        labels=torch.as_tensor(sequences.labels[train]),
        judge_signals=normaliser(judged.chunks(torch.arange(len(judged)), chunks), judged.lengths),
        judge_labels=torch.as_tensor(sequences.labels[judge]),
        judge_ids=tuple(sequences.sequence_ids[judge].tolist()),
        judged_on=judged_on,
        normaliser=normaliser,
        pose=plain.mean(dim=(0, 1)),
        source=sequences,
    )


def _normal_frames(n: Normaliser, chunks: Tensor, sequences: SequenceSet) -> list[np.ndarray]:
    """Frames normalised as the ``chunks`` of their sequences are."""
    scale, found = torch.tensor(n.node_scale, dtype=torch.float64)[:, None], []
    sizes = n.sizes(chunks).double()
    for raw, chunk, size in zip(sequences, chunks.double(), sizes, strict=True):
        body = centred(torch.as_tensor(raw, dtype=torch.float64)[None], n.root) / size
        if n.facing is not None:
            body = turned(body, turns(centred(chunk[None], n.root) / size, n.facing))
        found.append((body / scale)[0].numpy())
    return found


def data_of_run(
    config: RunConfig,
    sequences: SequenceSet,
    *,
    dropped: tuple[str, ...] | None = None,
    say: LeftOut = say_nothing,
) -> TrainingData:
    """`prepare` as a run's config says.

    ``say`` is told what is left out, before anything else is done. ``dropped``: what was left out of
    ``sequences`` before; None: nothing yet.
    """
    if dropped is None:
        sequences, dropped = usable(sequences, config.drop, say=say)
    with mentioning(dropped):
        found = prepare(
            sequences,
            chunks=config.chunks,
            signal=config.seen,
            normalise=config.normalise,
            validation=config.validation,
            seed=config.seed,
        )
    return replace(found, dropped=dropped)
