"""Projects of a stream recogniser: they build, and name the same gestures as Python."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

from bandstop.cli import main
from bandstop.deploy import ExportOptions
from bandstop.live import load_live
from bandstop.live.projects import export_live_project, flash_of, live_library
from tests.live.studio.browser import recorded_folder
from tests.needs import needs

CORE = Path(__file__).parents[1] / "deploy" / "arduino_core"


@pytest.fixture(scope="module")
def frames(small_live) -> np.ndarray:
    return small_live.data.validation[0].joints


def _wanted(run: Path, frames: np.ndarray) -> list[str]:
    live = load_live(run)
    events = [event for frame in frames if (event := live.push(frame)) is not None]
    assert events
    return [live.class_names[event.label] for event in events]


def _run(program: Path, frames: np.ndarray) -> list[str]:
    text = "\n".join(" ".join(f"{v:.6g}" for v in frame.ravel()) for frame in frames)
    return subprocess.run(
        [program], input=text, capture_output=True, text=True, check=True
    ).stdout.splitlines()


@needs("g++", package="g++")
@pytest.mark.parametrize("to", ["arduino", "platformio"])
def test_the_sketch_names_gestures_without_end(small_live, frames, tmp_path, to):
    export_live_project(small_live.run, to, tmp_path, frames=frames, options=ExportOptions(name="gest"))
    if to == "arduino":
        with zipfile.ZipFile(tmp_path / "gest-arduino.zip") as archive:
            archive.extractall(tmp_path)
        sources, sketch = tmp_path / "gest/src", tmp_path / "gest/examples/stream/stream.ino"
        assert "includes=gest_live.h" in (tmp_path / "gest/library.properties").read_text()
    else:
        sources = tmp_path / "gest-platformio/lib/gest/src"
        sketch = tmp_path / "gest-platformio/src/main.cpp"
    (tmp_path / "sketch.cpp").write_text(f"#include <Arduino.h>\n{sketch.read_text()}")
    include = [f"-I{sources}", f"-I{CORE}"]
    for name in ("gest", "gest_live"):
        line = ["gcc", "-std=c99", "-O1", *include, "-c", sources / f"{name}.c", "-o", tmp_path / f"{name}.o"]
        subprocess.run(line, check=True)
    parts = [tmp_path / file for file in ("sketch.cpp", "gest.o", "gest_live.o")]
    strict = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-O1"]
    subprocess.run(
        ["g++", *strict, *include, *parts, CORE / "core.cpp", "-o", tmp_path / "sketch"], check=True
    )
    found = [line.rsplit(" ", 1)[0] for line in _run(tmp_path / "sketch", frames)]
    assert found == _wanted(small_live.run, frames)
    other = next(tmp_path.rglob("serial.ino"))  # for cut-out sequences: builds with the same library
    (tmp_path / "sketch.cpp").write_text(f"#include <Arduino.h>\n{other.read_text()}")
    subprocess.run(["g++", *strict, *include, "-c", parts[0], "-o", tmp_path / "serial.o"], check=True)


@needs("cmake", package="cmake")
def test_cmake_by_the_command_line(small_live, frames, tmp_path, capsys):
    argument = ["export", str(small_live.run), "--to", "cmake", "--for", "size", "--out", str(tmp_path)]
    assert main([*argument, "--data", str(recorded_folder(tmp_path / "data"))]) == 0
    assert "the same" in capsys.readouterr().out
    for line in (
        ["cmake", "-S", tmp_path / "recogniser-cmake", "-B", tmp_path / "build"],
        ["cmake", "--build", tmp_path / "build"],
    ):
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    found = [
        line.split(" ", 1)[1].split(" 0.")[0] for line in _run(tmp_path / "build/recogniser_example", frames)
    ]
    assert [name.rsplit(" 1.0", 1)[0] for name in found] == _wanted(small_live.run, frames)


def test_flash_counts_code_and_weights(small_live, frames):
    library, report = live_library(small_live.run, frames=frames)
    found = flash_of(library)
    kept = load_live(small_live.run).recogniser.net
    weights = sum(int((p != 0).sum()) for p in kept.parameters())
    assert 4 * weights < found.flash < 40 * weights + 20_000
    assert report["state_bytes"] <= found.ram < report["state_bytes"] + 2_000
