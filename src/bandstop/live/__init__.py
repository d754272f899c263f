"""Continuous streams: gestures that begin and end at any time, and mostly nothing.

:func:`fit_live` trains a recogniser for streams, :class:`LiveRecogniser` takes frames and answers with
events, :func:`measure_streams` says how well gestures were found.
"""

from __future__ import annotations

from bandstop.live.calibrate import calibrate, parse_false_alarms
from bandstop.live.data import load_live_data
from bandstop.live.decision import Decider, DecisionRule
from bandstop.live.event import Event
from bandstop.live.export import export_live, stream_to_check
from bandstop.live.fit import LiveResult, fit_live, live_config
from bandstop.live.hand_streams import make_hand_streams
from bandstop.live.joined import join_sequences
from bandstop.live.looks import events_of, look_at
from bandstop.live.measures import StreamMeasures, measure_streams
from bandstop.live.recogniser import LiveRecogniser, LiveSettings, load_live, read_live_settings
from bandstop.live.stream import NONE, Gesture, LiveData, Stream
from bandstop.live.windows import WindowPlan

__all__ = [
    "NONE",
    "Decider",
    "DecisionRule",
    "Event",
    "Gesture",
    "LiveData",
    "LiveRecogniser",
    "LiveResult",
    "LiveSettings",
    "Stream",
    "StreamMeasures",
    "WindowPlan",
    "calibrate",
    "events_of",
    "export_live",
    "fit_live",
    "join_sequences",
    "live_config",
    "load_live",
    "load_live_data",
    "look_at",
    "make_hand_streams",
    "measure_streams",
    "parse_false_alarms",
    "read_live_settings",
    "stream_to_check",
]
