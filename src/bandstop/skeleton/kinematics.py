"""A right hand of 21 joints, from joint angles to millimetres.

The hand's own frame sits at the wrist: y points along the fingers, z out of the back of the hand, and x
completes a right-handed frame, so that a right hand has its thumb on the -x side. Every finger is a chain of
three bones that bends in one plane: with Θ_j the sum of the flexions up to joint j and α the abduction,

    p_0 = base,    p_{j+1} = p_j + length_j · (cos Θ_j · (cos α · forward + sin α · side) + sin Θ_j · curl)

where (forward, curl, side) is the finger's frame in the palm. The thumb is the same chain in a frame turned
towards the palm. Joints come in FPHA's order: the wrist, five finger bases (thumb to little), then three
joints a finger.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ANGLES",
    "FINGERS",
    "FINGER_JOINTS",
    "LIMITS",
    "PALM_LENGTHS",
    "PHALANX_LENGTHS",
    "clip_to_limits",
    "euler_rotation",
    "hand_joints",
]

Floats = NDArray[np.float64]

FINGERS = ("thumb", "index", "middle", "ring", "little")
_DEGREES_OF_FREEDOM = ("abduction", "knuckle", "middle", "end")

ANGLES: tuple[str, ...] = (
    *(f"{finger}.{dof}" for finger in FINGERS for dof in _DEGREES_OF_FREEDOM),
    "wrist.turn",
    "wrist.bend",
    "wrist.tilt",
)
"""The 23 angles of a pose, in order. Positive: flexion; abduction away from the middle finger (the thumb's:
out of the palm's plane, as in opposition); a turn of the palm from facing down to facing the other hand; a
tilt towards the thumb."""

FINGER_JOINTS: NDArray[np.int64] = np.array(
    [[1 + f, *range(6 + 3 * f, 9 + 3 * f)] for f in range(5)], dtype=np.int64
)
"""For every finger, its four joints from the base outward."""

_THUMB_LIMITS = ((-20, 70), (-25, 50), (-15, 60), (-20, 80))
_FINGER_LIMITS = ((-20, 25), (-25, 90), (-5, 110), (-10, 80))
_WRIST_LIMITS = ((-80, 160), (-70, 80), (-40, 25))

LIMITS: Floats = np.deg2rad(
    np.array([*_THUMB_LIMITS, *(_FINGER_LIMITS * 4), *_WRIST_LIMITS], dtype=np.float64)
)
"""Smallest and largest value of every angle, in radians: rounded active ranges of motion of an adult hand."""

PALM_LENGTHS: Floats = np.array([32.0, 90.0, 87.0, 81.0, 76.0])
"""Wrist to finger base in millimetres, for an average adult."""

PHALANX_LENGTHS: Floats = np.array(
    [[44, 33, 27], [44, 26, 22], [48, 30, 23], [44, 28, 23], [34, 21, 20]], dtype=np.float64
)
"""The three bones of every finger in millimetres, outward; the thumb's first is its metacarpal."""


def _unit(vector: Floats) -> Floats:
    return np.asarray(vector / np.linalg.norm(vector, axis=-1, keepdims=True), dtype=np.float64)


def _towards(radial_degrees: Floats) -> Floats:
    """Directions in the palm's plane, turned from the y axis towards the thumb."""
    angle = np.deg2rad(radial_degrees)
    return np.stack([-np.sin(angle), np.cos(angle), np.zeros_like(angle)], axis=-1)


def _finger_frames() -> Floats:
    """[5, 3, 3]: the forward, curl and side directions of every finger."""
    forward = _towards(np.array([0.0, 4.0, 0.0, -4.0, -9.0]))
    curl = np.tile([0.0, 0.0, -1.0], (5, 1))
    forward[0], curl[0] = _unit(np.array([-0.68, 0.68, -0.28])), np.array([0.95, 0.25, -0.3])
    curl = _unit(curl - (curl * forward).sum(-1, keepdims=True) * forward)
    side = np.cross(forward, curl) * np.array([1.0, 1.0, 1.0, -1.0, -1.0])[:, None]
    return np.stack([forward, curl, side], axis=1)


_PALM = _towards(np.array([48.0, 15.0, 2.0, -11.0, -23.0])) + np.outer(
    [-0.35, 0.0, 0.06, 0.03, -0.06], [0.0, 0.0, 1.0]
)
_PALM_DIRECTIONS = _unit(_PALM)
_FRAMES = _finger_frames()


def clip_to_limits(angles: Floats) -> Floats:
    """Angles [..., 23] brought inside the joints' ranges.

    >>> bent_too_far = np.full(23, 9.0)
    >>> bool((clip_to_limits(bent_too_far) == LIMITS[:, 1]).all())
    True
    """
    return np.clip(angles, LIMITS[:, 0], LIMITS[:, 1])


def euler_rotation(turn: Floats, bend: Floats, tilt: Floats) -> Floats:
    """Rotation matrices [..., 3, 3]: R_y(turn) · R_x(−bend) · R_z(tilt).

    >>> thumb_up = euler_rotation(np.array(np.pi / 2), np.array(0.0), np.array(0.0))
    >>> (thumb_up @ [0.0, 0.0, 1.0]).round(6).tolist()
    [1.0, 0.0, 0.0]
    """
    (cy, sy), (cx, sx), (cz, sz) = ((np.cos(angle), np.sin(angle)) for angle in (turn, -bend, tilt))
    rows = [
        [cy * cz + sy * sx * sz, sy * sx * cz - cy * sz, sy * cx],
        [cx * sz, cx * cz, -sx],
        [cy * sx * sz - sy * cz, sy * sz + cy * sx * cz, cy * cx],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def hand_joints(angles: Floats, palm: Floats = PALM_LENGTHS, phalanges: Floats = PHALANX_LENGTHS) -> Floats:
    """Joint positions [..., 21, 3] with the wrist at the origin.

    `angles` is [..., 23] in the order of `ANGLES`; `palm` [..., 5] and `phalanges` [..., 5, 3] are lengths.

    >>> straight = hand_joints(np.zeros(23))
    >>> straight.shape
    (21, 3)
    >>> bool(np.isclose(np.linalg.norm(straight[14] - straight[13]), PHALANX_LENGTHS[2, 2]))
    True
    """
    fingers = angles[..., :20].reshape(*angles.shape[:-1], 5, 4)
    flexion = np.cumsum(fingers[..., 1:], axis=-1)[..., None]
    abduction = fingers[..., 0][..., None, None]
    forward, curl, side = (_FRAMES[:, i, None, :] for i in range(3))
    ahead = np.cos(abduction) * forward + np.sin(abduction) * side
    bones = phalanges[..., None] * (np.cos(flexion) * ahead + np.sin(flexion) * curl)
    bases = palm[..., None] * _PALM_DIRECTIONS
    outward = bases[..., None, :] + np.cumsum(bones, axis=-2)
    flat = outward.reshape(*outward.shape[:-3], 15, 3)
    wrist = np.zeros((*flat.shape[:-2], 1, 3))
    local = np.concatenate([wrist, np.broadcast_to(bases, (*flat.shape[:-2], 5, 3)), flat], axis=-2)
    rotation = euler_rotation(angles[..., 20], angles[..., 21], angles[..., 22])
    return np.asarray(local @ np.swapaxes(rotation, -1, -2), dtype=np.float64)
