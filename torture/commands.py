"""Commands that write files, and how each is taken up after its process was killed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from torture.samples import TRAININGS, data_file, run_folder, train_words

__all__ = ["COMMANDS", "Command"]

Words = Callable[[Path, Path], Sequence[str | Path]]
"""Of the folder to write into and the shared folder: the command line."""


@dataclass(frozen=True)
class Command:
    """``again``: the words after a kill; the same ones unless a run can be resumed.

    ``every``: kill at every change of a file, or only at each second, third …; ``moments``: kills at random.
    """

    words: Words
    resumes: bool = False
    every: int = 1
    moments: int = 4

    def again(self, out: Path, shared: Path) -> list[str | Path]:
        """The command line after a kill."""
        words = list(self.words(out, shared))
        return [*words, "--resume"] if self.resumes and (out / "config.json").is_file() else words


def _train(kind: str) -> Words:
    return lambda out, shared: train_words(kind, data_file(shared), out)


def _extract(out: Path, shared: Path) -> Sequence[str | Path]:
    """Of a run beside the folder, because the path from one to the other is stored."""
    beside = out.parent / "source"
    with suppress(OSError):
        beside.symlink_to(run_folder("many rates", shared))
    return ["extract", beside, "--rate", "0.8", "--no-report", "--out", out]


def _export(to: str, kind: str = "pmp") -> Words:
    return lambda out, shared: ["export", run_folder(kind, shared), "--to", to, "--out", out]


def _report(out: Path, shared: Path) -> Sequence[str | Path]:
    """A picture: its folder is the command's own."""
    return ["report", run_folder("pmp", shared), "--figure", out / "picture.svg"]


def _live(out: Path, shared: Path) -> Sequence[str | Path]:
    small = [
        "--chunks",
        "8",
        "--net.kind",
        "gcn",
        "--net.channels",
        "4",
        "--net.heads",
        "2",
        "--net.filters",
        "6",
        "--quiet",
    ]
    return ["live", data_file(shared), *small, "--rate", "0.9", "--epochs", "2", "--out", out]


def _convert(out: Path, shared: Path) -> Sequence[str | Path]:
    return ["convert", data_file(shared), out / "set.npz"]


_LIKE_OTHERS = ("bytes", "dense", "rival", "with report")
"""Trainings that write the same files as another one."""

COMMANDS: dict[str, Command] = {
    **{
        f"train {kind}": Command(_train(kind), resumes=True, every=3 if kind in _LIKE_OTHERS else 1)
        for kind in TRAININGS
    },
    "extract": Command(_extract),
    "export c": Command(_export("c")),
    "export c live": Command(_export("c", "live")),
    "export onnx": Command(_export("onnx")),
    "export bytes": Command(_export("bytes")),
    "export arduino": Command(_export("arduino"), moments=2),
    "export wasm": Command(_export("wasm"), every=3, moments=2),
    "report": Command(_report),
    "live": Command(_live, resumes=True),
    "convert": Command(_convert),
}
"""Name → command."""
