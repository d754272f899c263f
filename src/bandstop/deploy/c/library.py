"""Exported C as a library, whatever the build system: its sources, an example, sketches, a few words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bandstop.deploy.c.files import CFiles
from bandstop.deploy.c.text import filled
from bandstop.deploy.model import DeployModel
from bandstop.errors import ExportError

__all__ = ["Library", "library_of"]


@dataclass(frozen=True)
class Library:
    """What goes into a library, and what it says of itself."""

    name: str
    header: str
    """The header that a program includes; it includes the others."""
    sentence: str
    paragraph: str
    sources: Mapping[str, str]
    """Headers and C files by name."""
    main: str
    """A program for the command line."""
    sketches: Mapping[str, str]
    """Programs for a board with Arduino's core by name, the first one the usual; none has a ``main``."""


def library_of(model: DeployModel, files: CFiles) -> Library:
    """The library of a recogniser that takes raw frames; refused if the network takes anything else."""
    if model.normaliser is None:
        raise ExportError(
            "an Arduino, PlatformIO or CMake project takes raw frames; a network without a normaliser is "
            "exported to C"
        )
    name, joints = files.name, len(model.normaliser.node_scale)
    return Library(
        name,
        f"{name}.h",
        f"A recogniser of {len(model.class_names)} classes, made by bandstop.",
        f"Takes x, y, z of {joints} joints frame by frame and names the class. "
        f"{files.state_bytes} bytes of memory, no allocation.",
        files.texts,
        files.main,
        {"serial": filled("serial.ino", name=name, NAME=name.upper()) + "\n"},
    )
