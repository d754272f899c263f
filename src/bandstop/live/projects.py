"""Projects of a stream recogniser that build as they are: Arduino library, PlatformIO, CMake."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy import ExportOptions
from bandstop.deploy.c.arduino import arduino_texts, arduino_zip
from bandstop.deploy.c.library import Library
from bandstop.deploy.c.projects import cmake_texts, platformio_texts
from bandstop.deploy.c.text import filled
from bandstop.deploy.run.bare_metal import CORTEX_M4, Footprint, footprint, link_for_chip
from bandstop.files import atomic_write
from bandstop.live.export import export_live

__all__ = ["PROJECTS", "Project", "export_live_project", "flash_of", "live_library"]

Project = Literal["arduino", "platformio", "cmake"]
PROJECTS: tuple[Project, ...] = ("arduino", "platformio", "cmake")
Frames = NDArray[np.floating[Any]]

_MAIN = """#include "${name}_live.h"
extern volatile float sensor[3 * ${NAME}_JOINTS];
volatile float sensor[3 * ${NAME}_JOINTS];
volatile int answer;
static ${name}_live state;
int main(void)
{
    static float joints[3 * ${NAME}_JOINTS];
    ${name}_event event;
    int i;
    ${name}_live_begin(&state);
    for (;;) {
        for (i = 0; i < 3 * ${NAME}_JOINTS; ++i) joints[i] = sensor[i];
        if (${name}_live_push_frame(&state, joints, &event)) answer = ${name}_class_names[event.label][0];
    }
}
"""


def live_library(
    run: str | Path,
    *,
    frames: Frames,
    options: ExportOptions | None = None,
    false_alarms: str | None = None,
) -> tuple[Library, dict[str, Any]]:
    """The library of a stream recogniser, checked on the stream ``frames``, and the report of the check."""
    options = options or ExportOptions(aim="size")
    name, names = options.name, {"name": options.name, "NAME": options.name.upper()}
    with tempfile.TemporaryDirectory(prefix="bandstop-") as made:
        report = export_live(run, "c", Path(made), frames=frames, options=options, false_alarms=false_alarms)
        texts = {file: (Path(made) / file).read_text(encoding="utf-8") for file in report["files"]}
    main = texts.pop("example/main.c")
    stream = (resources.files("bandstop.live.templates") / "stream.ino").read_text(encoding="utf-8")
    sketches = {
        "stream": Template(stream).substitute(names),
        "serial": filled("serial.ino", **names) + "\n",
    }
    joints = np.asarray(frames).shape[1]
    library = Library(
        name,
        f"{name}_live.h",
        "A recogniser of gestures in a continuous stream, made by bandstop.",
        f"Takes x, y, z of {joints} joints frame by frame and answers when a gesture is named. "
        f"{report['state_bytes']} bytes of memory, no allocation.",
        texts,
        main,
        sketches,
    )
    return library, report


def flash_of(library: Library) -> Footprint:
    """Flash and RAM of the stream recogniser and the smallest main on a Cortex-M4."""
    made = link_for_chip(library.sources, _MAIN, library.name, CORTEX_M4)
    return footprint(made.path.read_bytes())


def export_live_project(
    run: str | Path,
    to: Project,
    folder: Path,
    *,
    frames: Frames,
    options: ExportOptions | None = None,
    false_alarms: str | None = None,
) -> dict[str, Any]:
    """Write the project into ``folder``; the report names its files and their sizes."""
    library, report = live_library(run, frames=frames, options=options, false_alarms=false_alarms)
    makers: dict[Project, Callable[[Library], dict[str, str]]] = {
        "arduino": arduino_texts,
        "platformio": platformio_texts,
        "cmake": cmake_texts,
    }
    texts = makers[to](library)
    files = {f"{library.name}-{to}/{path}": text.encode() for path, text in texts.items()}
    if to == "arduino":
        files = {f"{library.name}-arduino.zip": arduino_zip(texts)}
    for path, data in files.items():
        with atomic_write(folder / path) as part:
            part.write_bytes(data)
    return {**report, "to": f"live {to}", "files": {path: len(data) for path, data in files.items()}}
