"""Studies in real processes that are killed, interrupted, or lose a worker."""

import collections
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bandstop.record.folder import read_metrics
from bandstop.study.results import read_results

# Background shells start their children with Ctrl-C ignored: a terminal does not,
# and this test plays the terminal.
PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from bandstop.cli.study import main
if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""
GRID = '[[grid]]\ndata = "tiny"\nmethod = "dense"\nseed = [0, 1, 2]\n'
Write = Callable[..., Path]


@contextmanager
def study(*words: object, **options: Any) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", PROGRAM, *map(str, words), "--checkpoint-seconds", "0"]
    process = subprocess.Popen(
        command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def journal(out: Path) -> list[dict[str, Any]]:
    path = out / "journal.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def count(out: Path, event: str) -> collections.Counter[str]:
    return collections.Counter(entry["run"] for entry in journal(out) if entry["event"] == event)


def until(happened: Callable[[], bool], what: str, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, f"waited too long for {what}"
        time.sleep(0.02)


def under_way(out: Path) -> list[Path]:
    """Folders of runs that hold a checkpoint and are not finished."""
    return [
        p.parent
        for p in out.glob("runs/*/checkpoint.safetensors")
        if not (p.parent / "metrics.json").exists()
    ]


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_killed_study_goes_on_without_repeating(plan_file: Write, tmp_path: Path) -> None:
    path, out = plan_file(GRID + "settings.epochs = 60"), tmp_path / "out"
    with study(path, "--out", out, "--workers", 1) as process:
        until(
            lambda: len(count(out, "finished")) == 1 and bool(under_way(out)),
            "a finished run and one under way",
        )
        process.send_signal(signal.SIGKILL)
        process.wait()
    (done,) = count(out, "finished")
    until(lambda: all(gone(entry["pid"]) for entry in journal(out)), "the orphaned worker to end by itself")
    (half,) = under_way(out)
    stamp = (out / "runs" / done / "model.safetensors").stat().st_mtime_ns
    with study(path, "--out", out, "--workers", 1) as process:
        said, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    assert "3 of 3 runs finished" in said
    assert (out / "runs" / done / "model.safetensors").stat().st_mtime_ns == stamp
    assert set(count(out, "finished").values()) == {1} and len(count(out, "finished")) == 3
    assert count(out, "began")[done] == 1 and count(out, "began")[half.name] == 2
    assert [e["resumed"] for e in journal(out) if e["run"] == half.name and e["event"] == "began"] == [
        False,
        True,
    ]
    rows = read_results([out])
    assert len(rows) == 3
    assert {row.id: row.accuracy for row in rows} == {
        row.id: read_metrics(out / "runs" / row.id).accuracy for row in rows
    }


def test_a_killed_worker_costs_nothing_but_time(plan_file: Write, tmp_path: Path) -> None:
    path, out = plan_file(GRID + "settings.epochs = 60"), tmp_path / "out"
    with study(path, "--out", out, "--workers", 2) as process:
        until(lambda: bool(under_way(out)), "a run under way")
        began = next(entry for entry in journal(out) if entry["event"] == "began")
        os.kill(began["pid"], signal.SIGKILL)
        said, told = process.communicate(timeout=300)
    assert process.returncode == 0, told
    assert "3 of 3 runs finished" in said
    assert f"{began['run']}: its worker died (killed by SIGKILL); put back" in told
    assert "left" in told, "the time left is said"
    assert set(count(out, "finished").values()) == {1}
    assert count(out, "began")[began["run"]] == 2


def test_ctrl_c_stops_cleanly(plan_file: Write, tmp_path: Path) -> None:
    path, out = plan_file(GRID + "settings.epochs = 5000"), tmp_path / "out"
    with study(path, "--out", out, "--workers", 1) as process:
        until(lambda: bool(under_way(out)), "a run under way")
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the study and its workers
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command continues" in told
    assert "Traceback" not in told
    assert all(gone(entry["pid"]) for entry in journal(out))
    assert under_way(out), "the checkpoint stays"


def test_the_command_line_says_what_failed(plan_file: Write, tmp_path: Path) -> None:
    path, out = plan_file('[[grid]]\ndata = "tiny"\nsettings.weights = 1\n'), tmp_path / "out"
    with study(path, "--out", out, "--workers", 1) as process:
        said, told = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "0 of 1 runs finished" in said
    assert "failed: tiny-pmp-laplace-s0-" in said and "smallest possible" in said
    assert "Traceback" not in said + told


def test_a_dry_run_lists_and_writes_nothing(
    plan_file: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from bandstop.cli.study import main

    assert main([str(plan_file(GRID)), "--out", str(tmp_path / "out"), "--dry-run", "--set", "epochs=3"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 4 and said[0].startswith("tiny-dense-s0-") and said[0].endswith("to do")
    assert said[-1] == "3 runs, 0 finished"
    assert not (tmp_path / "out").exists()
