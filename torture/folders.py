"""Two processes on one folder, a full disk, a read-only or a removed folder: a sentence, and no harm."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from torture.case import Case, Place, Result
from torture.child import Ended, bandstop, refusal_problem
from torture.commands import COMMANDS
from torture.compare import contents, difference
from torture.kills import finished, whole

__all__ = ["GROUP", "UNIT", "cases"]

GROUP, UNIT = "folders", "cases"
SMALL_DISKS = (4, 16, 32, 64)
"""Kilobytes of disks that are full soon."""
NAMES = tuple(name for name in COMMANDS if name not in ("export wasm", "export arduino", "train bytes"))


def cases(share: float) -> Iterator[Case]:
    """Each command in each kind of trouble."""
    names = NAMES[: max(2, round(share * len(NAMES)))]
    for number, size in enumerate(SMALL_DISKS):
        for name in names:
            yield Case(GROUP, f"{name}, a disk of {size} kB", _full(name, size))
            if number < 2:
                yield Case(GROUP, f"{name}, twice at once {number}", _twice(name))
                yield Case(GROUP, f"{name}, removed while it runs {number}", _removed(name))
            if number == 0:
                yield Case(GROUP, f"{name}, read only", _read_only(name))


def _twice(name: str) -> Callable[[Place], Result]:
    """Both may end well with the same bytes, or one is refused in a sentence."""

    def run(place: Place) -> Result:
        command, out = COMMANDS[name], place.folder / "out"
        wanted, _, seconds = whole(name, place.shared)
        first = bandstop(command.words(out, place.shared), place.folder / "one")
        time.sleep(place.random.random() * 0.7 * seconds)
        second = bandstop(command.again(out, place.shared), place.folder / "two")
        ends = [first.wait(), second.wait()]
        failures = [problem for ended in ends if ended.code and (problem := refusal_problem(ended))]
        if all(ended.code for ended in ends):
            failures.append(f"both were refused: {ends[0].err[-200:]} / {ends[1].err[-200:]}")
        elif problem := difference(contents(out), wanted):
            failures.append(problem)
        return _result(f"{name}, twice at once", failures)

    return run


def _full(name: str, kilobytes: int) -> Callable[[Place], Result]:
    """A sentence; once there is room the command goes on to the same bytes."""

    def run(place: Place) -> Result:
        command = COMMANDS[name]
        wanted, _, _ = whole(name, place.shared)
        disk = place.folder / "disk"
        with mounted(disk, f"size={kilobytes}k") as problem:
            if problem:
                return Result(0, skipped=problem)
            out = disk / "out"
            ended = bandstop(command.words(out, place.shared), place.folder / "s").wait()
            failures = _told(ended)
            left = [name for name in contents(disk) if Path(name).name.startswith(".")]
            if left:
                failures.append(f"a file is left behind: {left[0]}")
            _mount("-o", "remount,size=64m", str(disk))
            if problem := finished(command, out, place, wanted):
                failures.append(f"after room was made {problem}")
        return _result(f"{name}, a disk of {kilobytes} kB", failures)

    return run


def _read_only(name: str) -> Callable[[Place], Result]:
    def run(place: Place) -> Result:
        command = COMMANDS[name]
        wanted, _, seconds = whole(name, place.shared)
        disk, failures = place.folder / "disk", list[str]()
        with mounted(disk, "size=64m") as problem:
            if problem:
                return Result(0, skipped=problem)
            out = disk / "out"
            words = command.words(out, place.shared)
            _mount("-o", "remount,ro", str(disk))
            ended = bandstop(words, place.folder / "s").wait()
            failures += [f"from the start: {p}" for p in _told(ended)]
            if not ended.code:
                failures.append("it says nothing")
            _mount("-o", "remount,rw", str(disk))
            child = bandstop(command.words(out, place.shared), place.folder / "s")
            time.sleep(place.random.random() * seconds)
            child.kill(signal.SIGSTOP)  # a folder in which a file is open for writing cannot be made so
            _mount("-o", "remount,ro", str(disk))
            child.kill(signal.SIGCONT)
            failures += [f"half way: {p}" for p in _told(child.wait())]
            _mount("-o", "remount,rw", str(disk))
            if problem := finished(command, out, place, wanted):
                failures.append(f"after it could be written again {problem}")
        return _result(f"{name}, read only", failures)

    return run


def _removed(name: str) -> Callable[[Place], Result]:
    """Whatever it says, it is a sentence; afterwards the command runs as ever."""

    def run(place: Place) -> Result:
        command, out = COMMANDS[name], place.folder / "out"
        wanted, _, seconds = whole(name, place.shared)
        child = bandstop(command.words(out, place.shared), place.folder / "s")
        time.sleep(place.random.random() * seconds)
        aside = place.folder / "aside"
        if out.is_dir():
            out.rename(aside)  # at once, however many files it holds
        failures = _told(child.wait())
        shutil.rmtree(aside, ignore_errors=True)
        shutil.rmtree(out, ignore_errors=True)
        if problem := finished(command, out, place, wanted):
            failures.append(f"afterwards {problem}")
        return _result(f"{name}, removed while it runs", failures)

    return run


def _told(ended: Ended) -> list[str]:
    """What is wrong with the words of a command that may have ended well."""
    problem = refusal_problem(ended) if ended.code else ""
    return [problem] if problem else []


def _result(what: str, failures: list[str]) -> Result:
    return Result(1, tuple(f"{what}: {failure}" for failure in failures))


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[str]:
    """A file system in memory at ``folder``; yields why there is none, or nothing."""
    folder.mkdir()
    if os.geteuid():
        yield "a small disk can only be mounted by root"
        return
    done = _mount("-t", "tmpfs", "-o", options, "tmpfs", str(folder))
    if done.returncode:
        yield f"a small disk cannot be mounted here: {done.stderr.strip()}"
        return
    try:
        yield ""
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False, capture_output=True)


def _mount(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["mount", *words], check=False, capture_output=True, text=True)
