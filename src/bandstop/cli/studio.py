"""`bandstop studio`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from bandstop.cli.parse import parse
from bandstop.errors import MissingExtra

__all__ = ["Studio", "main"]


@dataclass(frozen=True)
class Studio:
    """Open the studio: record gestures in front of a camera, train, try them, take the recogniser away.

    A page on this machine only: nothing is sent anywhere. `--setup` fetches MediaPipe's hand landmarks once
    (13 MB).

    Examples:
      bandstop studio --setup
      bandstop studio my_gestures/
    """

    project: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")] = Path("studio")
    """Folder of recordings and trainings."""
    port: int = 0
    """Port on 127.0.0.1; 0 for any that is free."""
    setup: bool = False
    """Fetch @mediapipe/hands from the npm registry, check its hash, keep it in the user's cache, and end."""
    source: Annotated[Path | None, tyro.conf.arg(name="from", metavar="FILE")] = None
    """With --setup: a folder or .tgz that holds the package, instead of the registry."""
    no_browser: bool = False
    """Only print the address."""


def main(arguments: Sequence[str]) -> int:
    """Serve until interrupted."""
    asked = parse(Studio, "studio", arguments)
    if asked.setup:
        from bandstop.live.studio import mediapipe

        print(f"@mediapipe/hands {mediapipe.VERSION}: {mediapipe.set_up(asked.source)}")
        return 0
    try:
        from bandstop.live.studio.server import serve
    except ModuleNotFoundError as error:
        raise MissingExtra((error.name or "starlette").split(".")[0], extra="studio") from None
    serve(asked.project, port=asked.port, open_browser=not asked.no_browser)
    return 0
