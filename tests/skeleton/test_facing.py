"""Sequences turned to face one way, and sequences of one size or of their own."""

from __future__ import annotations

import pytest
import torch

from bandstop.errors import ConfigError
from bandstop.skeleton.facing import choose_facing, turned, turns
from bandstop.skeleton.normalise import Normaliser

EDGES = torch.tensor([[0, 1], [1, 2], [0, 3], [3, 4]])
CHUNKS = torch.randn(6, 8, 5, 3, generator=torch.Generator().manual_seed(0)).cumsum(1) + 10
TURN = torch.linalg.qr(torch.randn(3, 3, generator=torch.Generator().manual_seed(1))).Q
TURN = TURN * TURN.det()


def fitted(**removed: bool) -> Normaliser:
    return Normaliser.fit(CHUNKS, EDGES, 0, **removed)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [True, False])
@pytest.mark.parametrize("orientation", [True, False])
def test_what_is_taken_out_no_longer_matters(size, orientation) -> None:
    whole = fitted(size=size, orientation=orientation)
    plain, larger, other_way = (whole(chunks) for chunks in (CHUNKS, 3 * CHUNKS, CHUNKS @ TURN.T))
    assert torch.allclose(plain, larger, atol=1e-4) == size
    assert torch.allclose(plain, other_way, atol=1e-4) == orientation


def test_the_frame_of_the_first_chunk_is_canonical() -> None:
    whole = fitted(orientation=True)
    assert whole.facing is not None
    first = whole.resize(CHUNKS)[:, 0]
    one, other = (first[:, joint] for joint in whole.facing)
    assert (one[:, 0] > 0).all() and one[:, 1:].abs().max() < 1e-5
    assert (other[:, 1] > 0).all() and other[:, 2].abs().max() < 1e-5


def test_a_turn_is_a_rotation_and_keeps_hands_apart_from_their_mirror_images() -> None:
    body = torch.randn(4, 2, 5, 3)
    found = turns(body, (1, 2))
    assert torch.allclose(found @ found.transpose(1, 2), torch.eye(3).expand(4, 3, 3), atol=1e-5)
    assert torch.allclose(torch.linalg.det(found), torch.ones(4), atol=1e-5)
    assert torch.allclose(turned(body, found).norm(dim=3), body.norm(dim=3), atol=1e-5)


def test_joints_in_a_line_are_not_turned() -> None:
    line = torch.tensor([[0.0, 0, 0], [0, 1, 0], [0, 2, 0]]).expand(1, 1, 3, 3)
    for body in (line, torch.zeros(1, 1, 3, 3)):
        assert torch.equal(turns(body, (1, 2))[0], torch.eye(3))
    with pytest.raises(ConfigError, match="three joints that do not lie in a line"):
        choose_facing(line, 0)


def test_steady_joints_are_chosen() -> None:
    chunks = CHUNKS.clone()
    chunks[:, :, 2] = chunks[:, :, 0] + torch.tensor([2.0, 0.1, 0.0])
    chunks[:, :, 4] = chunks[:, :, 0] + torch.tensor([0.0, 1.5, 0.0])
    assert choose_facing(chunks - chunks[:, :, :1], 0) == (2, 4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"facing": (0, 1)}, "two joints besides the root"),
        ({"facing": (1, 5)}, "two joints"),
        ({"unit": 0.0}, "above zero"),
    ],
)
def test_a_damaged_normaliser_is_refused(change, message) -> None:
    with pytest.raises(ConfigError, match=message):
        Normaliser(0, (), (1.0,) * 5, **change)
