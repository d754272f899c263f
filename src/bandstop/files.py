"""Writing files so that a killed process never leaves a half-written one behind."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape as glob_escape
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - not a POSIX system
    fcntl = None  # type: ignore[assignment]

__all__ = ["atomic_write", "naming", "remove_leftovers", "write_text"]


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; on success it replaces ``path``, on failure it is removed.

    What earlier writers of ``path`` left behind when they were killed is removed too: a living writer holds a
    lock on its temporary file, and the system takes the lock from a dead one.

    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / ".note.txt.k3yz.txt").write_text("left by a killed writer")
    >>> with atomic_write(folder / "note.txt") as part:
    ...     _ = part.write_text("whole")
    >>> (folder / "note.txt").read_text(), len(list(folder.iterdir()))
    ('whole', 1)
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(target)
    handle, part = _locked_temporary(target)
    try:
        yield part
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.chmod(0o644)
        part.replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            part.unlink()
        raise
    finally:
        os.close(handle)


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let an error of the system, such as a full disk, name the file that a user knows.

    >>> with naming("log.jsonl"):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
        ...
    OSError: [Errno 28] No space left on device: 'log.jsonl'
    """
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write ``text`` to ``path`` atomically, as UTF-8."""
    with naming(path), atomic_write(path) as part:
        part.write_text(text, encoding="utf-8")


def remove_leftovers(target: Path) -> None:
    """Remove the temporary files of dead writers of ``target``."""
    if fcntl is None:
        return
    for part in target.parent.glob(f".{glob_escape(target.name)}.*"):
        with contextlib.ExitStack() as stack, suppress(OSError):
            handle = os.open(part, os.O_RDWR | os.O_NOFOLLOW)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its writer lives
            part.unlink()


def _locked_temporary(target: Path) -> tuple[int, Path]:
    while True:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=target.suffix)
        if fcntl is None:
            return handle, Path(name)
        with suppress(OSError):  # a file system without locks: leftovers stay, nothing else is lost
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:  # nobody took it for a leftover before it was locked
            return handle, Path(name)
        os.close(handle)
