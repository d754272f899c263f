"""Signals composed of named parts."""

from __future__ import annotations

import pytest
import torch

from bandstop.errors import ConfigError
from bandstop.record.signal import PARTS, signal_parts
from bandstop.skeleton.normalise import Normaliser
from bandstop.skeleton.parts import LAGS, bone_starts, distance_ends, part_values

EDGES = torch.tensor([[0, 1], [1, 2], [0, 3], [3, 4]])
CHUNKS = torch.randn(6, 8, 5, 3, generator=torch.Generator().manual_seed(0)).cumsum(1) + 10
FRAMES = torch.tensor([8, 16, 40, 20, 9, 33])


def fitted(signal: str) -> Normaliser:
    parts = signal_parts(signal)
    return Normaliser.fit(CHUNKS, EDGES, 0, FRAMES if "duration" in parts else None, parts)


def test_every_part_has_its_values_chunk_by_chunk() -> None:
    whole = fitted("+".join(PARTS))
    found = whole(CHUNKS, FRAMES)
    assert found.shape == (6, 5, 8 * sum(PARTS.values())) == (6, 5, whole.values)
    by_chunk = found.reshape(6, 5, 8, -1)
    first = 0
    for name, values in PARTS.items():
        alone = by_chunk[..., first : first + values]
        if name not in ("places", "duration"):
            shorter = fitted(f"places+{name}")(CHUNKS).reshape(6, 5, 8, -1)
            assert torch.allclose(alone, shorter[..., 3:], atol=1e-6)
        first += values


def test_places_are_those_of_the_plain_signal() -> None:
    plain = Normaliser.fit(CHUNKS, EDGES, 0)(CHUNKS)
    composed = fitted("places+steps")(CHUNKS).reshape(6, 5, 8, 6)[..., :3]
    assert torch.equal(composed.flatten(2), plain)


@pytest.mark.parametrize("name", ["steps", "slow", "bones", "distances"])
def test_parts_are_scaled_per_joint(name) -> None:
    found = fitted(f"places+{name}")(CHUNKS).reshape(6, 5, 8, -1)[..., 3:]
    assert torch.allclose(found.square().mean(dim=(0, 2, 3)).sqrt(), torch.ones(5), atol=1e-3)
    if name == "distances":
        assert found.mean(dim=(0, 2, 3)).abs().max() < 1e-3


@pytest.mark.parametrize("name", LAGS)
def test_steps_look_back_as_far_as_there_are_chunks(name) -> None:
    body, lag = torch.randn(2, 3, 4, 3), LAGS[name]
    found = part_values(name, body, [], 0, None)
    assert torch.equal(found[:, :lag], torch.zeros_like(found[:, :lag]))
    assert torch.equal(found[:, lag:], body[:, lag:] - body[:, :-lag])


def test_distances_do_not_change_when_the_body_turns() -> None:
    turn = torch.linalg.qr(torch.randn(3, 3)).Q
    whole = fitted("places+distances")
    one, other = (whole(chunks).reshape(6, 5, 8, 4)[..., 3] for chunks in (CHUNKS, CHUNKS @ turn))
    assert torch.allclose(one, other, atol=1e-4)


def test_ends_of_bones_and_distances() -> None:
    edges = [(0, 1), (1, 2), (0, 3), (3, 4)]
    assert bone_starts(edges, 5, 0) == [0, 0, 1, 0, 3]
    assert bone_starts(edges, 5, 2) == [1, 2, 2, 0, 3]
    assert distance_ends(edges, 5, 0) == [0, 1, 4, 3, 2]
    assert distance_ends([], 3, 0) == [0, 1, 2]


def test_a_moment_is_where_the_chunk_lies() -> None:
    found = fitted("places+moment")(CHUNKS).reshape(6, 5, 8, 4)[..., 3]
    assert torch.allclose(found, torch.linspace(-(3**0.5), 3**0.5, 8).expand(6, 5, 8))
    assert found.square().mean().sqrt() == pytest.approx((9 / 7) ** 0.5, abs=1e-5)
    assert part_values("moment", CHUNKS[:, :1], [], 0, None).abs().max() == 0, "one chunk is nowhere"


def test_what_is_read_once_has_a_place_in_the_chunk() -> None:
    assert fitted("places+moment+steps").shared == (3,) and fitted("places+duration").shared == ()


def test_durations_need_frames() -> None:
    with pytest.raises(ConfigError, match="number of frames"):
        fitted("places+duration")(CHUNKS)
    with pytest.raises(ConfigError, match="needs the frames"):
        part_values("duration", CHUNKS, [], 0, None)
