"""A static page of a stream recogniser: camera, hand landmarks and recogniser in a folder, without Python."""

from __future__ import annotations

import html
import json
import shutil
import tempfile
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy import ExportOptions
from bandstop.errors import ExportError
from bandstop.files import atomic_write
from bandstop.live.export import export_live
from bandstop.live.recogniser import load_live
from bandstop.live.studio import mediapipe
from bandstop.skeleton.layouts import HAND, MEDIAPIPE_HAND

__all__ = ["export_page", "landmark_order"]

_SHARED = ("clock.js", "draw.js", "sources.js", "style.css", "icon.svg")
"""Files that the page has in common with the studio."""


def landmark_order(joint_names: tuple[str, ...]) -> list[int]:
    """Which of MediaPipe's landmarks each joint of a recogniser is, by name.

    >>> landmark_order(MEDIAPIPE_HAND.joint_names)[:3], landmark_order(HAND.joint_names)[:3]
    ([0, 1, 2], [0, 1, 5])
    """
    theirs = MEDIAPIPE_HAND.joint_names
    if sorted(joint_names) != sorted(theirs):
        found = ", ".join(joint_names[:3]) or "joints without names"
        raise ExportError(
            f"a page shows a recogniser of MediaPipe's 21 hand landmarks, found {len(joint_names)} joints "
            f"({found}, …): record in `bandstop studio`, or export to wasm for landmarks of your own"
        )
    return [theirs.index(name) for name in joint_names]


def _settings(joint_names: tuple[str, ...], frames_per_second: float) -> dict[str, Any]:
    places = [joint_names.index(name) for name in HAND.joint_names]
    return {
        "frames_per_second": frames_per_second,
        "landmark_order": landmark_order(joint_names),
        "joint_names": list(joint_names),
        "edges": [[places[a], places[b]] for a, b in HAND.edges],
    }


def _landmarks(folder: Path | None) -> Path:
    """Where MediaPipe's files are taken from."""
    place = mediapipe.mediapipe_folder() if folder is None else folder
    place = place / "package" if (place / "package").is_dir() else place
    if not mediapipe.installed(place):
        raise ExportError(
            f"the page needs the files of @mediapipe/hands {mediapipe.VERSION}, and {place} lacks them: run "
            "`bandstop studio --setup` once, or name a folder that does with --mediapipe"
        )
    return place


def export_page(
    run: str | Path,
    folder: Path,
    *,
    frames: NDArray[np.floating[Any]],
    options: ExportOptions | None = None,
    landmarks: Path | None = None,
    title: str | None = None,
    false_alarms: str | None = None,
) -> dict[str, Any]:
    """Write ``folder/NAME-page``, which any web server can show from any path; checked on ``frames``.

    ``landmarks``: a folder with the files of @mediapipe/hands; by default those of `bandstop studio --setup`.
    """
    options = options or ExportOptions()
    live, source = load_live(run), _landmarks(landmarks)
    settings = _settings(live.recogniser.joint_names, live.settings.frames_per_second)
    shown = title or f"Gestures: {', '.join(live.class_names[:4])}{' …' if len(live.class_names) > 4 else ''}"
    files: dict[str, bytes] = {"recogniser.json": json.dumps(settings).encode()}
    with tempfile.TemporaryDirectory(prefix="bandstop-") as made:
        report = export_live(
            run, "wasm", Path(made), frames=frames, options=options, false_alarms=false_alarms
        )
        files["recogniser.wasm"] = (Path(made) / f"{options.name}_live.wasm").read_bytes()
        files["page/live.js"] = (Path(made) / f"{options.name}_live.js").read_bytes()
    package = resources.files("bandstop.live.studio")
    front = Template((package / "show" / "index.html").read_text(encoding="utf-8"))
    files["index.html"] = front.substitute(title=html.escape(shown)).encode()
    files["page/show.js"] = (package / "show" / "show.js").read_bytes()
    files |= {f"page/{name}": (package / "page" / name).read_bytes() for name in _SHARED}
    files[".nojekyll"] = b""
    place = folder / f"{options.name}-page"
    for name, data in files.items():
        with atomic_write(place / name) as part:
            part.write_bytes(data)
    for name in mediapipe.FILES:
        with atomic_write(place / "mediapipe" / name) as part:
            shutil.copyfile(source / name, part)
    names = [*files, *(f"mediapipe/{name}" for name in mediapipe.FILES)]
    sizes = {f"{place.name}/{name}": (place / name).stat().st_size for name in names}
    return {**report, "to": "live page", "files": sizes}
