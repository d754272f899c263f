"""A tiny data set: three motions of a five-joint chain, learnable in seconds."""

import numpy as np
import pytest

from bandstop.skeleton import SequenceSet


@pytest.fixture(scope="session")
def tiny() -> SequenceSet:
    random = np.random.default_rng(0)
    sequences, labels, subjects, split = [], [], [], []
    for i in range(90):
        label = i % 3
        t = np.linspace(0, 1, int(random.integers(10, 60)))[:, None]
        joints = np.arange(5)[None] * 10.0
        wave = np.stack(
            [
                joints + 0 * t,
                (label - 1) * 15 * t * joints / 40,
                5 * np.sin((label + 1) * 6 * t) + 0 * joints,
            ],
            -1,
        )
        sequences.append((wave + random.normal(0, 1.0, wave.shape)).astype(np.float32))
        labels.append(label)
        subjects.append(f"s{i % 5}")
        split.append("train" if i % 5 < 3 else "test")
    return SequenceSet.from_sequences(
        sequences,
        labels=labels,
        class_names=["down", "still", "up"],
        subjects=subjects,
        split=split,
        edges=[[0, 1], [1, 2], [2, 3], [3, 4]],
        name="tiny",
    )
