"""Reading `.npy` and `.npz` files that may be broken or hostile: no pickle, a bounded size, one error."""

from __future__ import annotations

import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError

__all__ = ["MAX_ARRAY_BYTES", "read_npy", "read_npz"]

MAX_ARRAY_BYTES = 8 * 2**30
"""Largest file, and largest sum of unpacked members, that is read (a zip of 8 MB can claim to hold 8 GB)."""

_PLAIN_KINDS = "biufSU"


def read_npy(path: Path) -> NDArray[Any]:
    """The array of a `.npy` file.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.npy"
    >>> np.save(file, np.arange(3))
    >>> read_npy(file)
    array([0, 1, 2])
    """
    size = _regular_size(path)
    try:
        with path.open("rb") as stream:
            return _read_array(stream, size, path, "")
    except DataError:
        raise
    except Exception as problem:  # numpy's parser answers hostile bytes with almost any class of exception
        raise DataError(f"not a readable .npy file ({_reason(problem)})", path=path) from problem


def read_npz(path: Path, wanted: Collection[str] | None = None) -> dict[str, NDArray[Any]]:
    """The arrays of a `.npz` file, or only those named in ``wanted``; members of other kinds are ignored."""
    _regular_size(path)
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            chosen = {name: info for name, info in members.items() if wanted is None or name in wanted}
            total = sum(info.file_size for info in chosen.values())
            if total > MAX_ARRAY_BYTES:
                raise DataError(f"unpacks to {total:,} bytes, more than {MAX_ARRAY_BYTES:,}", path=path)
            arrays = {}
            for name, info in chosen.items():
                with archive.open(info) as stream:
                    arrays[name] = _read_array(stream, info.file_size, path, f"member {name!r}: ")
            return arrays
    except DataError:
        raise
    except Exception as problem:  # as above, plus zipfile's, zlib's and lzma's own exceptions
        raise DataError(f"not a readable .npz file ({_reason(problem)})", path=path) from problem


def _regular_size(path: Path) -> int:
    try:
        if not path.is_file():
            raise DataError("no such file" if not path.exists() else "not a regular file", path=path)
        size = path.stat().st_size
    except (OSError, ValueError) as problem:
        raise DataError(f"cannot be opened ({_reason(problem)})", path=path) from problem
    if size > MAX_ARRAY_BYTES:
        raise DataError(f"holds {size:,} bytes, more than {MAX_ARRAY_BYTES:,}", path=path)
    return size


def _read_array(stream: Any, size: int, path: Path, member: str) -> NDArray[Any]:
    shape, dtype = _header(stream)
    if dtype.kind not in _PLAIN_KINDS or dtype.itemsize == 0:
        raise DataError(f"{member}holds values of type {dtype}, not plain numbers or text", path=path)
    # Checked before numpy allocates: a header of 80 bytes may claim terabytes.
    count = 1
    for extent in shape:
        count *= extent
    if count * dtype.itemsize > size:
        raise DataError(f"{member}truncated: its header promises shape {shape} of {dtype}", path=path)
    stream.seek(0)
    array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    return array


def _header(stream: BinaryIO) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
    else:
        raise ValueError(f"version {version} of the .npy format")
    return shape, dtype


def _reason(problem: BaseException) -> str:
    text = str(problem).split("\n", 1)[0].strip()
    return text[:120] if text else type(problem).__name__
