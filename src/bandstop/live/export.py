"""Exports of a stream recogniser, checked: the same frames must give the same events as in Python."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy import DeployModel, ExportOptions, make_c
from bandstop.deploy.c.files import CFiles
from bandstop.deploy.export import fixed_program
from bandstop.errors import ExportError
from bandstop.files import atomic_write, write_text
from bandstop.live.decision import DecisionRule
from bandstop.live.device import live_texts, live_wasm, live_wasm_loader, stream_bytes
from bandstop.live.device_run import NativeLive, WasmLive
from bandstop.live.event import Event
from bandstop.live.joined import join_sequences
from bandstop.live.looks import Looks, Scorer, events_of, look_at, window_signals
from bandstop.live.recogniser import LiveRecogniser, load_live
from bandstop.live.stream import Stream
from bandstop.skeleton import SequenceSet

__all__ = ["device_model", "export_live", "make_live_c", "stream_to_check"]

_ROUNDING, _FIXED_ROUNDING = 1e-3, 0.02
"""How far scores may be from the reference, as shares of the largest score. In fixed point a signal that lies
between two whole numbers may be rounded to either."""


def device_model(live: LiveRecogniser) -> DeployModel:
    """What is compiled: the network of a stream recogniser, its normaliser and names."""
    found = live.recogniser
    return DeployModel(found.net, found.normaliser, found.class_names, found.joint_names)


def make_live_c(
    live: LiveRecogniser,
    options: ExportOptions | None = None,
    *,
    inputs: NDArray[np.float32] | None = None,
) -> tuple[CFiles, dict[str, str]]:
    """The C files of the network, and the texts of all files of the stream recogniser.

    ``inputs``: signals of windows, on which fixed point is scaled.
    """
    files = make_c(device_model(live), options, inputs=inputs)
    return files, live_texts(files, live.settings, live.recogniser.normaliser)


def export_live(
    run: str | Path,
    to: Literal["c", "wasm"],
    folder: Path,
    *,
    frames: NDArray[np.floating[Any]],
    options: ExportOptions | None = None,
    false_alarms: str | None = None,
) -> dict[str, Any]:
    """Write C, or a WebAssembly module with its loader; checked on the stream ``frames`` ``[T, V, 3]``.

    ``false_alarms``: with the threshold for another rate. In fixed point the reference is the same
    whole-number arithmetic in Python.
    """
    live, options = load_live(run, false_alarms=false_alarms), options or ExportOptions()
    stream = Stream(np.asarray(frames, np.float32), ())
    inputs = window_signals(live.recogniser, stream, live.settings.plan)[1].numpy()
    files, texts = make_live_c(live, options, inputs=inputs)
    wanted = look_at(live.recogniser, stream, live.settings.plan, scorer=_reference(live, options, inputs))
    made: dict[str, bytes]
    if to == "c":
        found, scores = NativeLive(files, texts).traced(stream.joints)
        made = {name: text.encode() for name, text in texts.items()}
    else:
        module = live_wasm(files, texts)
        found, scores = WasmLive(module).traced(stream.joints)
        made = {
            f"{files.name}_live.wasm": module,
            f"{files.name}_live.js": live_wasm_loader(files.name).encode(),
        }
    rounded = _check(found, scores, wanted, live.settings.rule, exact=options.number == "float32")
    for name, data in made.items():
        with atomic_write(folder / name) as part:
            part.write_bytes(data)
    normaliser, classes = live.recogniser.normaliser, files.program.classes
    report = {
        "to": f"live {to}",
        "number": options.number,
        "files": {name: len(data) for name, data in made.items()},
        "frames": len(stream),
        "events": len(found),
        "events_moved_by_rounding": rounded,
        "state_bytes": files.state_bytes + stream_bytes(live.settings, normaliser, classes),
        "program_macs": files.program.macs,
    }
    write_text(folder / f"{files.name}-live-{to}.json", json.dumps(report, indent=2) + "\n")
    return report


def _reference(live: LiveRecogniser, options: ExportOptions, inputs: NDArray[np.float32]) -> Scorer | None:
    """The network in the number format of ``options``, in Python; None: as it is."""
    return None if options.number == "float32" else fixed_program(device_model(live), options, inputs)


def stream_to_check(sequences: Sequence[NDArray[np.float32]], root: int = 0, most: int = 16) -> Any:
    """Frames of a stream joined from cut-outs, on which an export is compared with Python.

    >>> stream_to_check([np.zeros((20, 2, 3), np.float32)]).shape[1:]
    (2, 3)
    """
    some = list(sequences[:: max(1, len(sequences) // most)])[:most]
    nameless = SequenceSet.from_sequences(some, labels=[0] * len(some), class_names=["any"], root=root)
    return join_sequences(nameless, seed=0, per_stream=most)[0].joints


def _check(
    found: list[Event], scores: NDArray[np.float32], wanted: Looks, rule: DecisionRule, *, exact: bool
) -> int:
    """Refuse an export that names other gestures; returns how many events rounding has moved.

    Scores must be those of the reference but for rounding, and the events those that the rule makes of them:
    an event may differ only where a look lies on the threshold within that rounding.
    """
    largest = float(np.abs(wanted.scores).max(initial=1.0))
    allowed = (_ROUNDING if exact else _FIXED_ROUNDING) * largest
    far = (
        float(np.abs(scores - wanted.scores).max(initial=0.0))
        if scores.shape == wanted.scores.shape
        else np.inf
    )
    own = _named(events_of(Looks(wanted.at, scores), rule)) if np.isfinite(far) else []
    if far > allowed or _named(found) != own:
        raise ExportError(
            f"the exported stream recogniser names {len(found)} gestures where Python names "
            f"{len(events_of(wanted, rule))}, with scores up to {far:.2g} apart (allowed {allowed:.2g}), "
            "and was not written"
        )
    return len(set(own) ^ set(_named(events_of(wanted, rule))))


def _named(events: list[Event]) -> list[tuple[int, int, int]]:
    return [(event.label, event.begin, event.end) for event in events]
