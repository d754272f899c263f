"""The files of an exported network: header, source and example put together around its code."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy.c.answer import answer_texts
from bandstop.deploy.c.code import NetworkCode
from bandstop.deploy.c.front_end import front_end, most_frames
from bandstop.deploy.c.layout import SignalLayout, chunk_values
from bandstop.deploy.c.text import Tables, c_comment, c_float, c_string, filled
from bandstop.deploy.ir.program import Program
from bandstop.deploy.model import DeployModel
from bandstop.errors import ExportError
from bandstop.skeleton.normalise import Normaliser

__all__ = ["CFiles", "assemble"]

MEMORY = {
    "float": "float signal[{NAME}_SIGNAL], work[{NAME}_WORK];",
    "int16_t": "float signal[{NAME}_SIGNAL];\n    int16_t input[{NAME}_SIGNAL], work[{NAME}_WORK];",
}


@dataclass(frozen=True)
class CFiles:
    """Texts of the files, the code they hold, and the memory they ask for."""

    name: str
    header: str
    source: str
    main: str
    code: NetworkCode
    work: int
    """Values of workspace, at least one."""
    state_bytes: int
    """Memory of one recogniser, the caller's."""

    @property
    def program(self) -> Program:
        return self.code.program

    @property
    def number(self) -> str:
        return self.code.number

    @property
    def plan(self) -> str:
        return self.code.plan

    @property
    def work_bytes(self) -> int:
        return _item(self.number) * self.work

    @property
    def texts(self) -> dict[str, str]:
        """Header and source by their file names."""
        return {f"{self.name}.h": self.header, f"{self.name}.c": self.source}

    def encode(self, inputs: NDArray[np.floating]) -> NDArray[np.generic]:
        """Network inputs ``[N, …]`` as the network function reads them."""
        signal = self.program.laid_out(inputs)
        if self.number == "float":
            return signal
        scaled = np.clip(signal * np.float32(self.code.signal_scale), -32767, 32767)
        whole: NDArray[np.int16] = np.trunc(scaled + np.copysign(np.float32(0.5), scaled)).astype(np.int16)
        return whole


def assemble(model: DeployModel, code: NetworkCode, *, name: str, open_ended: bool = False) -> CFiles:
    """Header, source and example of a network's code."""
    program, classes = code.program, len(model.class_names)
    if classes != program.classes:
        raise ExportError(
            f"the network has {program.classes} outputs and {classes} class names; they must agree"
        )
    about = f"{name}: made by bandstop from a network of {model.kept} kept connections; see {name}.h"
    tables, work = Tables("front"), max(code.work, 1)
    encode, front = _front_end(model, code, name, tables)
    names = ",\n".join(f"    {c_string(n)}" for n in model.class_names)
    declared, answer = answer_texts(name, model.rejection, model.class_names)
    parts = [
        filled("source_top.c", about=about, name=name) + "\n",
        code.definitions + encode,
        _network(code, name),
        tables.text(),
        front,
        answer,
        f"const char *const {name}_class_names[{classes}] = {{\n{names}\n}};",
    ]
    return CFiles(
        name,
        header=_header(model, code, name, work, open_ended=open_ended, answer=declared),
        source="\n".join(part for part in parts if part) + "\n",
        main=filled("main_network.c" if model.normaliser is None else "main_stream.c", **_names(name)) + "\n",
        code=code,
        work=work,
        state_bytes=_state_bytes(model, code, work),
    )


def _names(name: str) -> dict[str, object]:
    return {"name": name, "NAME": name.upper()}


def _item(number: str) -> int:
    """Bytes of a value."""
    return 4 if number == "float" else 2


def _state_bytes(model: DeployModel, code: NetworkCode, work: int) -> int:
    """Signal and workspace; for raw frames also the last one, the origin and five counters."""
    signal, item = code.program.sizes[code.program.input], _item(code.number)
    memory = item * (signal + work)
    if model.normaliser is not None:
        memory += 4 * (3 * len(model.normaliser.node_scale) + 3 + 5)
        memory += 4 * signal if code.number != "float" else 0
    return memory


