"""The answer none of these is the same in Python, C, WebAssembly, ONNX and bytes."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from bandstop.deploy import export_model, from_bytes, to_bytes, to_onnx
from bandstop.deploy.export import make_c
from bandstop.deploy.run.native import Native
from bandstop.deploy.run.wasm import WasmNetwork, to_wasm
from bandstop.deploy.verify import check_answers, reference_scores, signals_of
from bandstop.errors import ExportError
from bandstop.record.rejection import Answer, Rejection
from tests.deploy.nets_for_tests import make_model, sequences

PLAIN = make_model(0.9)
SCORES = reference_scores(PLAIN, signals_of(PLAIN, sequences()))


def _rule(names: tuple[str, ...]) -> Rejection:
    """A threshold in the middle of what the sequences reach, so that both answers occur."""
    likely = [1 - Rejection(0.7, 1.0).answer(row, names).confidence for row in SCORES.tolist()]
    return Rejection(0.7, float(np.median(likely)) + 1e-4)


@pytest.fixture(params=["", "none first", "none last"])
def model(request):
    """Without a learned class `none`, and with it as the first and the last class."""
    names = list(PLAIN.class_names)
    if request.param:
        names[0 if request.param == "none first" else -1] = "none"
    return replace(PLAIN, class_names=tuple(names), rejection=_rule(tuple(names)))


def _wanted(model) -> list[Answer]:
    found = [model.rejection.answer(row, model.class_names) for row in SCORES.tolist()]
    assert 0 < sum(answer.label < 0 for answer in found) < len(found)
    return found


def _same(found, wanted) -> None:
    assert [answer.label for answer in found] == [answer.label for answer in wanted]
    assert [a.confidence for a in found] == pytest.approx([a.confidence for a in wanted], abs=1e-5)


def test_c_and_wasm(model):
    files = make_c(model)
    _same(Native(files).answers(SCORES), _wanted(model))
    pytest.importorskip("wasmtime")
    _same(WasmNetwork(to_wasm(files), files).answers(SCORES), _wanted(model))


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_loader_in_javascript_says_none(model, tmp_path):
    export_model(model, "wasm", tmp_path, sequences=sequences())
    shutil.copy(tmp_path / "recogniser.js", tmp_path / "recogniser.mjs")
    frames = [[frame.ravel().tolist() for frame in one] for one in sequences()]
    (tmp_path / "frames.json").write_text(json.dumps(frames))
    (tmp_path / "run.mjs").write_text(
        'import { readFileSync } from "node:fs";\nimport { load } from "./recogniser.mjs";\n'
        'const r = await load(readFileSync("recogniser.wasm"));\n'
        'const said = JSON.parse(readFileSync("frames.json")).map((s) => r.classify(s));\n'
        "console.log(JSON.stringify(said.map((a) => [a.index, a.name, a.confidence])));\n"
    )
    done = subprocess.run(["node", "run.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True)
    for (label, name, confidence), wanted in zip(json.loads(done.stdout), _wanted(model), strict=True):
        assert (label, confidence) == (wanted.label, pytest.approx(wanted.confidence, abs=1e-4))
        assert name == ("none" if label < 0 else model.class_names[label])


def test_onnx_gives_probabilities_and_says_the_threshold(model):
    onnx = pytest.importorskip("onnx")
    from onnx.reference import ReferenceEvaluator

    loaded = onnx.load_from_string(to_onnx(model))
    said = json.loads({p.key: p.value for p in loaded.metadata_props}["rejection"])
    assert said == {"temperature": 0.7, "threshold": model.rejection.threshold}
    signals = signals_of(model, sequences()).astype(np.float32)
    _, likely = ReferenceEvaluator(loaded).run(None, {"input": signals})
    gestures = [i for i, name in enumerate(model.class_names) if name != "none"]
    best = likely[:, gestures].max(axis=1)
    labels = [
        gestures[i] if p >= said["threshold"] else -1
        for i, p in zip(likely[:, gestures].argmax(axis=1), best, strict=True)
    ]
    assert labels == [answer.label for answer in _wanted(model)]


def test_bytes_keep_the_rule(model):
    back = from_bytes(to_bytes(model, values="half")).rejection
    assert back == Rejection(0.7, model.rejection.threshold)
    assert from_bytes(to_bytes(PLAIN)).rejection is None


def test_the_report_says_how_many_are_none(model, tmp_path):
    report = export_model(model, "c", tmp_path, sequences=sequences())
    share = np.mean([answer.label < 0 for answer in _wanted(model)])
    assert report["none_of_these"] == {"threshold": model.rejection.threshold, "share": pytest.approx(share)}
    assert "recogniser_answer" in (tmp_path / "recogniser.h").read_text()
    assert "recogniser_answer" not in make_c(PLAIN).header


def test_other_answers_are_refused(model):
    wrong = [Answer(-1, 1.0)] * len(SCORES)
    with pytest.raises(ExportError, match=r"where Python answers .* and was not written"):
        check_answers("the C program", wrong, SCORES, model)
