"""The header of an exported network: what a user of the C must know."""

from __future__ import annotations

from string import Template

from bandstop.deploy.c.front_end import most_frames
from bandstop.deploy.ir.program import Program
from bandstop.deploy.model import DeployModel

__all__ = ["header"]

STREAM = Template("""
/* Raw joints, frame by frame: ${JOINTS} joints of x, y, z, in this order and in the units of training (${units}).
${joints}   begin       length: how many frames will come (1 to ${NAME}_MOST_FRAMES): the answer is exact. With
               ${NAME}_OPEN_ENDED defined as 1, length 0 takes frames without end in bounded memory.
   push_frame  1: classify may be called; 0: more frames are wanted; negative: a code below.
               A frame with a value that is not finite or beyond 1e9 answers BAD_FRAME; the last good frame stands in for it.
   classify    the index of the best class and every class's score, or a negative code. */
#define ${NAME}_JOINTS ${JOINTS}
#define ${NAME}_CHUNKS ${CHUNKS}
#define ${NAME}_MOST_FRAMES ${MOST}u
#ifndef ${NAME}_OPEN_ENDED
#define ${NAME}_OPEN_ENDED ${open}
#endif
enum { ${NAME}_BAD_FRAME = -1, ${NAME}_TOO_FEW = -2, ${NAME}_TOO_MANY = -3, ${NAME}_BAD_LENGTH = -4 };

typedef struct {
    ${memory}
    float last[3 * ${NAME}_JOINTS], origin[3];
    uint32_t length, frames, waiting, good, done;
#if ${NAME}_OPEN_ENDED
    float bins[2 * ${NAME}_CHUNKS * 3 * ${NAME}_JOINTS];
    uint32_t full, part, span;
#endif
} ${name};

int ${name}_begin(${name} *r, uint32_t length);
int ${name}_push_frame(${name} *r, const float joints[3 * ${NAME}_JOINTS]);
int ${name}_classify(${name} *r, float scores[${NAME}_CLASSES]);
""")

NETWORK = Template("""/* ${name}: a sparse network as C99, made by bandstop.
   ${entries} kept connections, ${macs} multiply-accumulates an inference. All memory is the caller's: no globals that
   change, no allocation, nothing from the C library. */
#ifndef ${NAME}_H
#define ${NAME}_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ${NAME}_CLASSES ${CLASSES}
#define ${NAME}_SIGNAL ${SIGNAL}
#define ${NAME}_WORK ${WORK}

extern const char *const ${name}_class_names[${NAME}_CLASSES];

/* The network alone. ${layout} */
void ${name}_network(const ${number} *signal, float *scores, ${number} *work);
""")

MEMORY = {
    "float": Template("float signal[${NAME}_SIGNAL], work[${NAME}_WORK];"),
    "int16_t": Template(
        "float signal[${NAME}_SIGNAL];\n    int16_t input[${NAME}_SIGNAL], work[${NAME}_WORK];"
    ),
}

BOTTOM = """
#ifdef __cplusplus
}
#endif
#endif
"""


def header(
    model: DeployModel, program: Program, *, name: str, work: int, number: str, open_ended: bool
) -> str:
    """Text of the header."""
    values = {
        "name": name,
        "NAME": name.upper(),
        "entries": f"{program.entries}",
        "macs": f"{program.macs}",
        "CLASSES": f"{program.classes}",
        "SIGNAL": f"{program.sizes[program.input]}",
        "WORK": f"{work}",
        "layout": "signal: the input's values in order.",
        "number": number,
        "open": f"{int(open_ended)}",
    }
    if model.normaliser is None:
        return NETWORK.substitute(values) + BOTTOM
    joints = len(model.normaliser.node_scale)
    pitch = program.sizes[program.input] // model.normaliser.values
    values["layout"] = f"signal[(3 * chunk + axis) * {pitch} + joint], normalised."
    if model.normaliser.duration is not None:
        steps = 3 * model.normaliser.chunks
        values["layout"] += (
            f" Then, from\n   signal[{steps * pitch}] on, the steps from chunk to chunk likewise, and the duration."
        )
    values |= {
        "JOINTS": f"{joints}",
        "CHUNKS": f"{model.normaliser.chunks}",
        "MOST": f"{most_frames(model.normaliser.chunks)}",
        "memory": MEMORY[number].substitute(NAME=name.upper()),
        "units": _comment(model.units),
        "joints": _joint_lines(model.joint_names),
    }
    return NETWORK.substitute(values) + STREAM.substitute(values) + BOTTOM


def _comment(text: str) -> str:
    return text.replace("*/", "* /").replace("\n", " ")


def _joint_lines(names: tuple[str, ...]) -> str:
    lines, line = [], "   "
    for number, name in enumerate(names):
        item = f"{number} {_comment(name)}, "
        if len(line) + len(item) > 110:
            lines.append(line.rstrip())
            line = "   "
        line += item
    return "".join(f"{text}\n" for text in [*lines, line.rstrip().rstrip(",")] if text.strip())
