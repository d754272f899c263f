"""The Arduino library: a zip in the layout of the IDE; its sketch answers as PyTorch on a stand-in core."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from bandstop.deploy import ExportOptions, export_model
from bandstop.deploy.c.arduino import arduino_texts, arduino_zip
from bandstop.deploy.c.library import library_of
from bandstop.deploy.verify import reference_scores, signals_of
from bandstop.errors import ExportError
from tests.deploy.golden_nets import golden_model
from tests.deploy.nets_for_tests import c_files, make_model, sequence, sequences
from tests.needs import needs

CORE = Path(__file__).with_name("arduino_core")
MODEL = make_model(0.97)


@pytest.fixture(
    scope="module", params=[{"aim": "size"}, {}, {"number": "int8"}], ids=["size", "speed", "int8"]
)
def library(request, tmp_path_factory) -> Path:
    """The unpacked zip of an export."""
    folder = tmp_path_factory.mktemp("arduino")
    options = ExportOptions(name="gestures", least_agreement=0.5, **request.param)
    report = export_model(MODEL, "arduino", folder, sequences=sequences(), options=options)
    assert set(report["files"]) == {"gestures-arduino.zip"}
    with zipfile.ZipFile(folder / "gestures-arduino.zip") as archive:
        archive.extractall(folder)
    return folder / "gestures"


def test_the_layout_is_the_ides(library):
    found = {path.relative_to(library).as_posix() for path in library.rglob("*") if path.is_file()}
    sources = {"src/gestures.h", "src/gestures.c"}
    assert found == {"library.properties", "examples/serial/serial.ino", *sources}
    rows = (library / "library.properties").read_text().splitlines()
    about = dict(row.split("=", 1) for row in rows)
    mandatory = {"name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url"}
    assert about["name"] == "gestures" and about["includes"] == "gestures.h" and mandatory <= set(about)
    for path in library.rglob("*.[ch]*"):
        assert "main(" not in path.read_text(), "the core has the only main"


def _sketch(library: Path, folder: Path) -> Path:
    """The sketch as the IDE hands it to the compiler."""
    text = (library / "examples/serial/serial.ino").read_text()
    (folder / "sketch.cpp").write_text(f"#include <Arduino.h>\n{text}")
    return folder / "sketch.cpp"


@needs("g++", package="g++")
@pytest.mark.parametrize("language", ["c", "c++"])
def test_the_sketch_names_classes_of_frames_from_the_serial_port(tmp_path, library, language):
    include = [f"-I{library / 'src'}", f"-I{CORE}"]
    source = ["-x", language, library / "src/gestures.c"]
    subprocess.run(["g++", "-O1", *include, *source, "-c", "-o", tmp_path / "network.o"], check=True)
    parts = [_sketch(library, tmp_path), CORE / "core.cpp", tmp_path / "network.o"]
    strict = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-O1"]
    subprocess.run(["g++", *strict, *include, *parts, "-o", tmp_path / "sketch"], check=True)
    raw = [sequence(length) for length in (5, 40, 90)]
    text = "\n".join(f"{len(s)}\n" + " ".join(f"{v:.6f}" for v in s.ravel()) for s in raw)
    shown = subprocess.run(
        [tmp_path / "sketch"], input=text, capture_output=True, text=True, check=True
    ).stdout
    found = [line.rsplit(" ", 1)[0] for line in shown.splitlines()]
    wanted = reference_scores(MODEL, signals_of(MODEL, raw))
    if "int8_t *weight" in (library / "src/gestures.c").read_text():  # fixed point may move a score a little
        scores = np.array([float(line.rsplit(" ", 1)[1]) for line in shown.splitlines()])
        assert np.abs(scores - wanted.max(1)).max() < 0.05 * np.abs(wanted).max()
    else:
        assert found == [MODEL.class_names[i] for i in wanted.argmax(1)]


@pytest.mark.parametrize(
    ("target", "cpu"),
    [("thumb-freestanding-eabihf", "cortex_m4"), ("thumb-freestanding-eabi", "cortex_m0plus")],
)
def test_it_compiles_for_boards(tmp_path, library, target, cpu):
    flags = [
        "-target",
        target,
        f"-mcpu={cpu}",
        "-Os",
        "-ffreestanding",
        f"-I{library / 'src'}",
        f"-I{CORE}",
        "-c",
    ]
    zig = [sys.executable, "-m", "ziglang"]
    done = [*flags, library / "src/gestures.c", "-o", tmp_path / "network.o"]
    subprocess.run([*zig, "cc", "-std=gnu11", *done], check=True)
    done = [*flags, _sketch(library, tmp_path), "-o", tmp_path / "sketch.o"]
    subprocess.run([*zig, "c++", "-std=gnu++11", "-fno-exceptions", "-nostdinc++", *done], check=True)
    assert (tmp_path / "network.o").stat().st_size and (tmp_path / "sketch.o").stat().st_size


def test_the_same_network_gives_the_same_bytes():
    texts = arduino_texts(library_of(MODEL, c_files(MODEL, aim="size", name="gestures")))
    assert arduino_zip(texts) == arduino_zip(dict(texts))
    with zipfile.ZipFile(io.BytesIO(arduino_zip(texts))) as archive:
        assert archive.testzip() is None and archive.namelist() == list(texts)


def test_a_network_without_frames_is_refused():
    model = golden_model("stack")
    with pytest.raises(ExportError, match="takes raw frames"):
        library_of(model, c_files(model))
