"""Time and memory of the prior's penalty, value and gradient, on one thread.

python benchmarks/histogram.py --out benchmarks/results/histogram.json
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import re
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from unittest.mock import patch

import torch
from torch import Tensor

from bandstop.files import write_text
from bandstop.method.histogram import soft
from bandstop.method.histogram.kl import Bins, kl_divergence, kl_to_prior
from bandstop.method.priors import Laplace

PRIOR = Laplace(1.0)
BINS = Bins.covering(PRIOR)
LITERAL_UP_TO = 200_000  # beyond, n × K numbers no longer fit beside everything else


def literal(weights: Tensor) -> None:
    """The formula as it is written, through autograd: n × K numbers."""
    latent = weights.detach().requires_grad_()
    p, q = PRIOR.bin_probabilities(BINS.edges()).float(), BINS.centres().float()
    counts = torch.exp(-(((latent[:, None] - q) / (BINS.width / 2)) ** 2)).sum(0)
    (slope,) = torch.autograd.grad(kl_divergence(p, counts / counts.sum()), latent)
    weights.grad = slope


def fused(weights: Tensor) -> None:
    """As a term of the loss."""
    latent = weights.detach().requires_grad_()
    (weights.grad,) = torch.autograd.grad(kl_to_prior([latent], PRIOR, BINS), latent)


def by_torch(weights: Tensor) -> None:
    """The same where numba is not installed."""
    with patch.object(soft, "_fused_passes", lambda: None):
        fused(weights)


PATHS: dict[str, Callable[[Tensor], object]] = {
    "literal": literal,
    "torch, autograd": by_torch,
    "fused, autograd": fused,
}


def extra_memory(run: Callable[[], object]) -> int | None:
    """Peak resident bytes during ``run`` above those before it (Linux only)."""

    def resident(field: str) -> int:
        found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
        return int(found[1]) * 1024 if found else 0

    gc.collect()
    try:
        before = resident("VmRSS")
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak so far
        run()
        return max(0, resident("VmHWM") - before)
    except OSError:
        return None


@dataclass(frozen=True)
class Row:
    """One path at one size; times are medians,
    and the speed-up is one of processor time (others may be at work).
    """

    path: str
    weights: int
    seconds: float
    processor_seconds: float
    extra_bytes: int | None
    speed_up: float | None = None

    def __str__(self) -> str:
        gain = "" if self.speed_up is None else f"{self.speed_up:.0f}×"
        memory = ""
        if self.extra_bytes is not None:
            memory = f"{self.extra_bytes / 1e6:.1f} MB ({self.extra_bytes / (4 * self.weights):.1%})"
        times = (1e9 * seconds / self.weights for seconds in (self.seconds, self.processor_seconds))
        return (
            f"{self.weights:>12,} {self.path:<16}"
            + "".join(f"{t:>13.2f}" for t in times)
            + f"{gain:>9} {memory:>20}"
        )


def measure(name: str, size: int, repeats: int) -> Row:
    """Wall and processor time of one path at one size, and its extra memory."""
    weights = PRIOR.sample((size,), generator=torch.Generator().manual_seed(0))
    run = PATHS[name]
    small = weights[:1000].clone()
    small.grad = torch.zeros_like(small)
    run(small)  # compile, import, fill caches
    weights.grad = torch.rand_like(weights)
    memory = extra_memory(lambda: run(weights))
    wall, processor = [], []
    for _ in range(repeats):
        start = time.perf_counter(), time.process_time()
        run(weights)
        wall.append(time.perf_counter() - start[0])
        processor.append(time.process_time() - start[1])
    return Row(name, size, statistics.median(wall), statistics.median(processor), memory)


def main() -> None:
    """Measure, print a table, write it as JSON if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[200_000, 1_000_000, 25_000_000])
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--out", type=Path, help="write the table to this JSON file")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{'weights':>12} {'path':<16}{'ns a weight':>13}{'processor':>13}{'speed-up':>9} {'memory':>20}")
    rows: list[Row] = []
    for size in options.sizes:
        reference = None
        for name in PATHS:
            if name == "literal" and size > LITERAL_UP_TO:
                continue
            row = measure(name, size, max(3, options.repeats // 3) if name == "literal" else options.repeats)
            reference = row.processor_seconds if name == "literal" else reference
            rows.append(replace(row, speed_up=reference / row.processor_seconds if reference else None))
            print(rows[-1], flush=True)
    if options.out:
        about = {
            "torch": torch.__version__,
            "python": platform.python_version(),
            "threads": 1,
            "bins": BINS.count,
            "load_average": os.getloadavg()[0],
        }
        write_text(
            options.out, json.dumps({"about": about, "rows": [asdict(r) for r in rows]}, indent=2) + "\n"
        )


if __name__ == "__main__":
    main()