def _network(code: NetworkCode, name: str) -> str:
    """The network function; counters it does not use are not declared."""
    body, number = code.body, code.number
    counters = [v for v in ("i", "t") if re.search(rf"\b{v} = 0;", body)]
    unused = [f"    (void){v};" for v in ("signal", "work") if not re.search(rf"\b{v}\b", body)]
    arguments = f"const {number} *restrict signal, float *restrict scores, {number} *restrict work"
    declared = [f"    int {', '.join(counters)};"] if counters else []
    return "\n".join([f"void {name}_network({arguments})", "{", *declared, *unused, body, "}"])


def _front_end(model: DeployModel, code: NetworkCode, name: str, tables: Tables) -> tuple[str, str]:
    """The encoding of signals in fixed point, and the functions that take raw frames.

    Both empty without frames.
    """
    if model.normaliser is None:
        return "", ""
    program = code.program
    call, encode = f"{name}_network(r->signal, scores, r->work);", ""
    if code.number != "float":
        call = f"encode(r->signal, r->input);\n    {name}_network(r->input, scores, r->work);"
        size, scale = program.sizes[program.input], c_float(code.signal_scale)
        encode = "\n" + filled("encode.c", size=size, scale=scale)
    return encode, front_end(name, model.normaliser, program, call, tables)


def _header(
    model: DeployModel, code: NetworkCode, name: str, work: int, *, open_ended: bool, answer: str
) -> str:
    program, normaliser = code.program, model.normaliser
    layout, stream = "signal: the input's values in order.", ""
    if normaliser is not None:
        layout = _layout(normaliser, SignalLayout.of(program, normaliser))
        stream = "\n" + filled(
            "stream.h",
            JOINTS=len(normaliser.node_scale),
            CHUNKS=normaliser.chunks,
            MOST=most_frames(normaliser.chunks),
            open=int(open_ended),
            memory=MEMORY[code.number].format(NAME=name.upper()),
            units=c_comment(model.units),
            joints=_joint_lines(model.joint_names),
            **_names(name),
        )
        stream += "\n"
    values: dict[str, object] = {"entries": program.entries, "macs": program.macs}
    values["CLASSES"] = program.classes
    values["size"] = model.size_text
    values |= {"SIGNAL": program.sizes[program.input], "WORK": work}
    text = filled(
        "network.h", layout=layout, number=code.number, stream=answer + stream, **values, **_names(name)
    )
    return text + "\n"


def _layout(normaliser: Normaliser, where: SignalLayout) -> str:
    """What lies where in the signal, in words."""
    pitch = where.value
    if normaliser.parts:
        names = ", ".join(part.name for part in normaliser.parts)
        at = f"signal[({chunk_values(normaliser)} * chunk + value) * {pitch} + joint], normalised.\n"
        if where.shared:
            at = f"signal[{where.row} * chunk + value * {pitch} + joint], normalised.\n"
        if where.row is None or where.joint != 1:
            at = f"signal[place of the chunk + value * {pitch} + joint * {where.joint}], normalised.\n"
            at += f"   Places of the chunks: {', '.join(map(str, where.moments.tolist()))}.\n"
        once = "".join(f" + {place}" for place in where.shared.values())
        once = f"\n   The moment stands once, at the place of the chunk{once}." if once else ""
        return f"{at}   The values of a chunk: {names}.{once}"
    layout = f"signal[(3 * chunk + axis) * {pitch} + joint], normalised."
    if normaliser.duration is not None:
        steps = 3 * normaliser.chunks * pitch
        layout += f" Then, from\n   signal[{steps}] on, the steps from chunk to chunk likewise, and the "
        layout += "duration."
    return layout


def _joint_lines(names: tuple[str, ...]) -> str:
    lines, line = [], "   "
    for number, name in enumerate(names):
        item = f"{number} {c_comment(name)}, "
        if len(line) + len(item) > 110:
            lines.append(line.rstrip())
            line = "   "
        line += item
    return "".join(f"{text}\n" for text in [*lines, line.rstrip().rstrip(",")] if text.strip())
