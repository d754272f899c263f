"""Chunking against plain loops, normalisation, augmentation, splits."""

import numpy as np
import pytest
import torch

from bandstop.errors import DataError
from bandstop.skeleton import SequenceSet
from bandstop.skeleton.augment import Augmentation, rotations
from bandstop.skeleton.chunk import ChunkTable, chunk_sequence
from bandstop.skeleton.normalise import Normaliser
from bandstop.skeleton.split import train_and_test


def frames(length: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 10, (length, 4, 3)).astype(np.float32)


@pytest.mark.parametrize("length", [32, 33, 64, 100, 1151])
def test_chunks_are_averages_by_overlap_in_time(length: int) -> None:
    x = frames(length)
    expected = np.zeros((32, 4, 3))
    for m in range(32):
        begin, end = m * length / 32, (m + 1) * length / 32
        for t in range(length):
            expected[m] += max(0.0, min(end, t + 1) - max(begin, t)) * x[t] / (end - begin)
    assert np.allclose(chunk_sequence(x).numpy(), expected, atol=1e-4)


@pytest.mark.parametrize("length", [1, 2, 7, 31])
def test_short_sequences_are_interpolated_never_empty(length: int) -> None:
    x = frames(length)
    times = np.clip((np.arange(32) + 0.5) * length / 32 - 0.5, 0, length - 1)
    flat = x.reshape(length, -1)
    expected = np.stack([np.interp(times, np.arange(length), flat[:, i]) for i in range(12)], 1).reshape(
        32, 4, 3
    )
    assert np.allclose(chunk_sequence(x).numpy(), expected, atol=1e-4)


def test_no_sequence_blurs_another() -> None:
    alone = ChunkTable([frames(50)]).chunks(torch.tensor([0]), 32)
    beside = ChunkTable([frames(40, 1) + 1e20, frames(50)]).chunks(torch.tensor([1]), 32)
    assert torch.equal(alone, beside)


def test_signals_do_not_depend_on_place_and_size() -> None:
    x = ChunkTable([frames(50), frames(60, 1)]).chunks(torch.arange(2), 32)
    normaliser = Normaliser.fit(x, torch.tensor([[0, 1], [1, 2], [2, 3]]), root=0)
    moved = normaliser(x * 3 + torch.tensor([5.0, -7.0, 100.0]))
    assert torch.allclose(normaliser(x), moved, atol=1e-3)


def test_augmentation_is_deterministic_and_time_runs_forward() -> None:
    lengths = torch.tensor([7, 40, 1151] * 50)
    bounds = [Augmentation().boundaries(lengths, 32, torch.Generator().manual_seed(3)) for _ in range(2)]
    assert torch.equal(*bounds)
    assert bool((bounds[0].diff(dim=1) > 0).all())
    assert bool((bounds[0] >= 0).all()) and bool((bounds[0] <= lengths[:, None]).all())
    x = torch.randn(5, 32, 4, 3)
    twice = [Augmentation()(x, torch.Generator().manual_seed(3)) for _ in range(2)]
    assert torch.equal(*twice)
    assert torch.equal(Augmentation(0, 0, 0, 0, 0)(x, torch.Generator()), x)
    turn = rotations(torch.randn(9, 3))
    assert torch.allclose(turn @ turn.transpose(1, 2), torch.eye(3).expand(9, 3, 3), atol=1e-5)


def labelled(split: list[str], subjects: list[str] | None = None) -> SequenceSet:
    count = len(split)
    return SequenceSet.from_sequences(
        [frames(5, i) for i in range(count)],
        labels=[i % 2 for i in range(count)], class_names=["a", "b"], split=split,
        subjects=subjects or [""] * count,
    )  # fmt: skip


def test_marked_test_sequences_never_train() -> None:
    s = labelled(["test"] * 6 + [""] * 14)
    train, test, _ = train_and_test(s)
    assert test[:6].all() and train[6:].all() and not (train & test).any()


def test_validation_is_by_subject_where_the_split_is() -> None:
    subjects = [f"p{i % 5}" for i in range(20)]
    s = labelled(["train" if i % 5 < 4 else "test" for i in range(20)], subjects)
    train, held, name = train_and_test(s, validation=0.25, seed=1)
    assert name == "validation"
    assert not set(s.subjects[train]) & set(s.subjects[held])
    assert not (held & (s.split == "test")).any()


def test_a_class_without_training_sequences_is_named() -> None:
    s = labelled(["train" if i % 2 == 0 else "test" for i in range(10)])
    with pytest.raises(DataError, match="b"):
        train_and_test(s)


def test_rounding_of_a_joint_that_never_moves_is_not_blown_up() -> None:
    """The root of a static pose is relative to its own mean: nothing but rounding is left of it."""
    poses = torch.rand(50, 1, 5, 3, generator=torch.Generator().manual_seed(0)) * 0.2 + 0.5
    chunks = poses.expand(-1, 8, -1, -1).clone() * (1 + 1e-7 * torch.arange(8)[None, :, None, None])
    normaliser = Normaliser.fit(chunks, torch.tensor([[0, 1], [1, 2]]), root=0)
    assert normaliser.node_scale[0] == 1.0
    signals = normaliser(chunks)
    assert signals[:, 0].abs().max() < 1e-4
    assert 0.5 < float(signals[:, 1:].square().mean().sqrt()) < 2
