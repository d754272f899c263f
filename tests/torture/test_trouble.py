"""The instruments of torture do what they say: a judge that cannot fail would be worth nothing."""

import json
import mmap
import os
import signal
import struct
from pathlib import Path
from random import Random

import pytest
import torch
from torch import nn

from bandstop import Pruner
from torture import engine, files, folders, frames, kills, studies
from torture.child import Child, Ended, refusal_problem
from torture.compare import contents, difference
from torture.engine import exactly
from torture.files import Worker
from torture.frames import FORMS, texts_of
from torture.kill_at import FileChanges
from torture.mutate import mutate
from torture.summary import GROUPS


def test_a_child_hands_back_its_value_its_words_and_its_end(tmp_path: Path) -> None:
    assert Child(lambda: {"a": 1}, tmp_path).wait().value == {"a": 1}
    broken = Child(lambda: 1 / 0, tmp_path).wait()  # type: ignore[arg-type,return-value]
    assert broken.code == 1 and "ZeroDivisionError" in broken.err
    killed = Child(lambda: os.kill(os.getpid(), signal.SIGKILL), tmp_path).wait()
    assert killed.killed and killed.code == -signal.SIGKILL
    assert "hung" in Child(signal.pause, tmp_path).wait(0.05).err
    assert not list(tmp_path.iterdir())


def test_a_process_is_killed_at_the_change_that_was_asked(tmp_path: Path) -> None:
    def work() -> int:
        for number in range(5):
            (tmp_path / "out" / str(number)).write_text("x")
        return 0

    (tmp_path / "out").mkdir()
    counted = Child(FileChanges(tmp_path / "out").counting(work), tmp_path / "s").wait()
    assert counted.value == {"code": 0, "changes": 5}
    for path in (tmp_path / "out").iterdir():
        path.unlink()
    watch = FileChanges(tmp_path / "out", kill_at=3).watch
    assert Child(work, tmp_path / "s", prepare=watch).wait().killed
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_differences_are_seen_and_clocks_are_not(tmp_path: Path) -> None:
    for name, seconds in (("a", 1), ("b", 2)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "log.jsonl").write_text(json.dumps({"loss": 3, "seconds": seconds}))
    one, two = contents(tmp_path / "a"), contents(tmp_path / "b")
    assert difference(one, two) == ""
    assert "left behind: .part" in difference({**one, ".part": b""}, two)
    assert "missing: log.jsonl" in difference({}, two)
    assert "differs at byte 1" in difference({"x": b"ab"}, {"x": b"ac"})


def test_refusals_are_judged() -> None:
    good = Ended(2, "", "bandstop: a.csv: the file is empty\n", 0.1)
    assert refusal_problem(good) == ""
    assert "traceback" in refusal_problem(Ended(2, "", "Traceback (most recent call last):\n x", 0.1))
    assert "exit code 1" in refusal_problem(Ended(1, "", "bandstop: x", 0.1))
    assert "signal 9" in refusal_problem(Ended(-9, "", "", 0.1))


def test_a_reader_that_breaks_runs_code_or_eats_memory_is_found(tmp_path: Path) -> None:
    def judged(read: object) -> dict[str, object]:
        def work() -> dict[str, object]:
            worker = Worker((), read, [], tmp_path)  # type: ignore[arg-type]
            import sys

            sys.addaudithook(worker._audit)
            return worker.measured()

        return dict(Child(work, tmp_path).wait().value)

    from bandstop.errors import DataError

    def refusing() -> None:
        raise DataError("too large")

    def costly() -> None:
        held = mmap.mmap(-1, 300 * 2**20)  # not from memory that the process has freed and kept
        held[:: mmap.PAGESIZE] = bytes(len(held) // mmap.PAGESIZE)
        raise DataError(f"too large: {len(held)}")

    assert judged(refusing)["refused"] and "wrong" not in judged(refusing)
    assert "MB" in str(judged(costly)["wrong"])
    assert "ZeroDivisionError" in str(judged(lambda: 1 / 0)["wrong"])
    assert "os.system" in str(judged(lambda: os.system("true"))["wrong"])


def test_mutations_are_the_same_for_a_seed_and_know_the_format() -> None:
    header = json.dumps({"__metadata__": {"config": '{"a": [1, 2]}'}}).encode()
    data = struct.pack("<Q", len(header)) + header
    for suffix in (".json", ".safetensors", ".npz", ".pkl", ".csv"):
        made = [mutate(data, suffix, Random(seed)) for seed in range(40)]
        assert made == [mutate(data, suffix, Random(seed)) for seed in range(40)]
        assert len(set(made)) > 20 and data not in made[:3]


def test_an_engine_that_is_not_exact_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    net = nn.Linear(6, 8)
    assert exactly(net, 0.5, lambda model, pruner, step: None, None) == ("", {"sum exact": 1})
    real = Pruner.finalize

    def more(pruner: Pruner) -> nn.Module:
        model = real(pruner)
        with torch.no_grad():
            model.weight.fill_(1.0)  # type: ignore[operator,union-attr]
        return model

    monkeypatch.setattr(Pruner, "finalize", more)
    problem, _ = exactly(nn.Linear(6, 8), 0.5, lambda model, pruner, step: None, None)
    assert problem == "asked 24, kept 48"
    monkeypatch.setattr(Pruner, "finalize", lambda pruner: 1 / 0)
    problem, _ = exactly(nn.Linear(6, 8), 0.5, lambda model, pruner, step: None, None)
    assert "ZeroDivisionError instead of a sentence" in problem


def test_there_are_as_many_cases_as_is_said() -> None:
    """Ten thousand files, two hundred kills, five hundred engine cases, a million frames a form."""
    assert files.FILES >= 10_000 and frames.FRAMES >= 10**6
    assert len(list(engine.cases(1))) >= 500
    assert {module.GROUP for module in (files, kills, engine, frames, folders, studies)} == set(GROUPS)
    names = " ".join(FORMS)
    assert all(
        word in names for word in ("int8", "int16", "open-ended", "live", "motion", "lstm", "sequential")
    )
    made = [case.name for case in kills.cases(1)]
    assert len(set(made)) == len(made) and any("train paper" in name for name in made)


@pytest.mark.parametrize("name", ["gcn motion int8", "lstm live size", "sequential int16"])
def test_a_form_is_exported_for_its_fuzzer(name: str) -> None:
    texts, told = texts_of(FORMS[name])
    assert "net.c" in texts and ("-DLIVE" in told) == ("live" in name)
