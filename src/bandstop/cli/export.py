"""`bandstop export`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from bandstop.cli.parse import MaybeData, MaybeFolder, RunArgument, parse
from bandstop.record.folder import LIVE
from bandstop.record.formats import Format

__all__ = ["Export", "main"]


@dataclass(frozen=True)
class Export:
    """Compile a finished run to a small program, checked against the network on the run's test data.

    Examples:
      bandstop export runs/hands98 --to c
      bandstop export runs/hands98 --to c --for size --number int8 --out firmware/
      bandstop export runs/hands98 --to arduino --for size --number int8
      bandstop export runs/hands98 --to wasm
      bandstop export runs/hands98 --to onnx --sparse
      bandstop export runs/hands98 --to bytes
    """

    run: RunArgument
    """Run folder, or its model.safetensors."""
    to: Format = "c"
    """C99 source, Arduino library, ONNX file, WebAssembly module, or the smallest file."""
    aim: Annotated[Literal["speed", "size"], tyro.conf.arg(name="for")] = "speed"
    """C and wasm: fastest, or smallest."""
    number: Literal["float32", "int16", "int8"] = "float32"
    """C and wasm: floating point, or fixed point for devices without it."""
    name: str = "recogniser"
    """Prefix of files and functions."""
    units: Annotated[str | None, tyro.conf.arg(metavar="WORDS")] = None
    """Units of raw joints, as the header shall say them, such as millimetres (those of the training data by
    default)."""
    open_ended: bool = False
    """C and wasm: also take frames without a known end (16 kB more memory)."""
    sparse: bool = False
    """ONNX: store sparse initialisers."""
    values: Literal["8-bit", "half"] = "8-bit"
    """bytes: how weights are stored."""
    false_alarms: Annotated[str | None, tyro.conf.arg(metavar="RATE")] = None
    """Threshold of "none of these" for this rate, such as 1/min or 2% (that of `bandstop calibrate` or
    `bandstop live` by default)."""
    out: MaybeFolder = None
    """Folder for the files (RUN/export by default)."""
    data: MaybeData = None
    """Data to check on, named as for `bandstop train` (the run's own by default)."""
    check: int = 600
    """At most this many test sequences to check on."""


def main(arguments: Sequence[str]) -> int:
    """Export and print what was found."""
    asked = parse(Export, "export", arguments)

    from bandstop.cli.deploy_run import run_to_deploy
    from bandstop.deploy import ExportOptions, export_model, make_c, signals_of
    from bandstop.deploy.model import AS_TRAINED
    from bandstop.deploy.ram import smaller_ram

    most, units = max(1, asked.check), asked.units or AS_TRAINED
    model, samples = run_to_deploy(
        asked.run, data=asked.data, most=most, units=units, false_alarms=asked.false_alarms
    )
    options = ExportOptions(asked.aim, asked.number, asked.name, asked.open_ended, asked.sparse, asked.values)
    folder = asked.out or (asked.run if asked.run.is_dir() else asked.run.parent) / "export"
    report = export_model(
        model, asked.to, folder, sequences=samples.sequences, labels=samples.labels, options=options
    )
    print("\n".join(_lines(report, folder)))
    if asked.to in ("c", "arduino"):
        inputs = signals_of(model, samples.sequences[:64])
        files = make_c(model, options, inputs=inputs)
        for line in smaller_ram(model, files, options, inputs):
            print(f"  smaller by {line}")
    if asked.to in ("c", "wasm") and (asked.run / LIVE).is_file():
        from bandstop.live import export_live, stream_to_check

        frames = stream_to_check(samples.sequences, model.normaliser.root if model.normaliser else 0)
        alarms = asked.false_alarms
        made = export_live(asked.run, asked.to, folder, frames=frames, options=options, false_alarms=alarms)
        print("\n".join(f"{folder / name}  {size} bytes" for name, size in made["files"].items()))
        print(f"stream: the same {made['events']} events as in Python on {made['frames']} frames")
    return 0


def _lines(report: dict[str, object], folder: Path) -> list[str]:
    files = report["files"]
    lines = (
        [f"{folder / name}  {size} bytes" for name, size in files.items()] if isinstance(files, dict) else []
    )
    for key, what in (
        ("agreement", "network"),
        ("stream", "raw frames"),
        ("open_ended", "raw frames, length not known"),
    ):
        found = report.get(key)
        if isinstance(found, dict):
            difference = f"{found['largest_difference']:.2g} of scores up to {found['largest_score']:.3g}"
            same = f"{100 * found['same_class']:.2f} % of {found['inputs']}"
            lines.append(f"{what}: largest difference {difference}, same class {same}")
    accuracy = report.get("accuracy")
    if isinstance(accuracy, dict):
        lines.append(
            f"accuracy: {100 * accuracy['network']:.2f} % before, {100 * accuracy['export']:.2f} % exported"
        )
    lines.append(f"network: {report['kept']:,} kept connections, {report['macs']:,} multiply-accumulates")
    if "state_bytes" in report:
        program = f"{report['program_weights']:,} weights, {report['program_macs']:,} multiply-accumulates"
        lines.append(f"program: {program}")
        lines.append(f"memory: {report['state_bytes']:,} bytes per recogniser, the caller's")
    return lines
