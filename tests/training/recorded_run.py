"""Short trainings of the embedded hands and their exports, as digests: `python tests/training/recorded_run.py
> recorded_run.json`.

Run in a process of its own, whose libraries are held to instructions that every x86-64 processor has: the
bits then do not depend on the machine.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

RECORD = Path(__file__).with_suffix(".json")

SAME_EVERYWHERE = {
    "ATEN_CPU_CAPABILITY": "default",
    "MKL_CBWR": "COMPATIBLE",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    "NUMBA_CPU_NAME": "x86-64",
    "NUMBA_CPU_FEATURES": "",
    "OMP_NUM_THREADS": "1",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
}

TRAININGS = {
    "98 %": "--rate 0.98 --net.kind gcn --epochs 4 --preset empirical",
    "held": "--rate 0.98 --net.kind gcn --epochs 4",
    "many rates": "--rates 0.8:0.99 --net.kind gcn --epochs 4",
    "paper": "--rate 0.98 --preset paper-literal --epochs 4",
    "rigl": "--rate 0.98 --method rigl --net.kind gcn --epochs 4",
    "motion, MACs": "--macs 9000 --signal motion --net.kind gcn --epochs 3 --preset empirical",
    "lstm, KL": "--rate 0.9 --net.kind lstm --prune.kl 3 --epochs 2 --preset empirical",
    "default network": "--rate 0.98 --epochs 2",
}

EXPORTS = {
    "98 %": [
        "--to c",
        "--to c --for size",
        "--to c --number int8 --open-ended",
        "--to c --number int16",
        "--to onnx",
        "--to bytes",
    ],
    "motion, MACs": ["--to c --open-ended", "--to c --for size --number int8", "--to bytes"],
    "lstm, KL": ["--to c", "--to c --for size"],
    "default network": ["--to c", "--to c --number int8 --open-ended", "--to onnx", "--to bytes"],
}


def recorded() -> dict[str, Any]:
    """What was recorded."""
    return dict(json.loads(RECORD.read_text()))


def made_now() -> dict[str, Any]:
    """The same by the code as it is."""
    done = subprocess.run(
        [sys.executable, __file__], env={**os.environ, **SAME_EVERYWHERE}, capture_output=True, text=True
    )
    if done.returncode:
        raise AssertionError(done.stderr)
    return dict(json.loads(done.stdout))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _run(words: str, out: Path) -> None:
    from bandstop.cli import main

    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main([*words.split(), "--out", str(out)])
    if code:
        raise SystemExit(f"bandstop {words}: {said.getvalue()}")


def _weights(path: Path) -> dict[str, str]:
    from safetensors.numpy import load_file

    return {name: _digest(value.tobytes()) for name, value in sorted(load_file(path).items())}


def _record(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, (name, words) in enumerate(TRAININGS.items()):
        run = folder / str(number)
        _run(f"train hands {words} --no-report --quiet", run)
        metrics = json.loads((run / "metrics.json").read_text())
        found[name] = {
            "accuracy": metrics["accuracy"],
            "kept": metrics["weights_kept"],
            "weights": _weights(run / "model.safetensors"),
        }
        for place, wanted in enumerate(EXPORTS.get(name, [])):
            out = folder / f"{number}-{place}"
            _run(f"export {run} {wanted}", out)
            files = sorted(path for path in out.rglob("*") if path.is_file() and path.suffix != ".json")
            found[name][wanted] = {
                path.relative_to(out).as_posix(): _digest(path.read_bytes()) for path in files
            }
    return found


if __name__ == "__main__":
    if platform.machine() != "x86_64":
        raise SystemExit("recorded on x86-64")
    if all(os.environ.get(name) == value for name, value in SAME_EVERYWHERE.items()):
        with tempfile.TemporaryDirectory() as temporary:
            print(json.dumps(_record(Path(temporary)), indent=1))
    else:
        print(json.dumps(made_now(), indent=1))
