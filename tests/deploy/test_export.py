"""The one door: files appear only when they agree with the network."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bandstop.deploy import export as export_module
from bandstop.deploy.export import ExportOptions, export_model
from bandstop.errors import ExportError
from tests.deploy.nets_for_tests import make_model, sequences

MODEL = make_model(0.97)
FILES = {
    "c": {"recogniser.h", "recogniser.c", "example/main.c"},
    "arduino": {"recogniser-arduino.zip"},
    "platformio": {
        "recogniser-platformio/platformio.ini",
        "recogniser-platformio/src/main.cpp",
        "recogniser-platformio/lib/recogniser/library.json",
        "recogniser-platformio/lib/recogniser/src/recogniser.h",
        "recogniser-platformio/lib/recogniser/src/recogniser.c",
    },
    "cmake": {
        f"recogniser-cmake/{file}"
        for file in ("CMakeLists.txt", "src/recogniser.h", "src/recogniser.c", "example/main.c")
    },
    "wasm": {"recogniser.wasm", "recogniser.js"},
    "onnx": {"recogniser.onnx", "recogniser_input.py"},
    "bytes": {"recogniser.bsn"},
}


@pytest.mark.parametrize("to", FILES)
def test_files_and_report(tmp_path, to):
    labels = np.zeros(len(sequences()), np.int64)
    report = export_model(MODEL, to, tmp_path / "out", sequences=sequences(), labels=labels)
    out = tmp_path / "out"
    written = {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()}
    assert written == FILES[to] | {f"recogniser-{to}.json"}
    assert json.loads((tmp_path / "out" / f"recogniser-{to}.json").read_text()) == report
    assert report["agreement"]["inputs"] == len(sequences())
    assert set(report["accuracy"]) == {"network", "export"}
    if to != "bytes":
        assert report["agreement"]["same_class"] == 1.0
    if to in ("c", "arduino", "platformio", "cmake"):
        assert report["stream"]["largest_difference"] < 1e-5
        assert report["open_ended"]["inputs"] == len(sequences())
        assert report["export_seconds"] < 5


@pytest.mark.parametrize("number", ["int8", "int16"])
def test_fixed_point(tmp_path, number):
    report = export_model(
        MODEL,
        "c",
        tmp_path,
        sequences=sequences(),
        options=ExportOptions(aim="size", number=number, least_agreement=0.5),
    )
    assert 0 < report["agreement"]["largest_difference"] < 0.05


@pytest.mark.parametrize("to", FILES)
def test_a_mismatch_leaves_nothing(tmp_path, to, monkeypatch):
    real = export_module.reference_scores

    def wrong(model, inputs):
        return real(model, inputs)[:, ::-1].copy() + 1.0

    monkeypatch.setattr("bandstop.deploy.export.reference_scores", wrong)
    if to == "bytes":  # this one is compared through the same function on both sides
        monkeypatch.setattr("bandstop.deploy.export.from_bytes", lambda data: make_model(0.5, seed=9))
        monkeypatch.setattr("bandstop.deploy.export.reference_scores", real)
    with pytest.raises(ExportError, match="does not agree with the network and was not written"):
        export_model(MODEL, to, tmp_path / "out", sequences=sequences())
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


def test_inputs_are_needed(tmp_path):
    with pytest.raises(ExportError, match="checked on real inputs"):
        export_model(MODEL, "c", tmp_path)


def test_what_a_killed_export_left_goes(tmp_path):
    (tmp_path / ".recogniser.bsn.x7.bsn").write_bytes(b"left")
    export_model(MODEL, "bytes", tmp_path, sequences=sequences())
    assert {path.name for path in tmp_path.iterdir()} == {"recogniser.bsn", "recogniser-bytes.json"}
