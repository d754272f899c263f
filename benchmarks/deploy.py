"""Exported networks against the runtimes, in one run: `python benchmarks/deploy.py RUN… [--rivals DIR] [--seconds S]`.

Each RUN is a run folder of a GCN (trained at 0, 55, 80, 95, 98, 99 %, say). Rivals live in environments of their own under
``--rivals`` (made on first use, outside of this tree); one that cannot be installed is named and left out. One thread, batch 1,
medians; every rival's answers are compared with PyTorch's. Results go to benchmarks/results/deploy.json after every
measurement, so that a stopped run goes on where it was; `--table` rewrites the table in docs/deploy.md from them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import numpy as np
import torch

from bandstop.deploy.bare_metal import CORTEX_M4, chip_footprint
from bandstop.deploy.bytes_file import to_bytes
from bandstop.deploy.c_fixed import fixed_files
from bandstop.deploy.c_source import c_files
from bandstop.deploy.folded import folded_net
from bandstop.deploy.folding import array, norm_affine
from bandstop.deploy.from_run import model_of_run, samples_of_run
from bandstop.deploy.instructions import count_instructions
from bandstop.deploy.native import Native
from bandstop.deploy.onnx_file import to_onnx
from bandstop.deploy.timing import time_c
from bandstop.deploy.toolchain import FAST, native_compiler
from bandstop.deploy.verify import reference_scores, signals_of
from bandstop.nets.gcn import GCN

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "deploy.json"
RIVALS = {
    "PyTorch": ("pytorch.py", None),
    "ONNX Runtime": ("ort.py", ["onnxruntime"]),
    "OpenVINO": ("ov.py", ["openvino", "numpy"]),
    "LiteRT": ("litert.py", ["ai-edge-torch", "ai-edge-litert"]),
    "ExecuTorch": ("et.py", ["executorch", "torch"]),
    "emx-onnx-cgen": ("emx.py", ["emx-onnx-cgen", "numpy"]),
}


def environment(folder: Path, name: str, packages: list[str] | None) -> Path | None:
    """Python of a rival's environment, made if needed; None if it cannot be."""
    if packages is None:
        return Path(sys.executable)
    place = folder / name.lower().replace(" ", "-")
    python = place / "bin" / "python"
    if not (place / "ready").exists():
        venv.create(place, with_pip=True, clear=True)
        done = subprocess.run(
            [python, "-m", "pip", "install", "-q", *packages], capture_output=True, text=True
        )
        if done.returncode:
            print(f"{name}: left out, cannot be installed: {done.stderr.strip().splitlines()[-1][:200]}")
            return None
        (place / "ready").touch()
    return python


def save_weights(net: GCN, path: Path) -> None:
    """The folded network's arrays for runtimes that start from PyTorch."""
    plain = folded_net(net)
    if plain.dense is not None:
        raise SystemExit("the benchmark covers GCNs without a dense layer")
    offsets = {n: norm_affine(getattr(plain, n), n)[1] for n in ("encoder_norm", "graph_norm")}
    np.savez(
        path,
        encoder=array(plain.encoder.weight),
        encoder_offset=offsets["encoder_norm"],
        adjacency=array(plain.graph.adjacency),
        filters=array(plain.graph.filters),
        graph_offset=offsets["graph_norm"],
        classifier=array(plain.classifier.weight),
        class_offset=array(plain.classifier.bias),
    )


def measure_rivals(model, inputs, wanted, folder: Path, seconds: float) -> dict[str, object]:
    """Latency of every rival on one network."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="bandstop-") as made:
        work = Path(made)
        (work / "model.onnx").write_bytes(to_onnx(model, batch=1))
        np.save(work / "inputs.npy", inputs)
        np.save(work / "wanted.npy", wanted)
        save_weights(model.net, work / "weights.npz")
        settings = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        for name, (script, packages) in RIVALS.items():
            python = environment(folder, name, packages)
            if python is None:
                continue
            command = [python, HERE / "deploy_rivals" / script, work, str(seconds), *native_compiler(), *FAST]
            done = subprocess.run(command, capture_output=True, text=True, env=settings)
            try:
                found[name] = json.loads(done.stdout.strip().splitlines()[-1])
            except (IndexError, ValueError):
                found[name] = {"failed": (done.stderr.strip().splitlines() or ["no answer"])[-1][:200]}
            print(f"  {name}: {found[name]}", flush=True)
    return found


def measure_ours(model, inputs, wanted) -> dict[str, object]:
    """Our own exports of one network."""
    start = time.perf_counter()
    fast = c_files(model)
    exported = time.perf_counter() - start
    native = Native(fast)
    compiled = time.perf_counter() - start - exported
    latency = time_c(fast, inputs)
    small, tiny = c_files(model, aim="size"), fixed_files(model, inputs, bits=8)
    float32, int8 = chip_footprint(small, CORTEX_M4), chip_footprint(tiny, CORTEX_M4)
    kept = sum(int((p != 0).sum()) for p in model.net.parameters() if p.ndim > 1)
    return {
        "microseconds": latency.median / 1000,
        "fastest_microseconds": latency.fastest / 1000,
        "largest_difference": float(np.abs(native.network(inputs) - wanted).max()),
        "instructions": count_instructions(fast),
        "macs": fast.program.macs,
        "plan": fast.plan.splitlines(),
        "export_seconds": round(exported, 2),
        "compile_seconds": round(compiled, 2),
        "flash_float32": float32.flash,
        "ram_float32": float32.ram,
        "flash_int8": int8.flash,
        "ram_int8": int8.ram,
        "bytes_file": len(to_bytes(model)),
        "bytes_limit": int(2.5 * kept + 512),
        "kept": kept,
    }


def main() -> None:
    """Measure what is not measured yet, then write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="*", type=Path)
    parser.add_argument("--rivals", type=Path, default=Path.home() / ".cache" / "bandstop" / "rivals")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--again", action="store_true", help="measure anew what is already measured")
    parser.add_argument("--table", action="store_true", help="rewrite the table in docs/deploy.md")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    RESULTS.parent.mkdir(exist_ok=True)
    results = (
        json.loads(RESULTS.read_text())
        if RESULTS.exists()
        else {"machine": platform.processor() or platform.machine(), "runs": {}}
    )
    for run in asked.runs:
        model = model_of_run(run)
        weights = sum(p.numel() for p in model.net.parameters() if p.ndim > 1)
        kept = sum(int((p != 0).sum()) for p in model.net.parameters() if p.ndim > 1)
        key = f"{round(weights / 1000)} k, {100 * (1 - kept / weights):.1f} %"
        if key in results["runs"] and not asked.again:
            print(f"{key}: measured already")
            continue
        print(key, flush=True)
        samples = samples_of_run(
            run, most=16
        )  # 16 inputs stay in the second-level cache, for rivals as for us
        inputs = signals_of(model, samples.sequences)
        wanted = reference_scores(model, inputs)
        ours = measure_ours(model, inputs, wanted)
        print(f"  ours: {ours['microseconds']:.3f} µs", flush=True)
        rivals = measure_rivals(model, inputs, wanted, asked.rivals, asked.seconds)
        results["runs"][key] = {"weights": weights, "kept": kept, "ours": ours, "rivals": rivals}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    if asked.table:
        from deploy_table import write_table

        write_table(results, HERE.parent / "docs" / "deploy.md")


if __name__ == "__main__":
    main()
