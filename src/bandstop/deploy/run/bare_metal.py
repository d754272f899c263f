"""Images for microcontrollers without an operating system: start-up, memory layout, and a main that answers a host's file.

The layout fits QEMU's ``mps2`` boards (code at 0, RAM at 0x20000000) and most small parts in kind. Built with ``ziglang``.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template

from bandstop.deploy.c.files import CFiles
from bandstop.deploy.run.elf import Footprint, footprint
from bandstop.deploy.run.toolchain import compile_c, zig_compiler

__all__ = ["CORTEX_M0PLUS", "CORTEX_M4", "Chip", "chip_footprint", "chip_image"]


@dataclass(frozen=True)
class Chip:
    """A processor core, by the compiler's names for it."""

    name: str
    target: str
    cpu: str
    fpu: bool


CORTEX_M4 = Chip("Cortex-M4", "thumb-freestanding-eabihf", "cortex_m4+vfp4d16sp", fpu=True)
CORTEX_M0PLUS = Chip("Cortex-M0+", "thumb-freestanding-eabi", "cortex_m0plus", fpu=False)

LINKER = """ENTRY(reset)
MEMORY { CODE (rx) : ORIGIN = 0x0, LENGTH = 4M  DATA (rw) : ORIGIN = 0x20000000, LENGTH = 4M }
SECTIONS {
  .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } > CODE
  .data : { *(.data*) } > DATA
  .bss (NOLOAD) : { *(.bss*) *(COMMON) } > DATA
  /DISCARD/ : { *(.ARM.exidx*) *(.ARM.extab*) *(.comment) *(.ARM.attributes) }
}
"""

START = Template("""#include <stddef.h>
#include <stdint.h>
int main(void);
void reset(void);
void *memset(void *to, int value, size_t count);
void *memcpy(void *restrict to, const void *restrict from, size_t count);
void reset(void)
{
    ${fpu}
    main();
    for (;;) { }
}
__attribute__((section(".vectors"), used)) static const uintptr_t vectors[2] = {0x20400000u, (uintptr_t)reset};
void *memset(void *to, int value, size_t count)
{
    volatile unsigned char *p = to;
    while (count--) *p++ = (unsigned char)value;
    return to;
}
void *memcpy(void *restrict to, const void *restrict from, size_t count)
{
    volatile unsigned char *p = to;
    const unsigned char *q = from;
    while (count--) *p++ = *q++;
    return to;
}
""")

ENABLE_FPU = '*(volatile uint32_t *)0xE000ED88u |= 0xF00000u; __asm__ volatile("dsb\\n isb");'

SMALL_MAIN = Template("""#include "${name}.h"
extern volatile float sensor[3 * ${NAME}_JOINTS];
volatile float sensor[3 * ${NAME}_JOINTS];
volatile int answer;
static ${name} state;
int main(void)
{
    static float joints[3 * ${NAME}_JOINTS], scores[${NAME}_CLASSES];
    int i;
    for (;;) {
        ${name}_begin(&state, 64);
        do for (i = 0; i < 3 * ${NAME}_JOINTS; ++i) joints[i] = sensor[i];
        while (${name}_push_frame(&state, joints) == 0);
        answer = ${name}_classify(&state, scores);
        if (answer >= 0) answer = ${name}_class_names[answer][0];
    }
}
""")

HOST_MAIN = Template("""#include "${name}.h"
/* Semihosting: the host's file "frames.bin" in, a line of answers out. */
static int host(int verb, const void *block)
{
    register int r0 __asm__("r0") = verb;
    register const void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}
static int file;
static int take(void *to, uint32_t bytes)
{
    const uintptr_t block[3] = {(uintptr_t)file, (uintptr_t)to, bytes};
    return host(6, block) == 0;
}
static ${name} state;
static float joints[3 * ${NAME}_JOINTS], scores[${NAME}_CLASSES];
int main(void)
{
    const uintptr_t open[3] = {(uintptr_t)"frames.bin", 1, 10};
    const uintptr_t leave[2] = {0x20026, 0};
    uint32_t frames, t;
    file = host(1, open);
    while (take(&frames, 4) && frames) {
        int answer, k = 8;
        char text[10] = "        \\n";
        ${name}_begin(&state, frames);
        for (t = 0; t < frames && take(joints, sizeof joints); ++t) ${name}_push_frame(&state, joints);
        answer = ${name}_classify(&state, scores);
        if (answer < 0) text[0] = '-';
        for (t = (uint32_t)(answer < 0 ? -answer : answer); k == 8 || t; t /= 10) text[--k] = (char)('0' + t % 10);
        host(4, text);
    }
    host(0x18, (const void *)leave[0]);
    return 0;
}
""")


def chip_image(files: CFiles, chip: Chip, *, host: bool, optimise: str = "-Oz") -> bytes:
    """A linked image: with ``host`` it answers the file ``frames.bin`` through semihosting, else it is the smallest main."""
    return _built(files, chip, host=host, optimise=optimise)[0]


def _built(files: CFiles, chip: Chip, *, host: bool, optimise: str) -> tuple[bytes, str]:
    """The image, and what the compiler says of every function's stack frame."""
    values = {"name": files.name, "NAME": files.name.upper(), "fpu": ENABLE_FPU if chip.fpu else ""}
    texts = {
        f"{files.name}.h": files.header,
        f"{files.name}.c": files.source,
        "start.c": START.substitute(values),
        "main.c": (HOST_MAIN if host else SMALL_MAIN).substitute(values),
        "chip.ld": LINKER,
    }
    with tempfile.TemporaryDirectory(prefix="bandstop-") as made:
        folder = Path(made)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        flags = [
            "-target",
            chip.target,
            f"-mcpu={chip.cpu}",
            optimise,
            "-std=c99",
            "-ffunction-sections",
            "-fdata-sections",
        ]
        flags += [
            "-nostdlib",
            "-rtlib=compiler-rt",
            "-ffreestanding",
            "-fno-unwind-tables",
            "-fno-asynchronous-unwind-tables",
            "-fno-sanitize=all",
            "-Wframe-larger-than=0",
        ]
        link: list[str | Path] = ["-Wl,--gc-sections", "-T", folder / "chip.ld", "-o", folder / "image.elf"]
        sources: list[str | Path] = [folder / name for name in texts if name.endswith(".c")]
        said = compile_c(zig_compiler(), [*flags, *sources, *link], what=f"building for {chip.name}")
        return (folder / "image.elf").read_bytes(), said


def chip_footprint(files: CFiles, chip: Chip) -> Footprint:
    """Flash, RAM and stack of network, front end and the smallest main on ``chip``.

    The stack is the sum of all functions' frames: more than any chain of calls takes, since none calls itself.
    """
    image, said = _built(files, chip, host=False, optimise="-Oz")
    frames = re.findall(r"stack frame size \((\d+)\)", said)
    return replace(footprint(image), stack=sum(map(int, frames)))
