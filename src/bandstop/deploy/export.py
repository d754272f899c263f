"""The one way to every export: make it, check it against the network, only then write it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy.c.arduino import arduino_texts, arduino_zip
from bandstop.deploy.c.code import NetworkCode
from bandstop.deploy.c.files import CFiles, assemble
from bandstop.deploy.c.fixed import emit_fixed
from bandstop.deploy.c.library import library_of
from bandstop.deploy.c.names import check_c_name, check_file_name
from bandstop.deploy.c.projects import cmake_texts, platformio_texts
from bandstop.deploy.c.size import emit_size
from bandstop.deploy.c.speed import emit_speed
from bandstop.deploy.ir.program import Floats
from bandstop.deploy.ir.quantise import FixedProgram, quantise
from bandstop.deploy.lower import lower, lower_variants
from bandstop.deploy.model import DeployModel
from bandstop.deploy.onnx.file import onnx_runner, to_onnx
from bandstop.deploy.packed.file import Values, from_bytes, to_bytes
from bandstop.deploy.plan import LANES
from bandstop.deploy.plan.choose import cheapest_plan
from bandstop.deploy.run.native import Native
from bandstop.deploy.run.wasm import WasmNetwork, javascript, to_wasm
from bandstop.deploy.verify import (
    EXACT,
    Limits,
    agreement,
    check,
    check_answers,
    reference_scores,
    signals_of,
    stream_scores,
)
from bandstop.errors import ExportError
from bandstop.files import atomic_write, naming
from bandstop.record.formats import Format

__all__ = ["Aim", "ExportOptions", "Format", "Number", "export_model", "fixed_program", "make_c"]

Aim = Literal["speed", "size"]
Number = Literal["float32", "int16", "int8"]
CALIBRATION = 256
"""Inputs on which fixed point is scaled."""
WASM_SEQUENCES = 64
"""Sequences on which the WebAssembly front end is compared."""


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


def export_model(
    model: DeployModel,
    to: Format,
    folder: Path,
    *,
    sequences: Sequence[Floats] = (),
    inputs: Floats | None = None,
    labels: NDArray[np.int64] | None = None,
    options: ExportOptions | None = None,
) -> dict[str, object]:
    """Export ``model`` into ``folder``, checked on raw ``sequences`` or network ``inputs``.

    Returns the report, which is also written there: files, the largest difference of scores, the share of
    equal classes, accuracy where ``labels`` are given. Nothing is left in ``folder`` if the exported
    network and PyTorch disagree.
    """
    if inputs is None:
        if not len(sequences):
            raise ExportError("an export is checked on real inputs; give sequences or inputs")
        inputs = signals_of(model, sequences)
    check_file_name((options or ExportOptions()).name)
    job = _Job(model, options or ExportOptions(), sequences, np.asarray(inputs, np.float32), labels)
    started = time.perf_counter()
    _MAKERS[to](job)
    job.report = {
        "to": to,
        "kept": model.kept,
        "macs": model.macs,
        "files": {name: len(data) for name, data in job.files.items()},
        "seconds": round(time.perf_counter() - started, 3),
        **job.report,
    }
    job.files[f"{job.options.name}-{to}.json"] = (json.dumps(job.report, indent=2) + "\n").encode()
    _write_all(folder, job.files)
    return job.report


def make_c(
    model: DeployModel, options: ExportOptions | None = None, *, inputs: Floats | None = None
) -> CFiles:
    """C of a model as ``options`` ask, unchecked; fixed point is scaled on network ``inputs``."""
    options = options or ExportOptions()
    check_c_name(options.name)
    return assemble(
        model, _network_code(model, options, inputs), name=options.name, open_ended=options.open_ended
    )


def _network_code(model: DeployModel, options: ExportOptions, inputs: Floats | None) -> NetworkCode:
    if options.number == "float32" and options.aim == "speed":
        return emit_speed(cheapest_plan(lower_variants(model.net, model.example, lanes=LANES)))
    if options.number == "float32":
        return emit_size(lower(model.net, model.example, compact=True))
    return emit_fixed(fixed_program(model, options, inputs))


def fixed_program(model: DeployModel, options: ExportOptions, inputs: Floats | None) -> FixedProgram:
    """The network in whole numbers, scaled on network ``inputs``: what C in fixed point computes."""
    if inputs is None or not len(inputs):
        raise ExportError("fixed point is scaled on real inputs; give some")
    bits = 8 if options.number == "int8" else 16
    return quantise(lower(model.net, model.example, compact=True), inputs[:CALIBRATION], bits=bits)


@dataclass
class _Job:
    """One export: what is asked, the files so far and the report so far."""

    model: DeployModel
    options: ExportOptions
    sequences: Sequence[Floats]
    inputs: Floats
    labels: NDArray[np.int64] | None
    files: dict[str, bytes] = field(default_factory=dict)
    report: dict[str, object] = field(default_factory=dict)

    @cached_property
    def wanted(self) -> Floats:
        """The network's scores of the inputs."""
        return reference_scores(self.model, self.inputs)

    @cached_property
    def wanted_of_sequences(self) -> Floats:
        """The network's scores of the raw sequences."""
        return reference_scores(self.model, signals_of(self.model, self.sequences))

    @property
    def streams(self) -> bool:
        """Whether there are raw frames to check a front end on."""
        return self.model.normaliser is not None and len(self.sequences) > 0

    @property
    def limits(self) -> Limits:
        """Exact in float32; fixed point may move scores, but not too many classes."""
        return EXACT if self.options.number == "float32" else self.lossy

    @property
    def lossy(self) -> Limits:
        return Limits(np.inf, self.options.least_agreement)

    def compare(self, what: str, found: Floats, limits: Limits) -> None:
        """Refuse scores that are too far off; what was found goes to the report."""
        self.report["agreement"] = check(what, found, self.wanted, limits).as_dict()
        if self.labels is not None:
            pairs = {"network": self.wanted, "export": found}
            self.report["accuracy"] = {
                k: float((v.argmax(1) == self.labels).mean()) for k, v in pairs.items()
            }

    def compare_answers(self, what: str, found: Native | WasmNetwork) -> None:
        """Refuse a program that says "none of these" otherwise than Python."""
        if self.model.rejection is not None:
            share = check_answers(what, found.answers(self.wanted), self.wanted, self.model)
            self.report["none_of_these"] = {"threshold": self.model.rejection.threshold, "share": share}

    def describe(self, files: CFiles) -> None:
        """Size and memory of the program, which may store more or fewer weights than the network has."""
        program = files.program
        self.report |= {"program_weights": program.entries, "program_macs": program.macs}
        self.report |= {"state_bytes": files.state_bytes, "plan": files.plan.splitlines()}


