"""Every way to run a finished network on this machine, side by side: size, memory, latency, instructions."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

import numpy as np
import torch

from bandstop.deploy.c.files import CFiles
from bandstop.deploy.export import ExportOptions, make_c
from bandstop.deploy.ir.program import Floats
from bandstop.deploy.model import DeployModel
from bandstop.deploy.onnx.file import onnx_runner, to_onnx
from bandstop.deploy.packed.file import to_bytes
from bandstop.deploy.run.bare_metal import CORTEX_M4, chip_footprint
from bandstop.deploy.run.measure import count_instructions, time_c
from bandstop.deploy.run.wasm import WasmNetwork, to_wasm
from bandstop.errors import BandstopError

__all__ = ["Row", "bench_model", "median_microseconds", "table"]


@dataclass(frozen=True)
class Row:
    """One way to run the network; None where a figure does not apply or a tool is missing."""

    path: str = ""
    microseconds: float | None = None
    instructions: int | None = None
    file_bytes: int | None = None
    flash_bytes: int | None = None
    ram_bytes: int | None = None
    note: str = ""

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def median_microseconds(run: Callable[[Floats], object], inputs: Floats, *, seconds: float = 1.0) -> float:
    """Median time of ``run`` on one input at a time."""
    for row in inputs[:20]:
        run(row[None])
    spent, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        for row in inputs:
            one = row[None]
            start = time.perf_counter_ns()
            run(one)
            spent.append(time.perf_counter_ns() - start)
    return float(np.median(spent)) / 1000


def bench_model(
    model: DeployModel, inputs: Floats, *, seconds: float = 1.0, show: Callable[[str], None] = lambda _: None
) -> list[Row]:
    """Measure every export and every runtime that is installed here; one thread.

    ``show`` is called with the name of each before it is measured.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        makers: dict[str, Callable[[], Row]] = {
            "C for speed": lambda: _c_row(model, inputs, ExportOptions()),
            "C for size": lambda: _c_row(model, inputs, ExportOptions(aim="size")),
            "C int8": lambda: _c_row(model, inputs, ExportOptions(aim="size", number="int8")),
            "C int16": lambda: _c_row(model, inputs, ExportOptions(aim="size", number="int16")),
            "WebAssembly": lambda: _wasm_row(model, inputs, seconds),
            "bytes": lambda: Row(file_bytes=len(to_bytes(model))),
            "ONNX Runtime": lambda: _onnx_row(model, inputs, seconds),
            "PyTorch": lambda: _torch_row(model, inputs, seconds),
        }
        return [_attempt(name, maker, show) for name, maker in makers.items()]
    finally:
        torch.set_num_threads(threads)


def _attempt(name: str, maker: Callable[[], Row], show: Callable[[str], None]) -> Row:
    show(name)
    try:
        return replace(maker(), path=name)
    except BandstopError as problem:
        return Row(name, note=str(problem))


def _c_row(model: DeployModel, inputs: Floats, options: ExportOptions) -> Row:
    files = make_c(model, options, inputs=inputs)
    flash, ram = _chip(model, files)
    return Row(
        microseconds=time_c(files, inputs).median / 1000,
        instructions=count_instructions(files),
        file_bytes=len(files.source) + len(files.header),
        flash_bytes=flash,
        ram_bytes=ram,
    )


def _chip(model: DeployModel, files: CFiles) -> tuple[int | None, int | None]:
    if model.normaliser is None:
        return None, None
    taken = chip_footprint(files, CORTEX_M4)
    return taken.flash, taken.ram + taken.stack


def _wasm_row(model: DeployModel, inputs: Floats, seconds: float) -> Row:
    files = make_c(model)
    module = to_wasm(files)
    spent = median_microseconds(WasmNetwork(module, files).network, inputs, seconds=seconds)
    return Row(microseconds=spent, file_bytes=len(module), note="calls from Python included")


def _onnx_row(model: DeployModel, inputs: Floats, seconds: float) -> Row:
    data = to_onnx(model, batch=1)
    spent = median_microseconds(onnx_runner(data), inputs, seconds=seconds)
    return Row(microseconds=spent, file_bytes=len(data))


def _torch_row(model: DeployModel, inputs: Floats, seconds: float) -> Row:
    net = model.net.eval()

    def run(row: Floats) -> object:
        return net(torch.from_numpy(row))

    with torch.inference_mode():
        size = sum(v.numel() * v.element_size() for v in net.state_dict().values())
        return Row(microseconds=median_microseconds(run, inputs, seconds=seconds), file_bytes=size)


def table(rows: list[Row]) -> str:
    """The rows as a Markdown table."""
    head = "| path | µs | instructions | file, bytes | flash on Cortex-M4 | RAM on Cortex-M4 |"
    lines = [head, "|---|---:|---:|---:|---:|---:|"]
    for row in rows:
        time_text = "" if row.microseconds is None else f"{row.microseconds:.3g}"
        numbers = (row.instructions, row.file_bytes, row.flash_bytes, row.ram_bytes)
        cells = [row.path, time_text, *("" if n is None else f"{n:,}" for n in numbers)]
        lines.append(f"| {' | '.join(cells)} |" + (f" {row.note}" if row.note else ""))
    return "\n".join(lines)
