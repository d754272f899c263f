"""What a stream recogniser costs on a Cortex-M4: instructions of every frame, counted by QEMU, and memory.

    python benchmarks/live_cost.py runs/live/hands-980-s0-e100 --write benchmarks/results/live_cost.json

The exported C runs on QEMU's mps2-an386 with one instruction a nanosecond (``-icount shift=0``), and the
SysTick timer says how many a frame took. A Cortex-M4 needs one to two cycles for most instructions.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from bandstop.deploy.export import ExportOptions
from bandstop.deploy.run.bare_metal import CORTEX_M4, chip_flags
from bandstop.deploy.run.toolchain import compile_c, zig_compiler
from bandstop.files import write_text
from bandstop.live import Stream, load_live, make_hand_streams
from bandstop.live.device import stream_bytes
from bandstop.live.export import make_live_c
from bandstop.live.looks import window_signals

CLOCK = 64e6
"""Cycles a second of a small Cortex-M4, such as the nRF52840."""
INSTRUCTIONS_A_TICK = 40
"""SysTick of the emulated board counts at 25 MHz, and an instruction takes a nanosecond."""

MAIN = """#include "recogniser_live.h"
extern uint32_t _bss_begin, _bss_end;
static recogniser_live state;
static float joints[3 * RECOGNISER_JOINTS];
static recogniser_event event;
int main(void);
void reset(void);
void reset(void)
{
    uint32_t *p;
    *(volatile uint32_t *)0xE000ED88u |= 0xF00000u; /* the floating-point unit */
    __asm__ volatile("dsb\\n isb");
    for (p = &_bss_begin; p < &_bss_end; ++p) *p = 0;
    main();
    for (;;) {}
} __attribute__((section(".vectors"), used)) static const uintptr_t vectors[2] = {0x20400000u,
(uintptr_t)reset + 0}; static int host(int verb, const void *block) {
    register int r0 __asm__("r0") = verb;
    register const void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}
static void say(uint32_t value)
{
    char text[12] = "          \\n";
    int k = 10;
    do text[--k] = (char)('0' + value % 10); while ((value /= 10) != 0);
    host(4, text);
}
int main(void)
{
    volatile uint32_t *const systick = (volatile uint32_t *)0xE000E010u;
    const uintptr_t open[3] = {(uintptr_t)"frames.bin", 1, 10};
    uintptr_t block[3] = {0, (uintptr_t)joints, sizeof joints};
    block[0] = (uintptr_t)host(1, open);
    systick[1] = 0xffffffu;
    systick[2] = 0;
    systick[0] = 5;
    recogniser_live_begin(&state);
    while (host(6, block) == 0) {
        const uint32_t before = systick[2];
        recogniser_live_push_frame(&state, joints, &event);
        say((before - systick[2]) & 0xffffffu);
    }
    host(0x18, (const void *)0x20026);
    return 0;
}
"""
LINKER = """ENTRY(reset)
SECTIONS {
  .text 0x0 : { KEEP(*(.vectors)) *(.text*) *(.rodata*) }
  .bss 0x20000000 (NOLOAD) : { _bss_begin = .; *(.data*) *(.bss*) *(COMMON) . = ALIGN(4); _bss_end = .; }
  /DISCARD/ : { *(.ARM.*) *(.comment) }
}
"""


@dataclass(frozen=True)
class Options:
    """Which run to measure."""

    run: tyro.conf.Positional[Path]
    """Run folder of `bandstop live hands`."""
    frames: int = 400
    """Frames of a stream to push."""
    write: Path | None = None
    """JSON file of the result."""


def count(texts: dict[str, str], frames: np.ndarray, aim: str) -> tuple[list[int], int]:
    """Instructions of each frame, and the bytes of code and tables."""
    with tempfile.TemporaryDirectory(prefix="bandstop-") as made:
        folder = Path(made)
        for name, text in {**texts, "main.c": MAIN, "chip.ld": LINKER}.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        (folder / "frames.bin").write_bytes(np.ascontiguousarray(frames, "<f4").tobytes())
        sources = [folder / name for name in ("main.c", "recogniser.c", "recogniser_live.c")]
        link = ["-T", folder / "chip.ld", "-o", folder / "image.elf"]
        level = "-O3" if aim == "speed" else "-Oz"
        compile_c(
            zig_compiler(), [*chip_flags(CORTEX_M4), level, *sources, *link], what="building for Cortex-M4"
        )
        command = [
            "qemu-system-arm",
            "-M",
            "mps2-an386",
            "-nographic",
            "-monitor",
            "none",
            "-serial",
            "none",
            "-icount",
            "shift=0",
        ]
        command += ["-semihosting-config", "enable=on,target=native", "-kernel", "image.elf"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
        flash = _text_bytes((folder / "image.elf").read_bytes())
    said = (done.stdout + done.stderr).split()
    return [int(word) * INSTRUCTIONS_A_TICK for word in said if word.isdigit()], flash


def _text_bytes(image: bytes) -> int:
    """Bytes of the segments of a 32-bit ELF file that are stored: code and tables."""
    start, size, entries = (
        int.from_bytes(image[i : i + n], "little") for i, n in ((28, 4), (42, 2), (44, 2))
    )
    headers = [image[start + k * size : start + (k + 1) * size] for k in range(entries)]
    stored = [h for h in headers if int.from_bytes(h[:4], "little") == 1]
    return sum(int.from_bytes(h[16:20], "little") for h in stored)


def main() -> None:
    """Measure a run in both forms of its C."""
    options = tyro.cli(Options)
    live = load_live(options.run)
    stream = make_hand_streams(0, people=(1, 1, 1), repetitions=(1, 1, 1)).test[0].joints[: options.frames]
    plan, normaliser = live.settings.plan, live.recogniser.normaliser
    inputs = window_signals(live.recogniser, Stream(stream, ()), plan)[1].numpy()
    found: dict[str, Any] = {"network": f"{plan.length} frames, a look every {plan.hop}"}
    for aim, number in (("speed", "float32"), ("size", "float32"), ("size", "int16"), ("size", "int8")):
        options_of = ExportOptions(aim=aim, number=number)  # type: ignore[arg-type]
        files, texts = make_live_c(live, options_of, inputs=inputs)
        counts, flash = count(texts, stream, aim)
        counts = counts[plan.length :]
        memory = stream_bytes(live.settings, normaliser, files.program.classes)
        found[f"{number}, for {aim}"] = {
            "frames": len(counts),
            "mean_instructions": round(sum(counts) / len(counts)),
            "most_instructions": max(counts),
            "mean_milliseconds": round(sum(counts) / len(counts) / CLOCK * 1e3, 3),
            "most_milliseconds": round(max(counts) / CLOCK * 1e3, 3),
            "ram_bytes": files.state_bytes + memory,
            "flash_bytes": flash,
        }
    text = json.dumps(found, indent=1) + "\n"
    print(text)
    if options.write is not None:
        write_text(options.write, text)


if __name__ == "__main__":
    main()
