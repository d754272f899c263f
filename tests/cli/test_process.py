"""The command line as a process: what a shell sees."""

import subprocess
import sys
from pathlib import Path


def run(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bandstop", *map(str, words)], capture_output=True, text=True, timeout=300
    )


def test_from_a_run_to_a_named_action(folder: Path, finished: Path) -> None:
    done = run("predict", finished, folder / "line" / "0.npy", folder / "rest" / "3.npy")
    assert done.returncode == 0, done.stderr
    assert [line.split(": ")[1].split()[0] for line in done.stdout.splitlines()] == ["line", "rest"]


def test_a_refusal_is_one_sentence_on_standard_error() -> None:
    done = run("describe", "nowhere")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("bandstop: ") and len(done.stderr.splitlines()) == 1
