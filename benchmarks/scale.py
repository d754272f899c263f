"""What each step costs a weight, from a hundred thousand to a hundred million of them, on one thread.

    python benchmarks/scale.py --out benchmarks/results/scale.json

The prior's penalty (value and gradient) with the fused passes and with torch alone; the exact threshold of a
layer, fused and with torch alone; the map that holds latents to the prior, likewise; the soft gate, there and
back, of free latents and of held ones, which go through a chart. Processor time, the least of several runs;
memory is the peak of resident pages above those before, less the gradient that the penalty returns, against
the weights' own four bytes.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from histogram import extra_memory
from torch import Tensor

from bandstop.engine.attach.parametrisation import BandStop
from bandstop.engine.select import topk
from bandstop.engine.select.topk import threshold_for
from bandstop.files import write_text
from bandstop.method import transport
from bandstop.method.chart import BASE
from bandstop.method.gate import Soft
from bandstop.method.histogram import soft
from bandstop.method.histogram.kl import Bins, kl_to_prior
from bandstop.method.priors import Laplace
from bandstop.method.transport import transport_
from bandstop.training.malloc import keep_freed_memory

PRIOR = Laplace(1.0)
BINS = Bins.covering(PRIOR)


def penalty(weights: Tensor) -> None:
    """The penalty and its gradient."""
    latent = weights.detach().requires_grad_()
    torch.autograd.grad(kl_to_prior([latent], PRIOR, BINS), latent)


def penalty_by_torch(weights: Tensor) -> None:
    """The same where numba is not installed."""
    with patch.object(soft, "_fused_passes", lambda: None):
        penalty(weights)


def threshold_by_torch(weights: Tensor) -> None:
    """The threshold as it is found where numba is not installed."""
    with patch.object(topk, "_compiled_kernel", lambda: None):
        threshold_for(weights, weights.numel() // 50)


def gate(weights: Tensor) -> None:
    """The gate's weights, and the gradient of its latents."""
    latent = weights.detach().requires_grad_()
    effective = Soft().scaled(latent, torch.tensor(0.5), torch.tensor(2.0), torch.tensor(1.0))
    torch.autograd.grad(effective, latent, grad_outputs=weights)


@cache
def charted(count: int) -> BandStop:
    """A gate that 2 % of gaussian coordinates pass."""
    band = BandStop(Soft(), torch.tensor(0.5), learn_gain=False)
    band.make_chart(PRIOR, count)
    band.set_levels(torch.tensor(2.3), 1.0, None)
    band.set_chart(1.0, 0.3, count)
    return band


def chart_and_gate(weights: Tensor) -> None:
    """The same of latents with gaussian coordinates."""
    latent = weights.detach().requires_grad_()
    torch.autograd.grad(charted(weights.numel())(latent), latent, grad_outputs=weights)


def hold_by_torch(weights: Tensor) -> None:
    """The map where numba is not installed."""
    with patch.object(transport, "_loops_for", lambda values: None):
        transport_(weights, BASE, 0.7)


GATES: dict[str, Callable[[Tensor], object]] = {"gate": gate, "gate, chart": chart_and_gate}
PATHS: dict[str, Callable[[Tensor], object]] = {
    "penalty, fused": penalty,
    "penalty, torch": penalty_by_torch,
    "threshold, fused": lambda weights: threshold_for(weights, weights.numel() // 50),
    "threshold, torch": threshold_by_torch,
    "hold, fused": lambda weights: transport_(weights, BASE, 0.7),
    "hold, torch": hold_by_torch,
    **GATES,
}


def measure(name: str, weights: Tensor, repeats: int) -> dict[str, Any]:
    """One path at one size."""
    run = PATHS[name]
    run(weights[:5000].clone())  # compile, import, fill caches
    # The gate's results, weights and their gradient, are part of the network, and so is the penalty's.
    memory = None if name in GATES else extra_memory(lambda: run(weights))
    if memory is not None and name.startswith("penalty"):
        memory = max(memory - 4 * weights.numel(), 0)
    times = []
    for _ in range(repeats):
        began = time.process_time()
        run(weights)
        times.append(time.process_time() - began)
    row = {
        "path": name,
        "weights": weights.numel(),
        "nanoseconds": round(min(times) / weights.numel() * 1e9, 3),
        "extra_bytes": memory,
        "extra_share": None if memory is None else round(memory / (4 * weights.numel()), 4),
    }
    print(json.dumps(row), flush=True)
    return row


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**5, 10**6, 10**7, 10**8])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for size in asked.sizes:
        weights = PRIOR.sample((size,), generator=torch.Generator().manual_seed(0))
        repeats = max(asked.repeats, min(50, 10**7 // size))
        rows += [measure(name, weights, repeats) for name in PATHS if name not in GATES]
        del weights
    # As in training: the gate's results are as large as the weights, and asked for at every step.
    keep_freed_memory()
    for size in asked.sizes:
        weights = BASE.sample((size,), generator=torch.Generator().manual_seed(0))
        rows += [measure(name, weights, max(asked.repeats, min(50, 10**7 // size))) for name in GATES]
    about = {
        "torch": torch.__version__,
        "machine": platform.machine(),
        "threads": 1,
        "bins": BINS.count,
        "load_average": round(os.getloadavg()[0], 2),
    }
    if asked.out:
        write_text(asked.out, json.dumps({"about": about, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
