"""Images for microcontrollers without an operating system, and what they take of flash and RAM.

The layout fits QEMU's ``mps2`` boards (code at 0, RAM at 0x20000000) and most small parts in kind. Built with
``ziglang``.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from string import Template

from bandstop.deploy.c.files import CFiles
from bandstop.deploy.c.text import load_template
from bandstop.deploy.run.toolchain import Build, build, zig_compiler
from bandstop.errors import ExportError

__all__ = [
    "CORTEX_M0PLUS",
    "CORTEX_M4",
    "Chip",
    "Footprint",
    "chip_flags",
    "chip_footprint",
    "chip_image",
    "footprint",
    "link_for_chip",
]


@dataclass(frozen=True)
class Chip:
    """A processor core, by the compiler's names for it."""

    name: str
    target: str
    cpu: str
    fpu: bool


CORTEX_M4 = Chip("Cortex-M4", "thumb-freestanding-eabihf", "cortex_m4+vfp4d16sp", fpu=True)
CORTEX_M0PLUS = Chip("Cortex-M0+", "thumb-freestanding-eabi", "cortex_m0plus", fpu=False)

ENABLE_FPU = '*(volatile uint32_t *)0xE000ED88u |= 0xF00000u; __asm__ volatile("dsb\\n isb");'
ALLOCATED, WRITABLE, EMPTY = 2, 1, 8
"""Flags and kind of ELF sections."""
BARE = (
    "-std=c99",
    "-nostdlib",
    "-rtlib=compiler-rt",
    "-ffreestanding",
    "-fno-unwind-tables",
    "-fno-asynchronous-unwind-tables",
    "-fno-sanitize=all",
    "-Wl,--gc-sections",
)
FLAGS = ("-ffunction-sections", "-fdata-sections", "-Wframe-larger-than=0", "-T", "chip.ld")


def chip_flags(chip: Chip) -> list[str]:
    """What the compiler must be told for any image without an operating system.

    >>> chip_flags(CORTEX_M4)[:3]
    ['-target', 'thumb-freestanding-eabihf', '-mcpu=cortex_m4+vfp4d16sp']
    """
    return ["-target", chip.target, f"-mcpu={chip.cpu}", *BARE]


@dataclass(frozen=True)
class Footprint:
    """Bytes of code and constants (flash) and of variables (RAM).

    ``stack``, where measured, comes on top of ``ram``.
    """

    flash: int
    ram: int
    stack: int = 0


def footprint(image: bytes) -> Footprint:
    """Sizes of a 32-bit little-endian ELF image; initialised variables count in both."""
    if image[:6] != b"\x7fELF\x01\x01":
        raise ExportError("expected a 32-bit little-endian ELF image")
    offset = struct.unpack_from("<I", image, 32)[0]
    size, count = struct.unpack_from("<HH", image, 46)
    flash = ram = 0
    for number in range(count):
        _, kind, flags, _, _, length = struct.unpack_from("<6I", image, offset + number * size)
        if flags & ALLOCATED:
            flash += 0 if kind == EMPTY else length
            ram += length if flags & WRITABLE else 0
    return Footprint(flash, ram)


def chip_image(files: CFiles, chip: Chip, *, host: bool, optimise: str = "-Oz") -> bytes:
    """A linked image; with ``host`` it answers the file ``frames.bin`` through semihosting."""
    made = _built(files, chip, host=host, optimise=optimise)
    return made.path.read_bytes()


def link_for_chip(
    sources: Mapping[str, str], main: str, name: str, chip: Chip, *, optimise: str = "-Oz"
) -> Build:
    """The linked image of ``sources`` with the program ``main``, in which ``${name}`` stands for the name.

    What the compiler says has every function's stack frame.
    """
    values = {"name": name, "NAME": name.upper(), "fpu": ENABLE_FPU if chip.fpu else ""}
    texts = {**sources, "main.c": Template(main).substitute(values) + "\n"}
    for part in ("start.c", "chip.ld"):
        texts[part] = load_template(part, "bandstop.deploy.run.templates").substitute(values) + "\n"
    arguments = [*chip_flags(chip), optimise, *FLAGS]
    what = f"building for {chip.name}"
    return build(texts, arguments, output="image.elf", what=what, compiler=zig_compiler())


def _built(files: CFiles, chip: Chip, *, host: bool, optimise: str) -> Build:
    template = "chip_host_main.c" if host else "chip_main.c"
    main = load_template(template, "bandstop.deploy.run.templates").template
    return link_for_chip(files.texts, main, files.name, chip, optimise=optimise)


def chip_footprint(files: CFiles, chip: Chip) -> Footprint:
    """Flash, RAM and stack of network, front end and the smallest main on ``chip``.

    The stack is the sum of all functions' frames: more than any chain of calls takes, since none calls
    itself.
    """
    made = _built(files, chip, host=False, optimise="-Oz")
    frames = re.findall(r"stack frame size \((\d+)\)", made.said)
    return replace(footprint(made.path.read_bytes()), stack=sum(map(int, frames)))
