"""Where a recogniser's memory goes, and what would make it smaller."""

from __future__ import annotations

from dataclasses import replace

from bandstop.deploy.c.files import CFiles
from bandstop.deploy.export import ExportOptions, make_c
from bandstop.deploy.ir.program import Floats
from bandstop.deploy.model import DeployModel
from bandstop.errors import ExportError
from bandstop.nets import GCN

__all__ = ["smaller_ram"]


def smaller_ram(model: DeployModel, files: CFiles, options: ExportOptions, inputs: Floats) -> list[str]:
    """What ``files`` would need less memory with: other options, measured, and other training settings."""
    found = []
    for words, changed in (
        ("--for size", replace(options, aim="size")),
        ("--number int8", replace(options, number="int8")),
    ):
        size = _state_bytes(model, changed, inputs)
        if size is not None and size < files.state_bytes:
            found.append(f"{words}: {size:,} bytes")
    normaliser = model.normaliser
    if normaliser is not None and normaliser.chunks > 16:
        signal = files.program.sizes[files.program.input]
        chunks = normaliser.chunks // 2
        found.append(f"a training with --chunks {chunks}: half of the signal's {4 * signal:,} bytes")
    if isinstance(model.net, GCN) and model.net.graph.combine == "concat":
        found.append(
            f"a training with --net.combine sum: less than the workspace's {files.work_bytes:,} bytes, which "
            "hold the features of all heads"
        )
    return found


def _state_bytes(model: DeployModel, options: ExportOptions, inputs: Floats) -> int | None:
    """Memory of the same network under other options; None where it cannot be exported so."""
    try:
        return make_c(model, options, inputs=inputs).state_bytes
    except ExportError:
        return None
