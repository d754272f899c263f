"""MediaPipe's hand landmarks for the page: fetched once from the npm registry with a checked hash."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import shutil
import tarfile
import tempfile
import urllib.request
from pathlib import Path

from bandstop.errors import DataError

__all__ = ["FILES", "install_from_archive", "install_from_folder", "installed", "mediapipe_folder", "set_up"]

VERSION = "0.4.1675469240"
REGISTRY = "https://registry.npmjs.org"
ADDRESS = f"{REGISTRY}/@mediapipe/hands/-/hands-{VERSION}.tgz"
SHA512 = "GxoZvL1mmhJxFxjuyj7vnC++JIuInGznHBin5c7ZSq/RbcnGyfEcJrkM/bMu5K1Mz/2Ko+vEX6/+wewmEHPrHg=="
"""As the registry states it for this version."""
MOST_BYTES = 64 << 20
FILES = (
    "hands.js",
    "hands.binarypb",
    "hand_landmark_full.tflite",
    "hand_landmark_lite.tflite",
    "hands_solution_packed_assets.data",
    "hands_solution_packed_assets_loader.js",
    "hands_solution_simd_wasm_bin.data",
    "hands_solution_simd_wasm_bin.js",
    "hands_solution_simd_wasm_bin.wasm",
    "hands_solution_wasm_bin.js",
    "hands_solution_wasm_bin.wasm",
)
"""The only files that are kept and served."""


def mediapipe_folder() -> Path:
    """Where the files are kept: in the user's cache, never in a project."""
    cache = os.environ.get("BANDSTOP_CACHE") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "bandstop" / f"mediapipe-hands-{VERSION}"


def installed(folder: Path | None = None) -> bool:
    """Whether every file is there."""
    place = folder or mediapipe_folder()
    return all((place / name).is_file() for name in FILES)


def install_from_archive(data: bytes, folder: Path | None = None, *, sha512: str = SHA512) -> Path:
    """Unpack the package; refused if its hash is another than the registry's."""
    found = base64.b64encode(hashlib.sha512(data).digest()).decode()
    if found != sha512:
        raise DataError(f"@mediapipe/hands {VERSION} has another hash than expected and was not unpacked")
    with tempfile.TemporaryDirectory(prefix="bandstop-") as made:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
            for member in archive:
                name = member.name.removeprefix("package/")
                source = archive.extractfile(member) if member.isfile() and name in FILES else None
                if source is not None and member.size <= MOST_BYTES:
                    (Path(made) / name).write_bytes(source.read())
        return install_from_folder(Path(made), folder)


def install_from_folder(source: Path, folder: Path | None = None) -> Path:
    """Copy the files from a folder that holds the unpacked package."""
    place = folder or mediapipe_folder()
    source = source / "package" if (source / "package").is_dir() else source
    missing = [name for name in FILES if not (source / name).is_file()]
    if missing:
        raise DataError(f"this is not the package @mediapipe/hands: {missing[0]} is missing", path=source)
    place.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copyfile(source / name, place / f".{name}")
        (place / f".{name}").replace(place / name)
    return place


def set_up(source: Path | None = None) -> Path:
    """Fetch the package (or take it from ``source``, a folder or the .tgz itself) and keep its files."""
    if source is not None and source.is_dir():
        return install_from_folder(source)
    if source is not None:
        if not source.is_file():
            raise DataError("no such file or folder", path=source)
        return install_from_archive(source.read_bytes())
    try:
        with urllib.request.urlopen(ADDRESS, timeout=60) as answer:
            data = answer.read(MOST_BYTES)
    except OSError as problem:
        raise DataError(
            f"{ADDRESS} cannot be fetched ({problem}); fetch it elsewhere and give it with --from"
        ) from None
    return install_from_archive(data)
