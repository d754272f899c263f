"""Writing files so that a killed process never leaves a half-written one behind."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape as glob_escape
from pathlib import Path

from bandstop.errors import ConfigError

try:
    import fcntl
except ImportError:  # pragma: no cover - not a POSIX system
    fcntl = None  # type: ignore[assignment]

__all__ = ["atomic_write", "naming", "only_writer", "remove_leftovers", "write_text"]


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
def only_writer(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Hold ``folder``, made if it is not there, for this process; refused while another one holds it.

    The system lets go of it when its holder dies. Folders that were made and stayed empty are removed.

    >>> place = Path(tempfile.mkdtemp()) / "runs" / "a"
    >>> with only_writer(place), only_writer(place):
    ...     pass  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    bandstop.errors.ConfigError: another process is writing into ...a: wait until it ends, or ...
    >>> place.parent.exists()
    False
    """
    held = Path(folder)
    if held.exists() and not held.is_dir():
        yield  # who writes there will say what is wrong
        return
    made = [path for path in (held, *held.parents) if not path.exists()]
    handle = _held_folder(held)
    try:
        yield
    finally:
        for path in made:
            with suppress(OSError):
                path.rmdir()
        os.close(handle)


def _held_folder(folder: Path) -> int:
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        if fcntl is None:
            return os.open(os.devnull, os.O_RDONLY)
        with suppress(FileNotFoundError):  # its last holder has just removed it
            handle = os.open(folder, os.O_RDONLY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                remedy = "wait until it ends, or choose another folder"
                raise ConfigError(f"another process is writing into {folder}: {remedy}") from None
            except OSError:  # a file system without locks
                return handle
            if os.fstat(handle).st_nlink:  # nobody removed it before it was held
                return handle
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
