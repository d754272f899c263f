"""How long it takes to fix the mask of a network under a budget of multiply-accumulates, on one thread.

    python benchmarks/mac_freeze.py --out benchmarks/results/mac_freeze.json --tree now

ResNet-18 and ViT-tiny at shares of their dense MACs. Latents are as they start, or as a training may leave
them: channels of very different sizes, so that many connections lead nowhere. Processor time; rows are
written as they are found, and those that are there are not measured again. ``--tree`` names the version, to
set another one beside this.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
import warnings
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from vision_nets import ResNet18, ViTTiny

from bandstop import Budget, Pruner, trace
from bandstop.engine.trace.tracer import Tracer
from bandstop.files import write_text

NETS: dict[str, type[nn.Module]] = {"ResNet-18": ResNet18, "ViT-tiny": ViTTiny}
SHARES = (0.5, 0.1, 0.02)
LATENTS = ("at the start", "uneven")


def uneven(pruner: Pruner) -> None:
    """Scale the latents of each output and input by a random factor, most of them small."""
    draw = torch.Generator().manual_seed(1)
    for layer in pruner.layers:
        latent = layer.latent.data
        for dim in (0, 1):
            shape = [n if i == dim else 1 for i, n in enumerate(latent.shape)]
            latent *= torch.randn(shape, generator=draw).exp()


def measure(net: str, share: float, latents: str) -> dict[str, Any]:
    """Fix one mask."""
    torch.manual_seed(0)
    model, example = NETS[net](), torch.zeros(1, 3, 224, 224)
    dense = trace(model, example).macs_dense
    asked = round(share * dense)
    began = time.process_time()
    pruner = Pruner(model, Budget.macs(asked), steps=100, example=example)
    attached = time.process_time() - began
    if latents == "uneven":
        uneven(pruner)
    traces, run = 0, Tracer.__init__

    def counted(*values: Any, **options: Any) -> None:
        nonlocal traces
        traces += 1
        run(*values, **options)

    with patch.object(Tracer, "__init__", counted):
        began = time.process_time()
        pruner.freeze()
        taken = time.process_time() - began
    outcome = pruner.outcome()
    return {
        "net": net,
        "share": share,
        "latents": latents,
        "attach_seconds": round(attached, 2),
        "freeze_seconds": round(taken, 2),
        "traces": traces,
        "kept": outcome.kept,
        "live": outcome.live,
        "macs": outcome.macs,
        "macs_asked": asked,
    }


def main() -> None:
    """Measure what is missing, print and write it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tree", default="now", help="name of the version that is measured")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    result = json.loads(asked.out.read_text()) if asked.out.is_file() else {"rows": []}
    result["about"] = {"torch": torch.__version__, "machine": platform.machine(), "threads": 1}
    done = {(row["tree"], row["net"], row["share"], row["latents"]) for row in result["rows"]}
    for net in NETS:
        for share in SHARES:
            for latents in LATENTS:
                if (asked.tree, net, share, latents) in done:
                    continue
                row = {"tree": asked.tree, **measure(net, share, latents)}
                print(json.dumps(row), flush=True)
                result["rows"].append(row)
                write_text(asked.out, json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
