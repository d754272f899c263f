"""An Arduino library of exported C: a zip for the IDE's "Add .ZIP Library", with a sketch as its example."""

from __future__ import annotations

import io
import zipfile

from bandstop.deploy.c.library import Library
from bandstop.deploy.c.text import filled

__all__ = ["arduino_texts", "arduino_zip"]

LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""Time stamp of every file, so that the same network gives the same bytes."""


def arduino_texts(library: Library) -> dict[str, str]:
    """Texts of the library by their paths in the zip; a sketch has ``setup`` and ``loop``, not ``main``."""
    name = library.name
    about = filled(
        "library.properties",
        name=name,
        sentence=library.sentence,
        paragraph=library.paragraph,
        header=library.header,
    )
    return {
        f"{name}/library.properties": about + "\n",
        **{f"{name}/src/{file}": text for file, text in library.sources.items()},
        **{f"{name}/examples/{which}/{which}.ino": text for which, text in library.sketches.items()},
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
