"""What each network of the frontier costs to run: `python benchmarks/frontier_costs.py STUDY…`.

STUDY is the folder of `bandstop study frontier-fpha` or `frontier-shrec`. Of every method and rate the run of
seed 0 is exported to C: for speed, compiled and timed in turns with ONNX Runtime (one core, medians),
and for size, linked for a Cortex-M4 (flash and RAM, float and int8). Results go to
benchmarks/results/frontier_costs.json after every network, so that a stopped run goes on where it was
(``--again`` measures anew); `python benchmarks/frontier_page.py` shows them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import torch
from deploy_race import Rival, one_core

from bandstop.cli.deploy_run import run_to_deploy
from bandstop.deploy import ExportOptions, make_c, signals_of, to_onnx
from bandstop.deploy.run.bare_metal import CORTEX_M4, chip_footprint
from bandstop.deploy.run.measure import TimedC
from bandstop.deploy.verify import reference_scores
from bandstop.files import write_text
from bandstop.study.results import ResultRow, read_results

RESULTS = Path(__file__).parent / "results" / "frontier_costs.json"
METHODS = ("dense", "pmp", "joined")


def wanted_runs(studies: Sequence[Path]) -> list[tuple[Path, ResultRow]]:
    """Run folders of seed 0 of every method and rate; those whose folder is gone are left out."""
    found = []
    for study in studies:
        for row in read_results([study]):
            folder = study / "runs" / row.id
            if row.seed == 0 and row.method in METHODS and row.variant == "default" and folder.is_dir():
                found.append((folder, row))
    return found


def measure(run: Path, *, rounds: int, seconds: float) -> dict[str, Any]:
    """Time, flash and RAM of one network."""
    # 16 inputs stay in the second-level cache, for ONNX Runtime as for us.
    model, samples = run_to_deploy(run, most=16)
    inputs = signals_of(model, samples.sequences)
    wanted = reference_scores(model, inputs)
    ours = TimedC(make_c(model), inputs)
    sizes = {}
    for number, given in (("float32", None), ("int8", inputs)):
        made = make_c(model, ExportOptions(aim="size", number=number), inputs=given)  # type: ignore[arg-type]
        chip = chip_footprint(made, CORTEX_M4)
        sizes |= {f"flash_{number}": chip.flash, f"ram_{number}": chip.ram + chip.stack}
    with tempfile.TemporaryDirectory(prefix="bandstop-") as made_in:
        work = Path(made_in)
        (work / "model.onnx").write_bytes(to_onnx(model, batch=1))
        np.save(work / "inputs.npy", inputs)
        np.save(work / "wanted.npy", wanted)
        theirs = Rival(Path(sys.executable), "ort.py", work)
        times: list[tuple[float, float]] = []
        for _ in range(rounds):
            times.append((ours.latency().median / 1000, theirs.microseconds(seconds)))
        theirs.close()
    mine, runtime = (statistics.median(column) for column in zip(*times, strict=True))
    return {
        "kept": model.kept,
        "microseconds": mine,
        "onnx_runtime_microseconds": runtime,
        "onnx_runtime_difference": theirs.difference,
        "load": os.getloadavg()[0],
        **sizes,
    }


def machine() -> str:
    """Name of the processor."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    names = [line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor()


def main() -> None:
    """Measure what is not measured yet."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("studies", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.3, help="time of ONNX Runtime in a round")
    parser.add_argument("--again", action="store_true", help="measure anew what is already measured")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    one_core()
    results = json.loads(asked.out.read_text(encoding="utf-8")) if asked.out.is_file() else {"runs": {}}
    results |= {"machine": machine(), "rounds": asked.rounds, "versions": metadata.version("onnxruntime")}
    for folder, row in wanted_runs(asked.studies):
        if row.id in results["runs"] and not asked.again:
            continue
        about = {"data": row.data, "method": row.method, "rate": row.rate, "accuracy": row.accuracy}
        found = about | measure(folder, rounds=asked.rounds, seconds=asked.seconds)
        results["runs"][row.id] = found
        write_text(asked.out, json.dumps(results, indent=1, ensure_ascii=False) + "\n")
        mine, runtime = found["microseconds"], found["onnx_runtime_microseconds"]
        print(f"{row.id}: {mine:.2f} µs, ONNX Runtime {runtime:.1f} µs, {runtime / mine:.1f}×", flush=True)


if __name__ == "__main__":
    main()
