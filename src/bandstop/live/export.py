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
from bandstop.errors import ExportError
from bandstop.files import atomic_write, write_text
from bandstop.live.device import NativeLive, WasmLive, live_texts, live_wasm, live_wasm_loader
from bandstop.live.event import Event
from bandstop.live.joined import join_sequences
from bandstop.live.looks import events_of, look_at
from bandstop.live.recogniser import LiveRecogniser, load_live
from bandstop.live.stream import Stream
from bandstop.skeleton import SequenceSet

__all__ = ["device_model", "export_live", "make_live_c", "stream_to_check"]


def device_model(live: LiveRecogniser) -> DeployModel:
    """What is compiled: the network of a stream recogniser, its normaliser and names."""
    found = live.recogniser
    return DeployModel(found.net, found.normaliser, found.class_names, found.joint_names)


def make_live_c(live: LiveRecogniser, options: ExportOptions | None = None) -> tuple[CFiles, dict[str, str]]:
    """The C files of the network, and the texts of all files of the stream recogniser."""
    files = make_c(device_model(live), options)
    return files, live_texts(files, live.settings, live.recogniser.joints)


def export_live(
    run: str | Path,
    to: Literal["c", "wasm"],
    folder: Path,
    *,
    frames: NDArray[np.floating[Any]],
    options: ExportOptions | None = None,
) -> dict[str, Any]:
    """Write C, or a WebAssembly module with its loader; checked on the stream ``frames`` ``[T, V, 3]``."""
    live = load_live(run)
    options = options or ExportOptions()
    if options.number != "float32":
        raise ExportError(f"a stream recogniser is exported in float32, found {options.number}")
    files, texts = make_live_c(live, options)
    stream = Stream(np.asarray(frames, np.float32), ())
    wanted = events_of(look_at(live.recogniser, stream, live.settings.plan), live.settings.rule)
    made: dict[str, bytes]
    if to == "c":
        found = NativeLive(files, texts).events(stream.joints)
        made = {name: text.encode() for name, text in texts.items()}
    else:
        module = live_wasm(files, texts)
        found = WasmLive(module).events(stream.joints)
        made = {
            f"{files.name}_live.wasm": module,
            f"{files.name}_live.js": live_wasm_loader(files.name).encode(),
        }
    _check(found, wanted)
    for name, data in made.items():
        with atomic_write(folder / name) as part:
            part.write_bytes(data)
    report = {
        "to": f"live {to}",
        "files": {name: len(data) for name, data in made.items()},
        "frames": len(stream),
        "events": len(found),
        "state_bytes": files.state_bytes + _stream_bytes(live),
        "program_macs": files.program.macs,
    }
    write_text(folder / f"{files.name}-live-{to}.json", json.dumps(report, indent=2) + "\n")
    return report


def stream_to_check(sequences: Sequence[NDArray[np.float32]], root: int = 0, most: int = 16) -> Any:
    """Frames of a stream joined from cut-outs, on which an export is compared with Python.

    >>> stream_to_check([np.zeros((20, 2, 3), np.float32)]).shape[1:]
    (2, 3)
    """
    some = list(sequences[:: max(1, len(sequences) // most)])[:most]
    nameless = SequenceSet.from_sequences(some, labels=[0] * len(some), class_names=["any"], root=root)
    return join_sequences(nameless, seed=0, per_stream=most)[0].joints


def _stream_bytes(live: LiveRecogniser) -> int:
    """Memory besides the network's own: the ring, the last looks, a few counters."""
    classes = len(live.recogniser.class_names)
    ring = live.settings.plan.length * 3 * live.recogniser.joints
    return 4 * (ring + (live.settings.rule.smooth + 1) * classes + 9)


def _check(found: list[Event], wanted: list[Event]) -> None:
    """Refuse an export whose events differ: by more than rounding can move one of them over the threshold."""
    same = [(e.label, e.begin, e.end) for e in found] == [(e.label, e.begin, e.end) for e in wanted]
    if not same:
        raise ExportError(
            f"the exported stream recogniser names {len(found)} gestures where Python names {len(wanted)}, "
            "or names them otherwise, and was not written"
        )
