"""Mutated files: read, or refused in a sentence, in two seconds and 200 MB, and nothing of them is run."""

from __future__ import annotations

import gc
import json
import re
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from bandstop.errors import BandstopError
from bandstop.skeleton import load
from tests.skeleton.costly_files import COSTLY
from torture.case import Case, Place, Result, plain_sentence
from torture.child import Child
from torture.mutate import mutate
from torture.specimens import SPECIMENS

__all__ = ["GROUP", "UNIT", "cases"]

GROUP, UNIT = "files", "files"
FILES, BLOCK = 20_000, 100
MOST_SECONDS, MOST_MEGABYTES = 2.0, 200.0
ADDRESS_SPACE = 512 * 2**20
"""More of it than a process had before it began to read; an allocation beyond fails."""
RUNS_CODE = ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "subprocess.Popen",
             "socket.connect", "ctypes.dlopen", "pickle.find_class", "os.putenv", "os.kill")  # fmt: skip
"""Audit events that no reader has a reason for."""


def cases(share: float) -> Iterator[Case]:
    """Blocks of files, as many for each specimen as its cost allows."""
    for name in list(COSTLY)[: max(1, round(share * len(COSTLY)))]:
        yield Case(GROUP, f"costly {name}", _costly(name))
    parts = sum(1 / specimen.cost for specimen in SPECIMENS.values())
    counts = {name: max(1, round(share * FILES / parts / s.cost)) for name, s in SPECIMENS.items()}
    for block in range(-(-max(counts.values()) // BLOCK)):  # a run that is stopped has tried every reader
        for name, count in counts.items():
            if (size := min(BLOCK, count - block * BLOCK)) > 0:
                yield Case(GROUP, f"{name} {block}", _block(name, size))


def _costly(name: str) -> Callable[[Place], Result]:
    """A file that would eat a machine, as it is."""

    def run(place: Place) -> Result:
        spec = COSTLY[name](place.folder / "data")

        def work() -> dict[str, Any]:
            load("hands")  # what is loaded once is loaded
            return Worker((), lambda: load(spec), [], place.folder).measured()

        ended = Child(work, place.shared).wait()
        if ended.code:
            return Result(1, (f"{name}: the process ended: {ended.err[-300:]}",))
        wrong = ended.value.get("wrong")
        facts = {key: ended.value[key] for key in ("seconds", "megabytes")}
        return Result(1, (f"{name}: {wrong}",) if wrong else (), facts=facts)

    return run


def _block(name: str, size: int) -> Callable[[Place], Result]:
    def run(place: Place) -> Result:
        (place.folder / "files").mkdir()
        files, read = SPECIMENS[name].make(place.folder / "files", place.shared)
        seeds = [place.random.getrandbits(64) for _ in range(size)]
        done: list[dict[str, Any]] = []
        failures: list[str] = []
        while len(done) < size:  # a process that dies costs one file
            progress = place.folder / "progress.jsonl"
            progress.unlink(missing_ok=True)
            work = Worker(files, read, seeds[len(done) :], progress)
            ended = Child(work, place.shared).wait()
            if not progress.is_file():
                raise RuntimeError(f"the whole {name} cannot be read: {ended.err[-500:]}")
            lines = progress.read_text("utf-8").splitlines()
            done += [json.loads(line) for line in lines]
            if len(done) < size:
                done.append({"said": "", "seconds": 0, "megabytes": 0})
                failures.append(_told(name, seeds[len(done) - 1], f"the process ended: {ended.err[-300:]}"))
        if strange := {path.name for path in place.folder.iterdir()} - {"files", "progress.jsonl", "out"}:
            failures.append(f"{name}: reading wrote {sorted(strange)}")
        tried = zip(seeds, done, strict=True)
        failures += [_told(name, seed, line["wrong"]) for seed, line in tried if line.get("wrong")]
        facts = {
            "seconds": max(line["seconds"] for line in done),
            "megabytes": max(line["megabytes"] for line in done),
        }
        refused = sum(line.get("refused", False) for line in done)
        return Result(size, tuple(failures), facts={**facts, "sum refused": refused})

    return run


def _told(name: str, seed: int, problem: str) -> str:
    return f"{name} (mutation {seed}): {problem}"


class Worker:
    """Mutates and reads file after file, a line of JSON each; its own memory is measured."""

    def __init__(self, files: Any, read: Callable[[], object], seeds: list[int], progress: Path) -> None:
        self.files, self.read, self.seeds, self.progress = files, read, seeds, progress
        self.ran: list[str] = []

    def __call__(self) -> int:
        """Read the whole file first: what is loaded only once is loaded then."""
        self.read()
        gc.freeze()
        limit = _status("VmSize") * 1024 + ADDRESS_SPACE
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        sys.addaudithook(self._audit)
        with self.progress.open("w", encoding="utf-8") as stream:
            for seed in self.seeds:
                stream.write(json.dumps(self._one(seed)) + "\n")
                stream.flush()
        return 0

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event.startswith(RUNS_CODE):
            self.ran.append(event)

    def _one(self, seed: int) -> dict[str, Any]:
        dice = Random(seed)
        victim = dice.choice(self.files)
        whole = victim.read_bytes()
        victim.write_bytes(mutate(whole, victim.suffix, dice))
        found = self.measured()
        victim.write_bytes(whole)
        return found

    def measured(self) -> dict[str, Any]:
        """What reading costs and how it ends."""
        self.ran.clear()
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
        before, start = _status("VmRSS"), time.process_time()
        found: dict[str, Any] = {}
        try:
            self.read()
        except BandstopError as problem:
            found = {"refused": True}
            if wrong := plain_sentence(str(problem)):
                found["wrong"] = f"its refusal {wrong}: {str(problem)[:300]!a}"
        except BaseException as problem:
            found["wrong"] = f"{type(problem).__name__} instead of a sentence: {str(problem)[:300]!a}"
            found["wrong"] += _where(problem)
        seconds = time.process_time() - start
        megabytes = max(0, _status("VmHWM") - before) / 1024
        if self.ran:
            found["wrong"] = f"it ran something: {self.ran[0]}"
        if found.get("refused") and (seconds > MOST_SECONDS or megabytes > MOST_MEGABYTES):
            found["wrong"] = f"its refusal took {seconds:.1f} s and {megabytes:.0f} MB"
        return {"seconds": round(seconds, 3), "megabytes": round(megabytes, 1), **found}


def _status(key: str) -> int:
    """Kilobytes of this process, as the system counts them."""
    text = Path("/proc/self/status").read_text("utf-8")
    return int(re.search(rf"^{key}:\s+(\d+) kB", text, re.MULTILINE)[1])  # type: ignore[index]


def _where(problem: BaseException) -> str:
    """The last line of our own code that it came through."""
    place, found = problem.__traceback__, ""
    while place is not None:
        code = place.tb_frame.f_code
        if "bandstop" in code.co_filename:
            found = f" at {Path(code.co_filename).name}:{place.tb_lineno}"
        place = place.tb_next
    return found
