"""An Arduino library of exported C: a zip for the IDE's "Add .ZIP Library", with a sketch as its example."""

from __future__ import annotations

import io
import zipfile

from bandstop.deploy.c.files import CFiles
from bandstop.deploy.c.text import filled
from bandstop.deploy.model import DeployModel
from bandstop.errors import ExportError

__all__ = ["arduino_texts", "arduino_zip"]

LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""Time stamp of every file, so that the same network gives the same bytes."""


def arduino_texts(model: DeployModel, files: CFiles) -> dict[str, str]:
    """Texts of the library by their paths in the zip; the sketch has ``setup`` and ``loop``, not ``main``."""
    if model.normaliser is None:
        raise ExportError(
            "an Arduino library takes raw frames; a network without a normaliser is exported to C"
        )
    name = files.name
    about = filled(
        "library.properties",
        name=name,
        count=len(model.class_names),
        joints=len(model.normaliser.node_scale),
        state_bytes=files.state_bytes,
    )
    sketch = filled("serial.ino", name=name, NAME=name.upper())
    sources = {f"{name}/src/{file}": text for file, text in files.texts.items()}
    return {
        f"{name}/library.properties": about + "\n",
        **sources,
        f"{name}/examples/serial/serial.ino": sketch + "\n",
    }


def arduino_zip(texts: dict[str, str]) -> bytes:
    """The zip's content; the same texts give the same bytes."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in texts.items():
            entry = zipfile.ZipInfo(path, LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text.encode())
    return made.getvalue()
