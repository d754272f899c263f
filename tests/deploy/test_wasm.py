"""WebAssembly under wasmtime, in Node and in a headless browser."""

from __future__ import annotations

import http.server
import json
import subprocess
import threading
from functools import partial

import numpy as np
import pytest
import torch

from bandstop.deploy.run.wasm import WasmNetwork, javascript, to_wasm
from bandstop.deploy.verify import reference_scores, signals_of
from tests.deploy.nets_for_tests import c_files, make_model, sequences
from tests.needs import needs

MODEL = make_model(0.97)
HEADLESS = ("--headless", "--no-sandbox", "--disable-gpu")
PAGE = """<!doctype html><body><script type="module">
import { load } from "./recogniser.js";
const sequences = await (await fetch("sequences.json")).json();
const r = await load("recogniser.wasm");
document.body.textContent = JSON.stringify(sequences.map((s) => r.classify(s).index));
</script></body>"""


@pytest.mark.parametrize("aim", ["speed", "size"])
def test_under_wasmtime(aim):
    files = c_files(MODEL, aim=aim)
    running = WasmNetwork(to_wasm(files, size=aim == "size"), files)
    inputs = torch.randn(4, 21, 96).numpy()
    assert np.abs(running.network(inputs) - reference_scores(MODEL, inputs)).max() < 1e-5
    for raw, wanted in zip(sequences(), reference_scores(MODEL, signals_of(MODEL, sequences())), strict=True):
        answer, scores = running.stream(raw)
        assert answer == wanted.argmax()
        assert np.abs(scores - wanted).max() < 1e-5


def test_fixed_point_under_wasmtime():
    signals = signals_of(MODEL, sequences())
    files = c_files(MODEL, signals, number="int8")
    running = WasmNetwork(to_wasm(files, size=True), files)
    assert np.abs(running.network(signals) - reference_scores(MODEL, signals)).max() < 0.05


def test_module_needs_nothing():
    import wasmtime

    files = c_files(MODEL)
    module = wasmtime.Module(wasmtime.Engine(), to_wasm(files))
    assert list(module.imports) == []
    assert len(javascript(files).splitlines()) <= 36


def _site(folder):
    files = c_files(MODEL)
    (folder / "recogniser.wasm").write_bytes(to_wasm(files))
    (folder / "recogniser.js").write_text(javascript(files))
    (folder / "recogniser.mjs").write_text(javascript(files))
    raw = [s.reshape(len(s), -1).tolist() for s in sequences()]
    (folder / "sequences.json").write_text(json.dumps(raw))
    (folder / "index.html").write_text(PAGE)
    return reference_scores(MODEL, signals_of(MODEL, sequences())).argmax(1).tolist()


@needs("node", package="nodejs")
def test_loader_in_node(tmp_path):
    wanted = _site(tmp_path)
    (tmp_path / "run.mjs").write_text(
        'import { load } from "./recogniser.mjs"; import { readFileSync } from "node:fs";\n'
        'const r = await load(readFileSync("recogniser.wasm"));\n'
        'const all = JSON.parse(readFileSync("sequences.json", "utf8"));\n'
        "console.log(JSON.stringify(all.map((s) => r.classify(s).index)), r.names[0], r.classify([]).index);"
    )
    shown = subprocess.run(
        ["node", "run.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert shown.strip() == f"{json.dumps(wanted, separators=(',', ':'))} {MODEL.class_names[0]} -2"


@needs("node", package="nodejs")
def test_frames_of_two_axes_lie_in_a_plane_and_other_lengths_are_refused(tmp_path):
    _site(tmp_path)
    (tmp_path / "run.mjs").write_text(
        'import { load } from "./recogniser.mjs"; import { readFileSync } from "node:fs";\n'
        'const r = await load(readFileSync("recogniser.wasm"));\n'
        'const all = JSON.parse(readFileSync("sequences.json", "utf8")).find((s) => s.length > 3);\n'
        "const only = (f, axes) => f.filter((_, i) => i % 3 < axes);\n"
        "const flat = all.map((f) => f.map((v, i) => (i % 3 < 2 ? v : 0)));\n"
        "const same = (a, b) => JSON.stringify(a.scores) === JSON.stringify(b.scores);\n"
        "console.log(same(r.classify(flat), r.classify(all.map((f) => only(f, 2)))));\n"
        "const wrong = [(f) => only(f, 1), (f) => [...f, 0], () => null];\n"
        "for (const change of wrong)\n"
        "  try { console.log(r.classify(all.map((f, t) => (t === 3 ? change(f) : f)))); }\n"
        "  catch (e) { console.log(e.message); }\n"
        "console.log(r.classify(all).index >= 0);"
    )
    shown = subprocess.run(
        ["node", "run.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    rule = "frame 3 must hold 63 numbers (x, y, z of 21 joints) or 42 (x, y), found"
    assert shown.splitlines() == ["true", f"{rule} 21", f"{rule} 64", f"{rule} null", "true"]


@needs("chromium", package="chromium")
def test_loader_in_headless_chromium(tmp_path):
    wanted = _site(tmp_path)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript"}  # noqa: RUF012

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        command = ["chromium", *HEADLESS, "--virtual-time-budget=20000", "--dump-dom"]
        profile = f"--user-data-dir={tmp_path / 'profile'}"
        address = f"http://127.0.0.1:{server.server_port}/index.html"
        shown = subprocess.run(
            [*command, profile, address], capture_output=True, text=True, timeout=120
        ).stdout
    finally:
        server.shutdown()
    assert json.dumps(wanted, separators=(",", ":")) in shown, shown[-500:]
