"""Reading `.npy` and `.npz` files that may be broken or hostile: no pickle, a bounded cost, one error."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from bandstop.errors import DataError, printable
from bandstop.skeleton.limits import RAISE, allowed

__all__ = ["MAX_ARRAY_BYTES", "Head", "NpzFile", "open_npz", "read_npy", "read_npz"]

MAX_ARRAY_BYTES = 8 * 2**30
"""Largest file, and largest sum of unpacked members, that is read (a zip of 8 MB can claim to hold 8 GB)."""

_PLAIN_KINDS = "biufSU"
_FREELY_UNPACKED, _MOST_RATIO = 64 * 2**20, 32
_MOST_DIRECTORY = 2**20
_DEFLATE = 1032
"""No byte of a zip can become more than this many."""

Check = Callable[[tuple[int, ...], "np.dtype[Any]"], None]


@dataclass(frozen=True)
class Head:
    """What an array file says of itself before its values."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def bytes(self) -> int:
        """Size of the values."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_npy(path: Path, check: Check = lambda shape, dtype: None) -> NDArray[Any]:
    """The array of a `.npy` file; ``check`` may refuse its shape and type before the values are read.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.npy"
    >>> np.save(file, np.arange(3))
    >>> read_npy(file)
    array([0, 1, 2])
    """
    size = _regular_size(path)
    with _as_data_error(path, ".npy"), path.open("rb") as stream:
        head = _head(stream, size, path, "")
        check(head.shape, head.dtype)
        stream.seek(0)
        return _values(stream)


def read_npz(path: Path, wanted: Collection[str] | None = None) -> dict[str, NDArray[Any]]:
    """The arrays of a `.npz` file, or only those named in ``wanted``; members of other kinds are ignored."""
    with open_npz(path) as archive:
        heads = archive.heads(wanted)
        return {name: archive.read(name) for name in heads}


@dataclass(frozen=True)
class NpzFile:
    """An open `.npz` file."""

    path: Path
    archive: zipfile.ZipFile
    members: dict[str, zipfile.ZipInfo]

    @property
    def names(self) -> list[str]:
        """The names of the members."""
        return list(self.members)

    def heads(self, wanted: Collection[str] | None = None) -> dict[str, Head]:
        """Shape and type of the arrays (of those in ``wanted``); refused if they unpack to too much."""
        chosen = {n: info for n, info in self.members.items() if wanted is None or n in wanted}
        total = sum(info.file_size for info in chosen.values())
        limit = allowed(min(MAX_ARRAY_BYTES, _FREELY_UNPACKED + _MOST_RATIO * self.path.stat().st_size))
        if total > limit:
            raise DataError(f"unpacks to {total:,} bytes, more than {limit:,}", path=self.path, hint=RAISE)
        heads = {}
        for name, info in chosen.items():
            if info.file_size > _DEFLATE * info.compress_size + 1024:
                raise DataError(f"member {name!a:.60}: truncated", path=self.path)
            with self.archive.open(info) as stream:
                heads[name] = _head(stream, info.file_size, self.path, f"member {name!a:.60}: ")
        return heads

    def read(self, name: str) -> NDArray[Any]:
        """One array, whose head was found good."""
        with self.archive.open(self.members[name]) as stream:
            return _values(stream)


@contextmanager
def open_npz(path: Path) -> Iterator[NpzFile]:
    """Open a `.npz` file; whatever goes wrong while it is open is a :class:`DataError`."""
    _regular_size(path)
    with _as_data_error(path, ".npz"), path.open("rb") as stream:
        guard = _Directory(stream, path)
        with zipfile.ZipFile(guard) as archive:
            guard.opened = True
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            yield NpzFile(path, archive, members)


class _Directory:
    """A file whose list of members is refused when it is very long: zipfile keeps all of it in memory."""

    def __init__(self, stream: BinaryIO, path: Path) -> None:
        self.stream, self.path, self.opened = stream, path, False
        self.seek, self.tell, self.close = stream.seek, stream.tell, stream.close

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not self.opened and size > allowed(_MOST_DIRECTORY):
            raise DataError("a list of members that is too long", path=self.path, hint=RAISE)
        return self.stream.read(size)


@contextmanager
def _as_data_error(path: Path, kind: str) -> Iterator[None]:
    try:
        yield
    except DataError:
        raise
    except Exception as problem:  # numpy, zipfile, zlib and lzma answer hostile bytes with almost any class
        raise DataError(f"not a readable {kind} file ({_reason(problem)})", path=path) from problem


def _regular_size(path: Path) -> int:
    try:
        if not path.is_file():
            raise DataError("no such file" if not path.exists() else "not a regular file", path=path)
        size = path.stat().st_size
    except (OSError, ValueError) as problem:
        raise DataError(f"cannot be opened ({_reason(problem)})", path=path) from problem
    if size > (limit := allowed(MAX_ARRAY_BYTES)):
        raise DataError(f"holds {size:,} bytes, more than {limit:,}", path=path, hint=RAISE)
    return size


def _head(stream: Any, size: int, path: Path, member: str) -> Head:
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
    else:
        raise ValueError(f"version {version} of the .npy format")
    if dtype.kind not in _PLAIN_KINDS or dtype.itemsize == 0:
        raise DataError(f"{member}holds values of type {dtype}, not plain numbers or text", path=path)
    # Checked before numpy allocates: a header of 80 bytes may claim terabytes.
    head = Head(shape, dtype)
    if head.bytes > size:
        raise DataError(f"{member}truncated: its header promises shape {shape} of {dtype}", path=path)
    return head


def _values(stream: Any) -> NDArray[Any]:
    array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    return array


def _reason(problem: BaseException) -> str:
    text = printable(str(problem).split("\n", 1)[0].strip())
    return text[:120] if text else type(problem).__name__
