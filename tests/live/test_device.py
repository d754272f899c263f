"""The same frames give the same events in Python, C and WebAssembly."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess

import numpy as np
import pytest

from bandstop.deploy import ExportOptions
from bandstop.errors import ExportError
from bandstop.live import LiveRecogniser, load_live
from bandstop.live.device_run import NativeLive, WasmLive
from bandstop.live.export import device_model, export_live, make_live_c


def _events(live: LiveRecogniser, frames: np.ndarray) -> list:
    live.reset()
    return [event for frame in frames if (event := live.push(frame)) is not None]


def _same(found, wanted) -> bool:
    assert [(e.label, e.begin, e.end, e.at) for e in found] == [
        (e.label, e.begin, e.end, e.at) for e in wanted
    ]
    assert [e.confidence for e in found] == pytest.approx([e.confidence for e in wanted], abs=2e-4)
    return True


@pytest.fixture(scope="module")
def exported(small_live):
    live = load_live(small_live.run)
    files, texts = make_live_c(live)
    return live, files, texts


def test_c_gives_the_same_events(small_live, exported):
    live, files, texts = exported
    native = NativeLive(files, texts)
    for stream in small_live.data.validation:
        wanted = _events(live, stream.joints)
        assert _same(native.events(stream.joints), wanted)
    assert wanted


def test_c_replaces_bad_frames_like_python(small_live, exported):
    live, files, texts = exported
    frames = small_live.data.validation[0].joints.copy()
    frames[0], frames[100:104, 3], frames[200] = np.nan, np.inf, np.nan
    assert _same(NativeLive(files, texts).events(frames), _events(live, frames))


def test_wasm_gives_the_same_events(small_live, exported, tmp_path):
    pytest.importorskip("wasmtime")
    live, _, _ = exported
    report = export_live(small_live.run, "wasm", tmp_path, frames=small_live.data.test[0].joints)
    assert report["events"] == len(_events(live, small_live.data.test[0].joints))
    module = (tmp_path / "recogniser_live.wasm").read_bytes()
    stream = small_live.data.validation[1].joints
    assert _same(WasmLive(module).events(stream), _events(live, stream))


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_loader_in_javascript(small_live, exported, tmp_path):
    live, _, _ = exported
    stream = small_live.data.validation[0].joints
    export_live(small_live.run, "wasm", tmp_path, frames=stream)
    (tmp_path / "frames.bin").write_bytes(stream.tobytes())
    (tmp_path / "run.mjs").write_text(
        'import { readFileSync } from "node:fs";\nimport { load } from "./recogniser_live.mjs";\n'
        'const live = await load(readFileSync("recogniser_live.wasm"));\n'
        'const all = new Float32Array(readFileSync("frames.bin").buffer.slice(0));\n'
        "const n = 3 * live.joints;\n"
        "for (let t = 0; t < all.length; t += n) {\n"
        "  const e = live.push(all.subarray(t, t + n));\n"
        "  if (e) console.log(e.begin, e.end, e.label, e.name, e.at);\n}\n"
        "live.begin(); live.push(all.subarray(0, 2 * live.joints));\n"
        "try { live.push(all.subarray(0, n + 1)); } catch (e) { console.log(e.message); }\n"
    )
    shutil.copy(tmp_path / "recogniser_live.js", tmp_path / "recogniser_live.mjs")
    # Sized as the file: node's small buffers share a pool.
    said = subprocess.run(
        ["node", "run.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    wanted = "".join(
        f"{e.begin} {e.end} {e.label} {live.class_names[e.label]} {e.at}\n" for e in _events(live, stream)
    )
    joints = live.recogniser.joints
    rule = f"{3 * joints} numbers (x, y, z of {joints} joints) or {2 * joints} (x, y)"
    assert said == f"{wanted}frame 1 must hold {rule}, found {3 * joints + 1}\n"


def test_the_example_reads_a_stream(small_live, tmp_path):
    frames = small_live.data.validation[0].joints
    report = export_live(small_live.run, "c", tmp_path, frames=frames)
    assert report["events"] > 0 and report["state_bytes"] > 0
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler is installed")
    sources = ["example/main.c", "recogniser.c", "recogniser_live.c"]
    subprocess.run([compiler, "-O2", "-std=c99", "-I.", *sources, "-o", "live"], cwd=tmp_path, check=True)
    text = "\n".join(" ".join(f"{v:.6f}" for v in frame.ravel()) for frame in frames)
    said = subprocess.run([tmp_path / "live"], input=text, capture_output=True, text=True, check=True).stdout
    assert len(said.splitlines()) == report["events"]


def test_the_device_model_has_none_last(small_live):
    assert device_model(load_live(small_live.run)).class_names[-1] == "none"


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_the_files_are_also_c_plus_plus(exported, tmp_path):
    _, _, texts = exported
    for name in ("recogniser.h", "recogniser.c", "recogniser_live.h", "recogniser_live.c"):
        (tmp_path / name).write_text(texts[name])
    command = ["g++", "-x", "c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-c", "recogniser_live.c"]
    subprocess.run(command, cwd=tmp_path, check=True)


def test_frames_are_kept_as_sums_where_chunks_and_hops_fit(small_live, exported):
    live, _, texts = exported
    plan, chunks = live.settings.plan, small_live.config.chunks
    assert plan.length % chunks == 0 and plan.block(chunks) > 1
    assert "float sums[" in texts["recogniser_live.h"] and "ring" not in texts["recogniser_live.h"]


@pytest.mark.parametrize(("length", "hop"), [(90, 6), (64, 6), (96, 2), (64, 8), (33, 1)])
def test_any_plan_gives_the_same_events(small_live, length, hop):
    """Plans of older runs too: a ring of frames, sums shared by two chunks, one frame a block."""
    live = load_live(small_live.run)
    plan = dataclasses.replace(live.settings.plan, length=length, hop=hop)
    rule = dataclasses.replace(live.settings.rule, threshold=0.3)
    live = LiveRecogniser(live.recogniser, dataclasses.replace(live.settings, plan=plan, rule=rule))
    files, texts = make_live_c(live)
    frames = small_live.data.validation[0].joints.copy() + np.float32(411.0)
    frames[0], frames[100:104, 3] = np.nan, np.inf
    assert _same(NativeLive(files, texts).events(frames), wanted := _events(live, frames))
    assert wanted


@pytest.mark.parametrize("number", ["int16", "int8"])
@pytest.mark.parametrize("to", ["c", "wasm"])
def test_fixed_point_gives_the_events_of_its_own_reference(small_live, tmp_path, number, to):
    if to == "wasm":
        pytest.importorskip("wasmtime")
    frames = small_live.data.validation[0].joints
    report = export_live(
        small_live.run, to, tmp_path, frames=frames, options=ExportOptions(aim="size", number=number)
    )
    assert report["number"] == number and report["events"] > 0
    assert report["events_moved_by_rounding"] == 0
    if to == "c":
        assert "int16_t" in (tmp_path / "recogniser.h").read_text()


def test_scores_that_are_not_the_references_are_refused(small_live, tmp_path, monkeypatch):
    frames = small_live.data.test[0].joints
    traced = NativeLive.traced
    monkeypatch.setattr(NativeLive, "traced", lambda self, f: (traced(self, f)[0], traced(self, f)[1] * 1.5))
    with pytest.raises(ExportError, match="was not written"):
        export_live(small_live.run, "c", tmp_path, frames=frames)
    assert not list(tmp_path.iterdir())
