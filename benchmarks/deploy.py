"""Exported networks against the runtimes: `python benchmarks/deploy.py [--data DATA] [--nets DIR]`.

Trains what is missing in ``--nets`` (the 39 k and the 251 k GCN, each at 0, 55, 80, 95, 98 and 99 %; on the
embedded hands unless ``--data`` names others as for `bandstop train`), exports and compiles each network,
and times it beside the rivals, which live in environments of their own under ``--rivals`` (made on first
use). One core, batch 1, all in turns, medians. Results go to benchmarks/results/deploy.json after every
network, so that a stopped run goes on where it was (``--again`` measures anew); then the tables in
docs/deploy.md and README.md and the picture docs/deploy.png are made from them (``--table`` does only
that).
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
from pathlib import Path

import numpy as np
import torch
from deploy_race import ONE, one_core, race, save_network, versions
from deploy_table import write_all

from bandstop.cli.deploy_run import run_to_deploy
from bandstop.deploy import ExportOptions, make_c, signals_of, to_bytes
from bandstop.deploy.run.bare_metal import CORTEX_M4, chip_footprint
from bandstop.deploy.run.measure import TimedC, count_instructions
from bandstop.deploy.run.native import Native
from bandstop.deploy.verify import reference_scores

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "deploy.json"
CACHE = Path.home() / ".cache" / "bandstop"
NETS = [(size, rate) for size in ("39k", "251k") for rate in (0.0, 0.55, 0.8, 0.95, 0.98, 0.99)]


def net_folder(nets: Path, size: str, rate: float) -> Path:
    """Run folder of one network, such as ``39k-0.98``."""
    return nets / f"{size}-{f'{rate:.2f}' if rate else '0'}"


def train_missing(nets: Path, data: str, epochs: int) -> None:
    """`bandstop train` for every network that is not there yet."""
    for size, rate in NETS:
        out = net_folder(nets, size, rate)
        if (out / "metrics.json").exists():
            continue
        combine = "sum" if size == "39k" else "concat"
        command = [
            sys.executable,
            "-m",
            "bandstop",
            "train",
            data,
            "--preset",
            "empirical",
            "--net.kind",
            "gcn",
            "--net.combine",
            combine,
            "--out",
            str(out),
        ]
        command += ["--epochs", str(epochs), "--quiet", "--no-report"]
        command += ["--rate", str(rate)] if rate else []
        command += ["--resume"] if (out / "config.json").exists() else []
        print(" ".join(command[2:]), flush=True)
        subprocess.run(command, check=True, env={**os.environ, **ONE})


def measure_ours(model, inputs, wanted) -> tuple[dict[str, object], TimedC]:
    """Our own exports of one network, and the fast one made ready for the race."""
    start = time.perf_counter()
    fast = make_c(model)
    exported = time.perf_counter()
    native = Native(fast)
    compiled = time.perf_counter()
    small = make_c(model, ExportOptions(aim="size"))
    tiny = make_c(model, ExportOptions(number="int8"), inputs=inputs)
    float32, int8 = chip_footprint(small, CORTEX_M4), chip_footprint(tiny, CORTEX_M4)
    figures = {
        "largest_difference": float(np.abs(native.network(inputs) - wanted).max()),
        "instructions": count_instructions(fast),
        "macs": fast.program.macs,
        "plan": fast.plan.splitlines(),
        "export_seconds": round(exported - start, 2),
        "compile_seconds": round(compiled - exported, 2),
        "flash_float32": float32.flash,
        "ram_float32": float32.ram + float32.stack,
        "flash_int8": int8.flash,
        "ram_int8": int8.ram + int8.stack,
        "bytes_file": len(to_bytes(model)),
        "bytes_limit": int(2.5 * model.kept + 512),
    }
    return figures, TimedC(fast, inputs)


def measure(run: Path, rivals: Path, rounds: int, seconds: float) -> dict[str, object]:
    """Everything about one network."""
    # 16 inputs stay in the second-level cache, for rivals as for us.
    model, samples = run_to_deploy(run, most=16)
    weights = sum(p.numel() for p in model.net.parameters() if p.ndim > 1)
    inputs = signals_of(model, samples.sequences)
    wanted = reference_scores(model, inputs)
    ours, timed = measure_ours(model, inputs, wanted)
    with tempfile.TemporaryDirectory(prefix="bandstop-") as made:
        save_network(model, inputs, wanted, Path(made))
        found = race(timed, Path(made), rivals, rounds=rounds, seconds=seconds)
    ours |= found.pop("ours") | {"live_macs": json.loads((run / "metrics.json").read_text())["macs_live"]}
    return {"weights": weights, "kept": model.kept, "load": os.getloadavg()[0], "ours": ours, "rivals": found}


def machine() -> str:
    """Name of the processor."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    names = [line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, {platform.machine()}"


def main() -> None:
    """Measure what is not measured yet, then write tables and picture."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default="hands")
    parser.add_argument("--nets", type=Path, default=CACHE / "deploy_nets")
    parser.add_argument("--epochs", type=int, default=500)
    parser.add_argument("--rivals", type=Path, default=CACHE / "rivals")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.3, help="time of each rival in a round")
    parser.add_argument("--only", nargs="*", help="folders' names, such as 39k-0.98")
    parser.add_argument("--again", action="store_true", help="measure anew what is already measured")
    parser.add_argument("--table", action="store_true", help="only make tables and picture again")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"runs": {}}
    if not asked.table:
        train_missing(asked.nets, asked.data, asked.epochs)
        data = asked.data if asked.data == "hands" else Path(asked.data.split(":")[-1]).stem
        results |= {"machine": machine(), "versions": versions(asked.rivals), "data": data}
        results["command"] = f"python benchmarks/deploy.py --data {data} --rounds {asked.rounds}"
        one_core()
        for size, rate in NETS:
            run = net_folder(asked.nets, size, rate)
            if (asked.only and run.name not in asked.only) or (
                run.name in results["runs"] and not asked.again
            ):
                continue
            print(run.name, flush=True)
            results["runs"][run.name] = measure(run, asked.rivals, asked.rounds, asked.seconds)
            found = results["runs"][run.name]
            times = {n: round(r.get("microseconds", float("nan")), 1) for n, r in found["rivals"].items()}
            print(f"  ours {found['ours']['microseconds']:.3f} µs, {times}", flush=True)
            RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    write_all(results, HERE.parent)


if __name__ == "__main__":
    main()
