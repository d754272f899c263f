"""Walking a foreign folder and reading its files: regular ones, of bounded size, never outside the folder."""

from __future__ import annotations

from pathlib import Path

from bandstop.errors import DataError, printable
from bandstop.skeleton.limits import RAISE, allowed

__all__ = [
    "MAX_ENTRIES",
    "MAX_TEXT_BYTES",
    "MAX_WIDE_BYTES",
    "decode",
    "inside",
    "read_bytes",
    "read_text",
    "reason",
    "sorted_entries",
]

MAX_TEXT_BYTES = 32 * 2**20
"""Largest text file of one sequence: half an hour of a hand at 30 frames a second takes about this."""

MAX_WIDE_BYTES = 8 * 2**20
"""Largest text that is not plain ASCII: a single character can make all of it four times as large."""

MAX_ENTRIES = 1_000_000
"""Most entries a folder may have."""


def sorted_entries(folder: Path, root: Path) -> list[Path]:
    """Visible entries of ``folder`` by name, each checked to lie inside ``root`` once links are followed."""
    try:
        if not folder.is_dir():
            raise DataError("no such folder" if not folder.exists() else "not a folder", path=folder)
        names = sorted(entry.name for entry in folder.iterdir())
    except (OSError, ValueError) as problem:
        raise DataError(f"cannot be listed ({reason(problem)})", path=folder) from problem
    if len(names) > MAX_ENTRIES:
        raise DataError(f"holds {len(names):,} entries, more than {MAX_ENTRIES:,}", path=folder)
    return [inside(folder / name, root) for name in names if not name.startswith(".")]


def inside(path: Path, root: Path) -> Path:
    """``path`` itself, refused when a link takes it out of ``root`` or nowhere."""
    try:
        resolved, home = path.resolve(strict=True), root.resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as problem:
        raise DataError(f"no such file, or a broken link ({reason(problem)})", path=path) from problem
    if not resolved.is_relative_to(home):
        raise DataError(
            f"a link that leaves the folder {root}", path=path, hint="copy the file into the folder"
        )
    return path


def read_bytes(path: Path, root: Path | None = None, *, limit: int = MAX_TEXT_BYTES) -> bytes:
    """The content of a regular, non-empty file of at most ``limit`` bytes (inside ``root``, if given)."""
    if root is not None:
        inside(path, root)
    limit = allowed(limit)
    try:
        if not path.is_file():  # a pipe or a device would block, or never end
            raise DataError("no such file" if not path.exists() else "not a regular file", path=path)
        with path.open("rb") as stream:
            content = stream.read(limit + 1)
    except (OSError, ValueError) as problem:
        raise DataError(f"cannot be read ({reason(problem)})", path=path) from problem
    if len(content) > limit:
        raise DataError(f"holds more than {limit:,} bytes, too much for one sequence", path=path, hint=RAISE)
    if not content:
        raise DataError("the file is empty", path=path, line=1)
    return content


def read_text(path: Path, root: Path | None = None) -> str:
    """The UTF-8 text of a file with Unix line ends; a byte that is not UTF-8 is reported with its line."""
    content = read_bytes(path, root)
    if len(content) > (limit := allowed(MAX_WIDE_BYTES)) and not content.isascii():
        raise DataError(
            f"holds more than {limit:,} bytes that are not plain ASCII", path=path, line=1, hint=RAISE
        )
    return decode(content, path)


def decode(content: bytes, path: Path) -> str:
    r"""UTF-8 bytes of ``path`` as text with Unix line ends.

    >>> decode(b"1 2\r\n3 4", Path("a.txt"))
    '1 2\n3 4'
    >>> decode(b"1 2\n\xff", Path("a.txt"))
    Traceback (most recent call last):
        ...
    bandstop.errors.DataError: a.txt, line 2: byte 0xff is not UTF-8 text; save the file as UTF-8
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        # utf-8-sig counts from after its mark, so the line is counted in what it was given.
        line = problem.object.count(b"\n", 0, problem.start) + 1
        found = f"byte 0x{problem.object[problem.start]:02x} is not UTF-8 text"
        raise DataError(found, path=path, line=line, hint="save the file as UTF-8") from problem
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def reason(problem: BaseException) -> str:
    """The first line of an exception, for a sentence."""
    text = printable(str(getattr(problem, "strerror", None) or problem).split("\n", 1)[0].strip())
    return text[:120] if text else type(problem).__name__
