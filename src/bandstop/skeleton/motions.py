"""The action vocabulary of the embedded hand data: sixteen actions in eight pairs that differ in one thing.

An action is a short description: what the hand looks like at a few moments of a cycle, and how it sways
meanwhile. From one key to the next every channel follows the minimum-jerk course of human reaching, 10s³ −
15s⁴ + 6s⁵ (Flash and Hogan, 1985), so with keys v_j at phases t_j the target at phase u is

    v(u) = v_0 + Σ_j (v_{j+1} − v_j) · jerk((u − t_j) / (t_{j+1} − t_j)) + amplitude · sin 2π(u + lag)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bandstop.skeleton.kinematics import ANGLES, FINGERS

__all__ = ["ACTIONS", "CHANNELS", "REST", "Action", "minimum_jerk", "pose_vector"]

Floats = NDArray[np.float64]
Pose = dict[str, float]

CHANNELS: tuple[str, ...] = (*ANGLES, "x", "y", "z")
"""What an action steers: the hand's 23 angles in radians, then the wrist's position in millimetres."""

# A finger's curl of 1 is a closed fist; these are its three flexions there.
_CLOSED = dict.fromkeys(FINGERS, (1.3, 1.6, 0.9)) | {"thumb": (0.65, 0.6, 0.9)}
_SPREAD = {"index": 1.0, "middle": 0.1, "ring": 0.6, "little": 1.0}


def _finger_curl(finger: str, curl: float) -> dict[str, float]:
    flexions = zip(("knuckle", "middle", "end"), _CLOSED[finger], strict=True)
    return {f"{finger}.{joint}": curl * closed for joint, closed in flexions}


def pose_vector(pose: Pose) -> Floats:
    """The value of every channel, from named controls; what is not named is zero, the more special name wins.

    Controls: `fingers` (curl of all four, 0 straight to 1 fist), `spread`, one finger's curl (`index`),
    `oppose` (the thumb out of the palm's plane), `turn`, `bend`, `tilt` of the wrist, or any name of
    `CHANNELS`.

    >>> fist_but_index = pose_vector({"index": 0.0, "fingers": 1.0})
    >>> [round(float(fist_but_index[CHANNELS.index(f"{f}.middle")]), 2) for f in FINGERS]
    [0.0, 0.0, 1.6, 1.6, 1.6]
    """
    values: dict[str, float] = {}
    for finger in FINGERS[1:]:
        values |= _finger_curl(finger, pose.get("fingers", 0.0))
        values[f"{finger}.abduction"] = pose.get("spread", 0.0) * _SPREAD[finger]
    for finger in FINGERS:
        values |= _finger_curl(finger, pose[finger]) if finger in pose else {}
    for control, value in pose.items():
        name = {"oppose": "thumb.abduction"}.get(
            control, f"wrist.{control}" if f"wrist.{control}" in CHANNELS else control
        )
        if name in CHANNELS:
            values[name] = value
        elif control not in ("fingers", "spread", *FINGERS):
            raise KeyError(f"{control!r} is no control of the hand")
    return np.array([values.get(channel, 0.0) for channel in CHANNELS])


def minimum_jerk(share: Floats) -> Floats:
    """Smooth course from 0 to 1 that starts and ends at rest.

    >>> minimum_jerk(np.array([-1.0, 0.0, 0.5, 1.0, 2.0])).tolist()
    [0.0, 0.0, 0.5, 1.0, 1.0]
    """
    s = np.clip(share, 0.0, 1.0)
    return np.asarray(s * s * s * (10.0 + s * (6.0 * s - 15.0)), dtype=np.float64)


@dataclass(frozen=True)
class Action:
    """One class: keys of a cycle (phase → pose), its duration, how often it is done, where it may begin."""

    name: str
    keys: Mapping[float, Pose]
    seconds: float
    cycles: tuple[int, int] = (1, 1)
    begin: tuple[float, float] = (0.0, 0.0)
    sway: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def targets(self, phase: Floats) -> Floats:
        """Channel values [..., 26] at phases [..., 26] of the cycle, one phase a channel."""
        times, poses = list(self.keys), [pose_vector(pose) for pose in self.keys.values()]
        values = np.broadcast_to(poses[0], phase.shape).copy()
        for j in range(len(times) - 1):
            moves = np.flatnonzero(poses[j + 1] != poses[j])
            share = (phase[..., moves] - times[j]) / (times[j + 1] - times[j])
            values[..., moves] += (poses[j + 1] - poses[j])[moves] * minimum_jerk(share)
        for control, (amplitude, lag) in self.sway.items():
            channel = int(np.flatnonzero(pose_vector({control: 1.0}))[0])
            values[..., channel] += amplitude * np.sin(2 * np.pi * (phase[..., channel] + lag))
        return values


REST: Pose = {"fingers": 0.3, "thumb": 0.3, "oppose": 0.3}
_FLAT: Pose = {"fingers": 0.05, "thumb": 0.1, "spread": 0.1}
_RAISED: Pose = _FLAT | {"bend": -0.5}
_LEVEL: Pose = _FLAT | {"bend": -0.3}
_WIDE: Pose = {"fingers": 0.2, "thumb": 0.1, "oppose": 0.7, "spread": 0.25, "turn": 1.2}
_GRIP: Pose = {"fingers": 0.6, "thumb": 0.5, "oppose": 0.8, "turn": 1.2}
_FIST: Pose = {"fingers": 1.0, "thumb": 0.9, "oppose": 0.6}
_POINT: Pose = _FIST | {"index": 0.15, "bend": -0.2}
_TAP: Pose = _POINT | {"index.knuckle": 0.9, "bend": 0.1, "z": -15.0}
_PEN: Pose = {"fingers": 0.55, "index": 0.4, "thumb": 0.6, "oppose": 0.5, "turn": 0.5, "bend": -0.3}
_TIPS: Pose = {"fingers": 0.45, "thumb": 0.5, "oppose": 0.6, "spread": 0.2, "bend": 0.2}
_LOOSE: Pose = _TIPS | {"fingers": 0.25, "thumb": 0.2}
_THUMB_MEETS: Pose = REST | {"thumb.middle": 0.37, "thumb.end": 0.36}
_PINCH_INDEX = _THUMB_MEETS | {
    "thumb.knuckle": 0.46, "oppose": 0.33, "index.knuckle": 0.98, "index.middle": 0.81, "index.end": 0.43,
}  # fmt: skip
_PINCH_MIDDLE = _THUMB_MEETS | {
    "thumb.knuckle": 0.62, "oppose": 0.45, "middle.knuckle": 1.03, "middle.middle": 0.85, "middle.end": 0.45,
}  # fmt: skip


def _turning(one: float, other: float) -> dict[float, Pose]:
    """A closed hand turns from `one` angle to the `other`, opens, and returns."""
    return {
        0.0: _TIPS | {"turn": one},
        0.5: _TIPS | {"turn": other},
        0.6: _LOOSE | {"turn": other},
        0.9: _LOOSE | {"turn": one},
        1.0: _TIPS | {"turn": one},
    }


def _circle(radius: float, lead: float) -> dict[str, tuple[float, float]]:
    """The wrist goes round in the horizontal plane; y leads x by a share of the cycle."""
    return {"x": (radius, 0.0), "y": (radius, lead)}


def _reversed(keys: Mapping[float, Pose]) -> dict[float, Pose]:
    return {round(1.0 - phase, 9): keys[phase] for phase in reversed(list(keys))}


_TAPPING: dict[float, Pose] = {0.0: _POINT, 0.3: _TAP, 0.4: _TAP, 0.75: _POINT, 1.0: _POINT}
_GRASPING: dict[float, Pose] = {
    0.0: REST | {"turn": 0.8},
    0.35: _WIDE | {"y": 60.0, "z": -20.0},
    0.6: _GRIP | {"y": 70.0, "z": -20.0},
    1.0: _GRIP | {"y": 40.0, "z": 60.0},
}
_COUNTING: dict[float, Pose] = {
    0.0: _FIST,
    0.2: _FIST | {"index": 0.0},
    0.4: _FIST | {"index": 0.0, "middle": 0.0},
    0.6: _FIST | {"index": 0.0, "middle": 0.0, "ring": 0.0},
    0.8: _FIST | {"fingers": 0.0},
    1.0: _FIST | {"fingers": 0.0, "thumb": 0.0, "oppose": 0.2},
}
_POURING: dict[float, Pose] = {
    0.0: _GRIP,
    0.3: _GRIP | {"z": 75.0},
    0.55: _GRIP | {"z": 90.0, "turn": 0.1},
    0.7: _GRIP | {"z": 90.0, "turn": 0.0},
    1.0: _GRIP | {"z": 10.0},
}
_DRINKING: dict[float, Pose] = {
    0.0: _GRIP,
    0.3: _GRIP | {"z": 85.0, "y": -20.0},
    0.55: _GRIP | {"z": 100.0, "y": -30.0, "tilt": 0.4},
    0.7: _GRIP | {"z": 100.0, "y": -30.0, "tilt": 0.4},
    1.0: _GRIP | {"z": 10.0},
}
_ANYWHERE = (0.0, 1.0)

ACTIONS: tuple[Action, ...] = (
    # which finger meets the thumb
    Action("pinch index", {0.0: REST, 0.35: _PINCH_INDEX, 0.65: _PINCH_INDEX, 1.0: REST}, 1.2),
    Action("pinch middle", {0.0: REST, 0.35: _PINCH_MIDDLE, 0.65: _PINCH_MIDDLE, 1.0: REST}, 1.2),
    # how often
    Action("tap once", _TAPPING, 0.9),
    Action("tap twice", _TAPPING, 0.6, cycles=(2, 2)),
    # the wrist tilts or travels
    Action("wave", {0.0: _RAISED}, 0.5, (2, 3), _ANYWHERE, {"tilt": (0.35, 0.0), "x": (15.0, 0.05)}),
    Action("wipe", {0.0: _LEVEL}, 0.5, (2, 3), _ANYWHERE, {"tilt": (0.12, 0.0), "x": (45.0, 0.05)}),
    # the direction in which the hand is closed
    Action("screw", _turning(-0.3, 0.9), 0.75, (2, 3), _ANYWHERE),
    Action("unscrew", _turning(0.9, -0.3), 0.75, (2, 3), _ANYWHERE),
    # the lifted hand turns over or tilts back
    Action("pour", _POURING, 1.9),
    Action("drink", _DRINKING, 1.9),
    # the sense of a circle
    Action("stir clockwise", {0.0: _PEN}, 0.65, (2, 3), _ANYWHERE, _circle(25.0, 0.25)),
    Action("stir anticlockwise", {0.0: _PEN}, 0.65, (2, 3), _ANYWHERE, _circle(25.0, -0.25)),
    # the order of the same keys
    Action("grasp", _GRASPING, 1.5),
    Action("release", _reversed(_GRASPING), 1.5),
    Action("count up", _COUNTING, 2.0),
    Action("count down", _reversed(_COUNTING), 2.0),
)
