"""A recogniser for continuous streams: frames go in one by one, events come out."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from bandstop.errors import ConfigError, DataError
from bandstop.files import write_text
from bandstop.live.decision import Decider, DecisionRule
from bandstop.live.event import Event
from bandstop.live.stream import NONE
from bandstop.live.windows import WindowPlan
from bandstop.record.folder import LIVE
from bandstop.record.typed_json import build
from bandstop.skeleton.in_space import in_space
from bandstop.training.model_file import Recogniser, load_recogniser

__all__ = ["LiveRecogniser", "LiveSettings", "load_live", "read_live_settings", "save_live"]

_FORMAT = "bandstop live 1"


@dataclass(frozen=True)
class LiveSettings:
    """What a stream recogniser has besides its network; stored as `live.json` in the run folder."""

    plan: WindowPlan
    rule: DecisionRule
    frames_per_second: float = 30.0
    false_alarms: float = 1.0
    """False alarms a minute that the threshold was chosen for."""
    met: bool = True
    """Whether the validation streams had no more of them."""
    validation: dict[str, float] = field(default_factory=dict)
    """Measures on the validation streams."""


class LiveRecogniser:
    """Push frames ``[V, 3]``; an event comes back in the moment in which a gesture is named.

    A frame with a value that is not finite is replaced by the last good one.
    """

    def __init__(self, recogniser: Recogniser, settings: LiveSettings) -> None:
        if recogniser.class_names[-1] != NONE:
            raise ConfigError(
                f"a stream recogniser's last class must be {NONE!r}, found {recogniser.class_names[-1]!r}: "
                "train it with `bandstop live`"
            )
        self.recogniser, self.settings = recogniser, settings
        self._decider = Decider(settings.rule)
        self.reset()

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the gestures, without `none`."""
        return self.recogniser.class_names[:-1]

    def reset(self) -> None:
        """Begin a new stream."""
        self._ring = np.zeros((self.settings.plan.length, self.recogniser.joints, 3), np.float32)
        self._decider.reset()
        self.frames = 0

    def push(self, frame: ArrayLike) -> Event | None:
        """Take the next frame, ``[V, 3]``, or ``[V, 2]`` in the plane z = 0."""
        joints = np.asarray(frame, np.float32)
        if joints.shape not in (self._ring.shape[1:], (self.recogniser.joints, 2)):
            rule = f"[{self.recogniser.joints}, 3] as in training (or [{self.recogniser.joints}, 2], z = 0)"
            raise DataError(f"a frame must have shape {rule}, found {list(joints.shape)}")
        joints = in_space(joints)
        length = len(self._ring)
        if not np.isfinite(joints).all():
            if not self.frames:
                return None
            joints = self._ring[(self.frames - 1) % length]
        self._ring[self.frames % length] = joints
        self.frames += 1
        if self.frames < length or self.frames % self.settings.plan.hop:
            return None
        return self._decider.look(self._scores(), self.frames)

    def _scores(self) -> NDArray[np.float32]:
        oldest = self.frames % len(self._ring)
        window = np.concatenate([self._ring[oldest:], self._ring[:oldest]])
        with torch.no_grad():
            scores: NDArray[np.float32] = self.recogniser.scores([window])[0].numpy()
        return scores


def save_live(settings: LiveSettings, run: Path) -> None:
    """Write `live.json` into a run folder."""
    write_text(run / LIVE, json.dumps({"format": _FORMAT, **asdict(settings)}, indent=1))


def read_live_settings(run: str | Path) -> LiveSettings:
    """Read `live.json` of a run folder."""
    path = Path(run) / LIVE
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if found.pop("format") != _FORMAT:
            raise ValueError("another format")
        return build(LiveSettings, found, "settings")
    except FileNotFoundError:
        raise DataError(
            "there is no live.json: is this a run of `bandstop live`?", path=path.parent
        ) from None
    except (ConfigError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise DataError(f"not the settings of a stream recogniser ({error})", path=path) from None


def load_live(run: str | Path, *, false_alarms: str | None = None) -> LiveRecogniser:
    """The stream recogniser of a run folder that `bandstop live` made.

    ``false_alarms``: with the threshold for another rate of false alarms, such as 6/hour.
    """
    recogniser, settings = load_recogniser(run), read_live_settings(run)
    if false_alarms is not None:
        if recogniser.rejection is None:
            raise ConfigError("this run holds one threshold only: train it anew, or leave --false-alarms out")
        rule = recogniser.rejection.for_alarms(false_alarms)
        settings = replace(settings, rule=replace(settings.rule, threshold=rule.threshold))
    return LiveRecogniser(recogniser, settings)
