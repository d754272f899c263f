"""The rivals' environments, and the race: all programs are made ready, then timed in turns."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np

from bandstop.deploy import to_onnx
from bandstop.deploy.lower import folded
from bandstop.deploy.lower.batchnorm import array
from bandstop.deploy.run.measure import TimedC
from bandstop.deploy.run.toolchain import FAST, native_compiler

SCRIPTS = Path(__file__).parent / "deploy_rivals"
RIVALS = {
    "PyTorch": ("pytorch.py", "", None),
    "ONNX Runtime": ("ort.py", "onnx-runtime", ["onnxruntime"]),
    "OpenVINO": ("ov.py", "openvino", ["openvino", "numpy"]),
    "LiteRT": ("litert.py", "litert", ["ai-edge-torch", "ai-edge-litert"]),
    "ExecuTorch": ("et.py", "executorch", ["executorch", "torch==2.13.0", "numpy"]),
    "emx-onnx-cgen": ("emx.py", "emx", ["emx-onnx-cgen", "numpy"]),
}
ONE = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS")}


def environment(folder: Path, name: str, place: str, packages: list[str] | None) -> Path | None:
    """Python of a rival's environment, made if needed; None if it cannot be."""
    if packages is None:
        return Path(sys.executable)
    python = folder / place / "bin" / "python"
    if not (folder / place / "ready").exists():
        if not python.exists():
            venv.create(folder / place, with_pip=True, symlinks=True)
        command = [python, "-m", "pip", "install", "-q", *packages]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{name}: left out, cannot be installed: {done.stderr.strip().splitlines()[-1][:200]}")
            return None
        (folder / place / "ready").touch()
    return python


def versions(folder: Path) -> dict[str, str]:
    """Which version of each rival took part."""
    ask = "import importlib.metadata as m,sys;print(m.version(sys.argv[1]))"
    found = {}
    for name, (_, place, packages) in RIVALS.items():
        python = folder / place / "bin" / "python" if packages else Path(sys.executable)
        package = {"LiteRT": "ai-edge-litert"}.get(name, packages[0] if packages else "torch")
        done = subprocess.run([python, "-c", ask, package], capture_output=True, text=True, check=False)
        found[name] = done.stdout.strip() or "not installed"
    return found


def save_network(model, inputs, wanted, work: Path) -> None:
    """What the rivals start from: the ONNX file, or the folded network's arrays.

    Inputs, and PyTorch's scores for them.
    """
    (work / "model.onnx").write_bytes(to_onnx(model, batch=1))
    np.save(work / "inputs.npy", inputs)
    np.save(work / "wanted.npy", wanted)
    plain = folded(model.net)
    if plain.dense is not None:
        raise SystemExit("the benchmark covers GCNs without a dense layer")
    np.savez(
        work / "weights.npz",
        encoder=array(plain.encoder.weight),
        encoder_offset=array(plain.encoder_norm.bias),
        adjacency=array(plain.graph.adjacency),
        filters=array(plain.graph.filters),
        graph_offset=array(plain.graph_norm.bias),
        classifier=array(plain.classifier.weight),
        class_offset=array(plain.classifier.bias),
    )


class Rival:
    """A rival's process on one core: it converts the network, then times itself whenever asked."""

    def __init__(self, python: Path, script: str, work: Path) -> None:
        command = [python, SCRIPTS / script, work, *native_compiler(), *FAST]
        self.log = work / f"{script}.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, **ONE},
                preexec_fn=one_core,
            )
        self.difference = self._answer()["largest_difference"]

    def _answer(self) -> dict[str, float]:
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        lines = [row for row in self.log.read_text().splitlines() if row.strip()]
        raise RuntimeError(lines[-1][:200] if lines else "no answer")

    def microseconds(self, seconds: float) -> float:
        print(seconds, file=self.process.stdin, flush=True)
        return self._answer()["microseconds"]

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=20)


def one_core() -> None:
    """Bind this process to one core: a runtime that ignores its thread settings still has but one."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def race(ours: TimedC, work: Path, rivals: Path, *, rounds: int, seconds: float) -> dict[str, dict]:
    """Median over ``rounds`` of every program's own medians, all taking turns.

    A rival that fails says why.
    """
    ready: dict[str, Rival] = {}
    found: dict[str, dict] = {}
    for name, (script, place, packages) in RIVALS.items():
        python = environment(rivals, name, place, packages)
        if python is None:
            continue
        try:
            ready[name] = Rival(python, script, work)
        except (RuntimeError, ValueError, OSError) as problem:
            found[name] = {"failed": str(problem)}
            print(f"  {name} failed: {problem}", flush=True)
    times: dict[str, list[float]] = {name: [] for name in ("ours", *ready)}
    for _ in range(rounds):
        times["ours"].append(ours.latency().median / 1000)
        for name, rival in ready.items():
            times[name].append(rival.microseconds(seconds))
    for name, rival in ready.items():
        rival.close()
        found[name] = {
            "microseconds": statistics.median(times[name]),
            "largest_difference": rival.difference,
        }
    found["ours"] = {"microseconds": statistics.median(times["ours"]), "rounds": times["ours"]}
    return found
