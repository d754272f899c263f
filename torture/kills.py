"""Kills at every change of a file and at random moments: resumed or run again to the same bytes."""

from __future__ import annotations

import json
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from torture.case import Case, Place, Result
from torture.child import Child, bandstop
from torture.commands import COMMANDS, Command
from torture.compare import contents, difference
from torture.kill_at import FileChanges

__all__ = ["GROUP", "UNIT", "cases"]

GROUP, UNIT = "kills", "kills"
POINTS = 120
"""Most changes of files that a command is cut at; one that makes more is cut at as many, evenly."""
CHAIN = 3
"""Kills in a row at random moments before a command may end."""


def cases(share: float) -> Iterator[Case]:
    """For each command the kills at changes of files, a case for each tenth of them, and random moments."""
    commands = list(COMMANDS)[: max(2, round(share * len(COMMANDS)))]
    for part in range(10) if share == 1 else range(1):  # a run that is stopped has tried some of everything
        for name in commands:
            yield Case(GROUP, f"{name}, part {part}", _at_changes(name, part))
            if part < COMMANDS[name].moments:
                yield Case(GROUP, f"{name}, moment {part}", _at_moments(name))
            if part == 0:
                yield Case(GROUP, f"{name}, in the middle of a file", _in_a_file(name))


def whole(name: str, shared: Path) -> tuple[dict[str, bytes], int, float]:
    """What a command writes when nobody kills it, by how many changes of files, in how many seconds."""
    command, kept = COMMANDS[name], shared / "whole" / name
    out, note = kept / "out", kept / "note.json"
    if not note.is_file():
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)  # as the folder of a case: one change less
        words = [str(word) for word in command.words(out, shared)]  # makes the runs that it needs
        changes = FileChanges(out)

        def work() -> dict[str, int]:
            from bandstop.cli import main

            return changes.counting(lambda: main(words))()

        ended = Child(work, shared / "scratch").wait()
        if ended.code or ended.value["code"]:
            raise RuntimeError(f"{name} fails without a kill: {ended.err[-800:]}")
        note.write_text(json.dumps({"changes": ended.value["changes"], "seconds": ended.seconds}), "utf-8")
    said = json.loads(note.read_text("utf-8"))
    return contents(out), said["changes"], said["seconds"]


def _points(changes: int, every: int) -> list[int]:
    """The numbers of the changes to be killed at.

    >>> _points(7, 3)
    [1, 4, 7]
    """
    step = max(every, -(-changes // POINTS))
    return list(range(1, changes + 1, step))


def _at_changes(name: str, part: int) -> Callable[[Place], Result]:
    def run(place: Place) -> Result:
        command = COMMANDS[name]
        wanted, changes, _ = whole(name, place.shared)
        points = _points(changes, command.every)[part::10]
        failures = []
        for number in points:
            out = place.folder / "out"
            shutil.rmtree(out, ignore_errors=True)
            watched = FileChanges(out, kill_at=number).watch
            ended = bandstop(command.words(out, place.shared), place.folder / "s", prepare=watched).wait()
            if ended.code != -signal.SIGKILL:
                failures.append(f"{name}, change {number}: it was not killed: {ended.err[-300:]}")
            elif problem := finished(command, out, place, wanted):
                failures.append(f"{name}, killed at change {number} of {changes}: {problem}")
        return Result(len(points), tuple(failures))

    return run


def finished(command: Command, out: Path, place: Place, wanted: dict[str, bytes]) -> str:
    """Run the command to its end; what is wrong with what it leaves."""
    ended = bandstop(command.again(out, place.shared), place.folder / "s").wait()
    if ended.code:
        return f"it cannot be taken up (exit code {ended.code}): {ended.err[-400:]}"
    return difference(contents(out), wanted)


def _at_moments(name: str) -> Callable[[Place], Result]:
    def run(place: Place) -> Result:
        command, out = COMMANDS[name], place.folder / "out"
        wanted, _, seconds = whole(name, place.shared)
        kills = 0
        for _ in range(CHAIN):
            child = bandstop(command.again(out, place.shared), place.folder / "s")
            time.sleep(place.random.random() * seconds)
            kills += child.kill()
            child.wait()
        problem = finished(command, out, place, wanted)
        return Result(kills, (f"{name}, killed at {kills} random moments: {problem}",) if problem else ())

    return run


def _in_a_file(name: str) -> Callable[[Place], Result]:
    """Death while a file grows: the system ends the process when one is larger than is allowed."""

    def run(place: Place) -> Result:
        command, out = COMMANDS[name], place.folder / "out"
        wanted, _, _ = whole(name, place.shared)
        sizes = sorted({len(data) for data in wanted.values() if len(data) > 64})
        kills, failures = 0, []
        for size in place.random.sample(sizes, min(3, len(sizes))):
            shutil.rmtree(out, ignore_errors=True)
            limit = place.random.randrange(1, size)
            deadly = lambda: signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # noqa: E731
            words = command.words(out, place.shared)
            ended = bandstop(words, place.folder / "s", prepare=deadly, file_bytes=limit).wait()
            if not ended.killed:
                continue  # a compiler met the limit first, and its complaint was said
            kills += 1
            if problem := finished(command, out, place, wanted):
                failures.append(f"{name}, dead at byte {limit} of a file: {problem}")
        return Result(kills, tuple(failures))

    return run
