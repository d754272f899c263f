"""One door to every export: make it, check it against the network, only then write it, and say what was found."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy.c.files import Aim, CFiles, c_files
from bandstop.deploy.c.fixed import fixed_files
from bandstop.deploy.c_export import check_c, check_open_ended
from bandstop.deploy.model import DeployModel
from bandstop.deploy.onnx.file import onnx_runner, to_onnx
from bandstop.deploy.packed.file import Values, from_bytes, to_bytes
from bandstop.deploy.run.wasm import WasmNetwork, javascript, to_wasm
from bandstop.deploy.verify import Floats, agreement, check, reference_scores, signals_of
from bandstop.errors import ExportError

__all__ = ["ExportOptions", "Number", "Target", "export_model"]

Target = Literal["c", "onnx", "wasm", "bytes"]
Number = Literal["float32", "int16", "int8"]
CALIBRATION = 256


@dataclass(frozen=True)
class ExportOptions:
    """How to export."""

    aim: Aim = "speed"
    """C and WebAssembly: fastest, or smallest."""
    number: Number = "float32"
    """C and WebAssembly: float32, or fixed point for devices without floating point."""
    name: str = "recogniser"
    """Prefix of files and functions."""
    open_ended: bool = False
    """C and WebAssembly: also take frames without a known end (16 kB more memory)."""
    sparse: bool = False
    """ONNX: sparse initialisers."""
    values: Values = "8-bit"
    """bytes: how weights are stored."""
    least_agreement: float = 0.9
    """Lossy forms (int8, int16, bytes): refuse below this share of equal classes."""


@dataclass
class _Job:
    model: DeployModel
    options: ExportOptions
    sequences: Sequence[Floats]
    inputs: Floats
    labels: NDArray[np.int64] | None
    files: dict[str, bytes] = field(default_factory=dict)
    report: dict[str, object] = field(default_factory=dict)

    def compare(self, what: str, found: Floats, *, exact: bool) -> None:
        wanted = reference_scores(self.model, self.inputs)
        limits = (
            {"tolerance": 1e-4, "classes": 1.0}
            if exact
            else {"tolerance": np.inf, "classes": self.options.least_agreement}
        )
        self.report["agreement"] = check(what, lambda _: found, self.inputs, wanted, **limits).as_dict()
        if self.labels is not None:
            pairs = {"network": wanted, "export": found}
            self.report["accuracy"] = {
                k: float((v.argmax(1) == self.labels).mean()) for k, v in pairs.items()
            }


def export_model(
    model: DeployModel,
    to: Target,
    folder: Path,
    *,
    sequences: Sequence[Floats] = (),
    inputs: Floats | None = None,
    labels: NDArray[np.int64] | None = None,
    options: ExportOptions | None = None,
) -> dict[str, object]:
    """Export ``model`` into ``folder``, checked on raw ``sequences`` (or network ``inputs``); the report, also written there.

    Nothing is left in ``folder`` if the exported network and PyTorch disagree.
    """
    if inputs is None:
        if not len(sequences):
            raise ExportError("an export is checked on real inputs; give sequences or inputs")
        inputs = signals_of(model, sequences)
    job = _Job(model, options or ExportOptions(), sequences, np.asarray(inputs, np.float32), labels)
    started = time.perf_counter()
    {"c": _c, "wasm": _wasm, "onnx": _onnx, "bytes": _bytes}[to](job)
    job.report = {
        "to": to,
        "files": {name: len(data) for name, data in job.files.items()},
        "seconds": round(time.perf_counter() - started, 3),
        **job.report,
    }
    job.files[f"{job.options.name}-{to}.json"] = (json.dumps(job.report, indent=2) + "\n").encode()
    _write_all(folder, job.files)
    return job.report


def make_c(model: DeployModel, inputs: Floats, options: ExportOptions) -> CFiles:
    """C in the asked number format; fixed point is scaled on ``inputs``."""
    if options.number == "float32":
        return c_files(model, aim=options.aim, name=options.name, open_ended=options.open_ended)
    bits = 8 if options.number == "int8" else 16
    return fixed_files(
        model, inputs[:CALIBRATION], bits=bits, name=options.name, open_ended=options.open_ended
    )


def _c(job: _Job) -> None:
    model, options = job.model, job.options
    started = time.perf_counter()
    files = make_c(model, job.inputs, options)
    job.report["export_seconds"] = round(time.perf_counter() - started, 3)
    exact = options.number == "float32"
    limits = (
        {"tolerance": 1e-4, "classes": 1.0}
        if exact
        else {"tolerance": np.inf, "classes": options.least_agreement}
    )
    native, checks = check_c(model, files, job.sequences, job.inputs, **limits)
    job.report |= checks
    job.compare("the C network", native.network(job.inputs), exact=exact)
    if model.normaliser is not None and len(job.sequences):
        job.report["open_ended"] = check_open_ended(model, files, job.sequences).as_dict()
    job.report |= _about(files)
    for name, text in (
        (f"{files.name}.h", files.header),
        (f"{files.name}.c", files.source),
        ("main.c", files.main),
    ):
        job.files[name] = text.encode()


def _about(files: CFiles) -> dict[str, object]:
    program = files.program
    return {
        "connections": program.entries,
        "macs": program.macs,
        "state_bytes": files.state_bytes,
        "plan": files.plan.splitlines(),
    }


def _wasm(job: _Job) -> None:
    files = make_c(job.model, job.inputs, job.options)
    module = to_wasm(files, size=job.options.aim == "size")
    running = WasmNetwork(module, files)
    job.compare("the WebAssembly module", running.network(job.inputs), exact=job.options.number == "float32")
    if job.model.normaliser is not None and len(job.sequences):
        some = job.sequences[:64]
        found = np.stack([running.stream(s)[1] for s in some])
        job.report["stream"] = agreement(
            found, reference_scores(job.model, signals_of(job.model, some))
        ).as_dict()
    job.report |= _about(files)
    job.files |= {f"{files.name}.wasm": module, f"{files.name}.js": javascript(files).encode()}


def _onnx(job: _Job) -> None:
    data = to_onnx(job.model, sparse=job.options.sparse)
    job.compare("the ONNX file", onnx_runner(data)(job.inputs), exact=True)
    job.files[f"{job.options.name}.onnx"] = data


def _bytes(job: _Job) -> None:
    data = to_bytes(job.model, values=job.options.values)
    job.compare("the bytes file", reference_scores(from_bytes(data), job.inputs), exact=False)
    kept = sum(int((p != 0).sum()) for p in job.model.net.parameters() if p.ndim > 1)
    job.report |= {"kept": kept, "bytes_per_kept_weight": round(len(data) / max(kept, 1), 3)}
    job.files[f"{job.options.name}.bsn"] = data


def _write_all(folder: Path, files: dict[str, bytes]) -> None:
    """All files or none: written aside first, then moved."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".export-") as made:
        for name, data in files.items():
            (Path(made) / name).write_bytes(data)
        for name in files:
            shutil.move(str(Path(made) / name), str(folder / name))
