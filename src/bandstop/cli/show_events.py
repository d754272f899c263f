"""Gestures in streams, in words or as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bandstop.live import LiveRecogniser

__all__ = ["print_events"]


def print_events(
    live: LiveRecogniser, streams: Mapping[Path, NDArray[np.float32]], *, as_json: bool = False
) -> None:
    """A line for every gesture of every stream; a stream without any says so."""
    rate = live.settings.frames_per_second
    for path, frames in streams.items():
        live.reset()
        events = [event for frame in frames if (event := live.push(frame)) is not None]
        if as_json:
            named = [
                {
                    "name": live.class_names[event.label],
                    "confidence": round(event.confidence, 4),
                    "begin": event.begin,
                    "end": event.end,
                    "at": event.at,
                }
                for event in events
            ]
            print(json.dumps({"file": str(path), "frames": len(frames), "events": named}))
            continue
        for event in events:
            when = f"{event.begin / rate:.2f} to {event.end / rate:.2f} s"
            print(f"{path}: {live.class_names[event.label]} ({event.confidence:.1%}) from {when}")
        if not events:
            print(f"{path}: none of the gestures in {len(frames) / rate:.1f} s")
