"""What a user takes away of a finished training: packages with their sizes, made when asked for."""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bandstop.deploy import ExportOptions, export_model
from bandstop.errors import ConfigError, ExportError
from bandstop.files import atomic_write
from bandstop.live.data import joined_live
from bandstop.live.export import device_model, export_live
from bandstop.live.projects import Project, export_live_project
from bandstop.live.recogniser import load_live
from bandstop.live.studio.static_page import export_page
from bandstop.record.folder import CONFIG, LIVE, LOG, METRICS, MODEL, REPORT
from bandstop.training.model_file import load_recogniser
from bandstop.training.recordings import recordings_for

__all__ = ["PACKAGES", "make_package"]


def _stream(run: Path) -> np.ndarray:
    data = joined_live(recordings_for(load_recogniser(run))[0])
    return max(data.validation, key=len).joints[:3000]


def _c(run: Path, folder: Path) -> None:
    export_live(run, "c", folder, frames=_stream(run), options=ExportOptions(aim="size"))


def _project(to: Project) -> Callable[[Path, Path], None]:
    def make(run: Path, folder: Path) -> None:
        export_live_project(run, to, folder, frames=_stream(run))

    return make


def _wasm(run: Path, folder: Path) -> None:
    export_live(run, "wasm", folder, frames=_stream(run))


def _page(run: Path, folder: Path) -> None:
    export_page(run, folder, frames=_stream(run))


def _onnx(run: Path, folder: Path) -> None:
    live = load_live(run)
    length, frames = live.settings.plan.length, _stream(run)
    windows = [frames[at : at + length] for at in range(0, len(frames) - length, length)]
    export_model(device_model(live), "onnx", folder, sequences=windows)


def _report(run: Path, folder: Path) -> None:
    # A verb of the command line, in a process of its own: this room stands beside report, not above it.
    command = [sys.executable, "-m", "bandstop", "report", str(run)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ExportError(f"the report could not be made: {done.stderr.strip()[-200:]}")
    (folder / REPORT).write_bytes((run / REPORT).read_bytes())


def _run(run: Path, folder: Path) -> None:
    for name in (CONFIG, LIVE, LOG, METRICS, MODEL):
        (folder / name).write_bytes((run / name).read_bytes())


PACKAGES: dict[str, tuple[str, Callable[[Path, Path], None]]] = {
    "c": ("C99: plain source for any device, no library needed", _c),
    "arduino": ("Arduino: a library for the IDE, with a sketch for the serial port", _project("arduino")),
    "platformio": ("PlatformIO: a project that builds as it is", _project("platformio")),
    "cmake": ("CMake: a library for your C or C++ project, with an example", _project("cmake")),
    "page": ("Web page: camera, landmarks and recogniser in a folder for any web server", _page),
    "wasm": ("WebAssembly: the recogniser for a page of your own, with a loader", _wasm),
    "onnx": ("ONNX: the network alone, for other tools", _onnx),
    "report": ("Report: a page of pictures about the training", _report),
    "run": ("Run folder: weights, settings and log, for bandstop itself", _run),
}
"""Name → (what it is, what makes it)."""


def make_package(what: str, run: Path, place: Path) -> Path:
    """The zip of package ``what`` of a run; made once and kept in ``place``."""
    if what not in PACKAGES:
        raise ConfigError(f"a package is one of {', '.join(PACKAGES)}, found {what!r}")
    target = place / f"{what}.zip"
    if target.is_file():
        return target
    with tempfile.TemporaryDirectory(prefix="bandstop-") as made:
        PACKAGES[what][1](run, Path(made))
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(file for file in Path(made).rglob("*") if file.is_file()):
                archive.write(file, f"bandstop-{what}/{file.relative_to(made).as_posix()}")
        with atomic_write(target) as part:
            part.write_bytes(packed.getvalue())
    return target
