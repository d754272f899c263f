"""A stream recogniser as C or WebAssembly: the exported network, and a file that makes events of frames."""

from __future__ import annotations

import tempfile
from importlib import resources
from pathlib import Path
from string import Template

import numpy as np

from bandstop.deploy.c.files import CFiles
from bandstop.deploy.c.layout import SignalLayout
from bandstop.deploy.c.text import Tables
from bandstop.deploy.run.toolchain import compile_c, zig_compiler
from bandstop.deploy.run.wasm import javascript_of_frames
from bandstop.live.recogniser import LiveSettings
from bandstop.live.windows import WindowPlan
from bandstop.skeleton.normalise import Normaliser

__all__ = ["live_texts", "live_wasm", "live_wasm_loader", "stream_bytes", "write_texts"]

_WASM = [
    "-target",
    "wasm32-freestanding",
    "-nostdlib",
    "-std=c99",
    "-s",
    "-ffp-contract=off",
    "-O3",
    "-msimd128",
    "-Wl,--no-entry",
    "-Wl,-z,stack-size=16384",
    "-Wl,--export-memory",
]


def _filled(template: str, name: str, **values: str) -> str:
    text = (resources.files("bandstop.live.templates") / template).read_text(encoding="utf-8")
    return Template(text).substitute(name=name, NAME=name.upper(), **values)


def live_texts(files: CFiles, settings: LiveSettings, normaliser: Normaliser) -> dict[str, str]:
    """All C files of a stream recogniser by name: the network's two, the stream's two and an example."""
    name, plan, rule = files.name, settings.plan, settings.rule
    memory, others, window = _window(files, plan, normaliser)
    header = _filled(
        "live.h",
        name,
        JOINTS=f"{len(normaliser.node_scale)}",
        LENGTH=f"{plan.length}",
        HOP=f"{plan.hop}",
        SMOOTH=f"{rule.smooth}",
        THRESHOLD=_c_float(rule.threshold),
        MEMORY=memory,
        OTHERS=others,
    )
    source = _filled(
        "live.c",
        name,
        DURATIONS=", ".join(str(max(1, min(duration, 65535))) for duration in rule.durations),
        PER_TEMPERATURE=_c_float(1 / rule.temperature),
        RELEASE=_c_float(rule.release * rule.threshold),
        PATIENCE=f"{rule.patience}",
        LAG=f"{rule.lag}",
        REFRACTORY=f"{rule.refractory}",
        WINDOW=window,
    )
    return {
        f"{name}.h": files.header,
        f"{name}.c": files.source,
        f"{name}_live.h": header,
        f"{name}_live.c": source,
        "example/main.c": _filled("live_main.c", name),
    }


def _window(files: CFiles, plan: WindowPlan, normaliser: Normaliser) -> tuple[str, str, str]:
    """Memory of the window's frames, what a frame without a look costs, and the C that keeps them.

    Where chunks and hops begin at the same frames, sums of a few frames are enough; otherwise every frame.
    """
    block, name = plan.block(normaliser.chunks), files.name
    values = f"3 * {name.upper()}_JOINTS"
    if not block:
        ring = f"float ring[{name.upper()}_LIVE_LENGTH * {values}];"
        return ring, "a copy", _filled("window_frames.c", name)
    layout, tables = SignalLayout.of(files.program, normaliser), Tables("places")
    moment = layout.at_moment("m", tables)
    window = _filled(
        "window_blocks.c",
        name,
        BLOCK=f"{block}",
        BLOCKS=f"{plan.length // block}",
        GROUP=f"{plan.length // normaliser.chunks // block}",
        ROOT=f"{normaliser.root}",
        PITCH=f"{layout.value}",
        MOMENT=moment,
        AT=layout.at_joint(),
        TABLES="".join(f"{line}\n" for line in tables.text().splitlines()),
        SHARE=_c_float(normaliser.chunks / plan.length),
    )
    sums = f"float sums[{plan.length // block} * {values}]; /* of {block} frames each */"
    return sums, "a sum", window


def stream_bytes(settings: LiveSettings, normaliser: Normaliser, classes: int) -> int:
    """Memory besides the network's own: frames or their sums, the last looks, a few counters."""
    rows = settings.plan.length // max(1, settings.plan.block(normaliser.chunks))
    return 4 * (rows * 3 * len(normaliser.node_scale) + (settings.rule.smooth + 2) * classes + 9)


def _c_float(value: float) -> str:
    return f"{float(np.float32(value)):.9g}f" if value % 1 else f"{value:.1f}f"


def write_texts(folder: Path, texts: dict[str, str]) -> None:
    """Every text into its file under ``folder``."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def live_wasm(files: CFiles, texts: dict[str, str]) -> bytes:
    """A module without imports; `live_wasm_loader` has the JavaScript for it."""
    with tempfile.TemporaryDirectory(prefix="bandstop-") as made:
        folder, name = Path(made), files.name
        write_texts(folder, {**texts, "glue.c": _filled("live_wasm.c", name)})
        sources = [folder / f"{name}.c", folder / f"{name}_live.c", folder / "glue.c"]
        compile_c(zig_compiler(), [*_WASM, *sources, "-o", folder / "out.wasm"], what="making wasm")
        return (folder / "out.wasm").read_bytes()


def live_wasm_loader(name: str = "recogniser") -> str:
    """JavaScript that loads the module: ``(await load(url)).push(frame)``."""
    return _filled("live.js", name, frame=javascript_of_frames())
