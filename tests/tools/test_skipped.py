"""A run of the tests ends with what was skipped and why, on one process and on several."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SOME = """
import pytest
@pytest.mark.skip(reason="no compiler")
@pytest.mark.parametrize("n", [1, 2])
def test_one(n): pass
def test_two(): pytest.skip("no browser")
def test_three(): pass
"""


def last_lines(folder: Path, *words: str) -> list[str]:
    (folder / "conftest.py").write_text("from tests.skipped import pytest_sessionfinish\n")
    command = [sys.executable, "-m", "pytest", f"--rootdir={folder}", "-p", "no:cacheprovider", *words]
    done = subprocess.run([*command, str(folder)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    return done.stdout.splitlines()


@pytest.mark.parametrize("words", [(), ("-n", "2")], ids=["alone", "on two processes"])
def test_the_list_comes_last(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "test_some.py").write_text(SOME)
    (tmp_path / "test_whole.py").write_text("import pytest\npytest.importorskip('no_such_package')\n")
    lines = last_lines(tmp_path, *words)
    assert lines[-4:-1] == [
        "skipped: 4",
        "  1 in test_some.py: no browser",
        "  2 in test_some.py: no compiler",
    ]
    assert lines[-1].startswith("  1 in test_whole.py: could not import 'no_such_package'")


def test_nothing_skipped_is_said(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text("def test_three(): pass\n")
    assert last_lines(tmp_path)[-1] == "nothing was skipped"
