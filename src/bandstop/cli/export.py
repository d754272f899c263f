"""`bandstop export`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from bandstop.cli.parse import MaybeData, MaybeFolder, RunArgument, parse
from bandstop.errors import ExportError
from bandstop.record.folder import LIVE
from bandstop.record.formats import Format

if TYPE_CHECKING:
    from bandstop.cli.deploy_run import Samples
    from bandstop.deploy import DeployModel, ExportOptions

__all__ = ["Export", "main"]


@dataclass(frozen=True)
class Export:
    """Compile a finished run to a small program, checked against the network on the run's test data.

    Examples:
      bandstop export runs/hands98 --to c
      bandstop export runs/hands98 --to c --for size --number int8 --out firmware/
      bandstop export runs/hands98 --to arduino --for size --number int8
      bandstop export runs/hands98 --to cmake --name gestures --out firmware/
      bandstop export runs/hands98 --to wasm
      bandstop export runs/hands98 --to onnx --sparse
      bandstop export runs/hands98 --to bytes
      bandstop export runs/live98 --to page --out site/
    """

    run: RunArgument
    """Run folder, or its model.safetensors."""
    to: Format | Literal["page"] = "c"
    """C99 source, Arduino library, PlatformIO or CMake project, ONNX file, WebAssembly module, the smallest
    file; or, of a run of `bandstop live`, a web page with camera, hand landmarks and recogniser."""
    aim: Annotated[Literal["speed", "size"], tyro.conf.arg(name="for")] = "speed"
    """C and wasm: fastest, or smallest."""
    number: Literal["float32", "int16", "int8"] = "float32"
    """C and wasm: floating point, or fixed point for devices without it."""
    name: Annotated[str, tyro.conf.arg(metavar="NAME")] = "recogniser"
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
    mediapipe: MaybeFolder = None
    """page: folder with the files of @mediapipe/hands (those of `bandstop studio --setup` by default)."""
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
    from bandstop.deploy import ExportOptions
    from bandstop.deploy.model import AS_TRAINED

    live = (asked.run / LIVE).is_file()
    if asked.to == "page" and not live:
        raise ExportError(
            f"a page watches a stream, and {asked.run} is no run of `bandstop live`: train with that, or in "
            "`bandstop studio`"
        )
    most, units = max(1, asked.check), asked.units or AS_TRAINED
    model, samples = run_to_deploy(
        asked.run, data=asked.data, most=most, units=units, false_alarms=asked.false_alarms
    )
    options = ExportOptions(asked.aim, asked.number, asked.name, asked.open_ended, asked.sparse, asked.values)
    folder = asked.out or (asked.run if asked.run.is_dir() else asked.run.parent) / "export"
    if asked.to != "page" and not (live and asked.to in _LIVE_PROJECTS):
        _export_network(asked.to, folder, model, samples, options)
    if live and asked.to in ("c", "wasm", "page", *_LIVE_PROJECTS):
        _export_stream(asked, folder, model, samples, options)
    return 0


_LIVE_PROJECTS = ("arduino", "platformio", "cmake")
"""Of a run of `bandstop live` these hold the network and the stream recogniser together."""


def _export_network(
    to: Format, folder: Path, model: DeployModel, samples: Samples, options: ExportOptions
) -> None:
    from bandstop.deploy import export_model, make_c, signals_of
    from bandstop.deploy.ram import smaller_ram
    from bandstop.engine.pause import telling

    with telling("making the program, running it here and comparing it with the network"):
        report = export_model(
            model, to, folder, sequences=samples.sequences, labels=samples.labels, options=options
        )
    print("\n".join(_lines(report, folder)))
    if to in ("c", *_LIVE_PROJECTS):
        inputs = signals_of(model, samples.sequences[:64])
        files = make_c(model, options, inputs=inputs)
        if advice := smaller_ram(model, files, options, inputs):
            print("\n".join(["less memory with", *(f"  {line}" for line in advice)]))


def _export_stream(
    asked: Export, folder: Path, model: DeployModel, samples: Samples, options: ExportOptions
) -> None:
    from bandstop.live import export_live, stream_to_check

    alarms = asked.false_alarms
    frames = stream_to_check(samples.sequences, model.normaliser.root if model.normaliser else 0)
    if asked.to == "page":
        from bandstop.live.studio.static_page import export_page

        made = export_page(
            asked.run,
            folder,
            frames=frames,
            options=options,
            landmarks=asked.mediapipe,
            false_alarms=alarms,
        )
    elif asked.to == "c" or asked.to == "wasm":
        made = export_live(asked.run, asked.to, folder, frames=frames, options=options, false_alarms=alarms)
    elif asked.to == "arduino" or asked.to == "platformio" or asked.to == "cmake":
        from bandstop.live.projects import export_live_project

        made = export_live_project(
            asked.run, asked.to, folder, frames=frames, options=options, false_alarms=alarms
        )
    files: dict[str, int] = made["files"]
    if asked.to == "page":
        place = folder / f"{options.name}-page"
        print(f"{place}  {len(files)} files, {sum(files.values()):,} bytes, most of them MediaPipe's")
        print(f"look at it: python -m http.server -d {place} 8000")
    else:
        print("\n".join(f"{folder / name}  {size:,} bytes" for name, size in files.items()))
    print(f"stream: the same {made['events']} events as in Python on {made['frames']} frames")


def _lines(report: dict[str, object], folder: Path) -> list[str]:
    files = report["files"]
    assert isinstance(files, dict)
    lines = [f"{folder / name}  {size:,} bytes" for name, size in files.items()]
    lines.append("compared with PyTorch:")
    for key, what in (
        ("agreement", "network"),
        ("stream", "raw frames"),
        ("open_ended", "raw frames, length not known"),
    ):
        found = report.get(key)
        if isinstance(found, dict):
            same = f"the same class for {100 * found['same_class']:.2f} % of {found['inputs']:,} sequences"
            difference = (
                f"{found['largest_difference']:.2g} (the largest score is {found['largest_score']:.3g})"
            )
            lines.append(f"  {what}: {same}, scores differ by at most {difference}")
    accuracy = report.get("accuracy")
    if isinstance(accuracy, dict):
        before, after = (100 * accuracy[which] for which in ("network", "export"))
        lines.append(f"accuracy: {before:.2f} % in PyTorch, {after:.2f} % exported")
    lines.append(f"network: {report['kept']:,} kept connections, {report['macs']:,} multiply-accumulates")
    if "state_bytes" in report:
        program = f"{report['program_weights']:,} weights, {report['program_macs']:,} multiply-accumulates"
        lines.append(f"program: {program}")
        lines.append(f"memory: {report['state_bytes']:,} bytes per recogniser, which the caller provides")
    return lines
