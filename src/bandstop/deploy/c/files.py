"""A header and a source file around a network's code."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy.c.example import example_main
from bandstop.deploy.c.front_end import front_end
from bandstop.deploy.c.header import header
from bandstop.deploy.c.size import emit_size
from bandstop.deploy.c.speed import emit_speed
from bandstop.deploy.c.text import Tables, c_string
from bandstop.deploy.ir.program import Program
from bandstop.deploy.lower import lower
from bandstop.deploy.model import DeployModel
from bandstop.deploy.plan.choose import lower_for_speed
from bandstop.errors import ExportError

__all__ = ["Aim", "CFiles", "c_files"]

Aim = Literal["speed", "size"]

TOP = """/* {about} */
#include "{name}.h"

#if defined(__GNUC__)
#define HELPER __attribute__((unused)) static inline
#else
#define HELPER static
#endif
"""


@dataclass(frozen=True)
class CFiles:
    """Texts of the files, the program they hold, and the memory they ask for."""

    name: str
    header: str
    source: str
    main: str
    program: Program
    work_bytes: int
    plan: str
    number: str = "float"
    signal_scale: float = 1.0
    state_bytes: int = 0

    def encode(self, inputs: NDArray[np.floating]) -> NDArray[np.generic]:
        """Network inputs ``[N, …]`` as the network function reads them."""
        placed = self.program.place(inputs)
        if self.number == "float":
            return placed
        scaled = np.clip(placed * np.float32(self.signal_scale), -32767, 32767)
        whole: NDArray[np.int16] = np.trunc(scaled + np.copysign(np.float32(0.5), scaled)).astype(np.int16)
        return whole


def c_files(
    model: DeployModel, *, aim: Aim = "speed", name: str = "recogniser", open_ended: bool = False
) -> CFiles:
    """C99 of a model in float32."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", name):
        raise ExportError(
            f"a C name has lower-case letters, digits and underscores, found {name!r}; choose another name"
        )
    if aim == "speed":
        schedule = lower_for_speed(model.net, model.example)
        program, plan = schedule.program, str(schedule)
        definitions, body, work = emit_speed(schedule)
    else:
        program, plan = lower(model.net, model.example, compact=True), "index tables"
        definitions, body, work = emit_size(program)
    return assemble(
        model,
        program,
        name=name,
        definitions=definitions,
        body=body,
        work=work,
        plan=plan,
        open_ended=open_ended,
    )


def assemble(
    model: DeployModel,
    program: Program,
    *,
    name: str,
    definitions: str,
    body: str,
    work: int,
    plan: str,
    open_ended: bool,
    number: str = "float",
    signal_scale: float = 1.0,
) -> CFiles:
    """Put header, network, front end and names together."""
    classes = len(model.class_names)
    if classes != program.classes:
        raise ExportError(
            f"the network has {program.classes} outputs and {classes} class names; they must agree"
        )
    counters = [v for v in ("i", "t") if re.search(rf"\b{v} = 0;", body)]
    unused = [f"    (void){v};" for v in ("signal", "work") if not re.search(rf"\b{v}\b", body)]
    network = [
        f"void {name}_network(const {number} *restrict signal, float *restrict scores, {number} *restrict work)",
        "{",
        *([f"    int {', '.join(counters)};"] if counters else []),
        *unused,
        body,
        "}",
    ]
    tables, front, work = Tables("front"), "", max(work, 1)
    item, signal = 4 if number == "float" else 2, program.sizes[program.input]
    memory = item * (signal + work)
    if model.normaliser is not None:
        joints = len(model.normaliser.node_scale)
        pitch = program.sizes[program.input] // model.normaliser.values
        call = f"{name}_network(r->signal, scores, r->work);"
        if number != "float":
            call = f"encode(r->signal, r->input);\n    {name}_network(r->input, scores, r->work);"
            memory += 4 * signal
        memory += 4 * (3 * joints + 3 + 5)
        front = front_end(name, model.normaliser, joints, pitch, call, tables)
    names = ",\n".join(f"    {c_string(n)}" for n in model.class_names)
    names = f"const char *const {name}_class_names[{classes}] = {{\n{names}\n}};"
    about = f"{name}: made by bandstop from a network of {program.entries} kept connections; see {name}.h"
    parts = [TOP.format(about=about, name=name), definitions, "\n".join(network), tables.text(), front, names]
    return CFiles(
        name,
        header(model, program, name=name, work=work, number=number, open_ended=open_ended),
        "\n".join(part for part in parts if part) + "\n",
        example_main(model, name),
        program,
        item * work,
        plan,
        number,
        signal_scale,
        memory,
    )