def _c(job: _Job) -> None:
    files = _checked_c(job)
    texts = {**files.texts, "example/main.c": files.main}
    job.files |= {name: text.encode() for name, text in texts.items()}


def _arduino(job: _Job) -> None:
    files = _checked_c(job)
    job.files[f"{files.name}-arduino.zip"] = arduino_zip(arduino_texts(library_of(job.model, files)))


def _platformio(job: _Job) -> None:
    files = _checked_c(job)
    texts = platformio_texts(library_of(job.model, files))
    job.files |= {f"{files.name}-platformio/{path}": text.encode() for path, text in texts.items()}


def _cmake(job: _Job) -> None:
    files = _checked_c(job)
    texts = cmake_texts(library_of(job.model, files))
    job.files |= {f"{files.name}-cmake/{path}": text.encode() for path, text in texts.items()}


def _checked_c(job: _Job) -> CFiles:
    """C that agrees with the network on this machine."""
    options, started = job.options, time.perf_counter()
    files = make_c(job.model, options, inputs=job.inputs)
    exported = time.perf_counter()
    native = Native(files)
    job.report["export_seconds"] = round(exported - started, 3)
    job.report["compile_seconds"] = round(time.perf_counter() - exported, 3)
    job.compare("the C network", native.network(job.inputs), job.limits)
    job.compare_answers("the C program", native)
    if job.streams:
        found = stream_scores(native, job.sequences)
        wanted = job.wanted_of_sequences
        job.report["stream"] = check("the C front end", found, wanted, job.limits).as_dict()
        endless = native if options.open_ended else Native(files, open_ended=True)
        # How far bounded memory moves the scores when the length is not known: measured, not limited.
        found = stream_scores(endless, job.sequences, open_ended=True)
        job.report["open_ended"] = agreement(found, wanted).as_dict()
    job.describe(files)
    return files


def _wasm(job: _Job) -> None:
    files = make_c(job.model, job.options, inputs=job.inputs)
    module = to_wasm(files, size=job.options.aim == "size")
    running = WasmNetwork(module, files)
    job.compare("the WebAssembly module", running.network(job.inputs), job.limits)
    job.compare_answers("the WebAssembly module", running)
    if job.streams:
        some = job.sequences[:WASM_SEQUENCES]
        found = np.stack([running.stream(s)[1] for s in some])
        job.report["stream"] = agreement(found, job.wanted_of_sequences[: len(some)]).as_dict()
    job.describe(files)
    job.files |= {f"{files.name}.wasm": module, f"{files.name}.js": javascript(files).encode()}


def _onnx(job: _Job) -> None:
    data = to_onnx(job.model, sparse=job.options.sparse)
    job.compare("the ONNX file", onnx_runner(data)(job.inputs), EXACT)
    job.files[f"{job.options.name}.onnx"] = data
    if job.model.normaliser is not None:
        source = resources.files("bandstop.deploy.onnx") / "front_end.py"
        job.files[f"{job.options.name}_input.py"] = source.read_bytes()


def _bytes(job: _Job) -> None:
    data = to_bytes(job.model, values=job.options.values)
    job.compare("the bytes file", reference_scores(from_bytes(data), job.inputs), job.lossy)
    job.report["bytes_per_kept_weight"] = round(len(data) / max(job.model.kept, 1), 3)
    job.files[f"{job.options.name}.bsn"] = data


_MAKERS: dict[Format, Callable[[_Job], None]] = {
    "c": _c,
    "arduino": _arduino,
    "platformio": _platformio,
    "cmake": _cmake,
    "wasm": _wasm,
    "onnx": _onnx,
    "bytes": _bytes,
}


def _write_all(folder: Path, files: dict[str, bytes]) -> None:
    """All files or none: every one is written aside before the first takes its place."""
    with ExitStack() as stack:
        for name, data in files.items():
            stack.enter_context(naming(folder / name))
            stack.enter_context(atomic_write(folder / name)).write_bytes(data)
