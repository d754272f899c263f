"""`make` finds a Python that works, says so where there is none, and bears spaces in names."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A Python as far as tools/*.sh look: {in_range} is what the probe finds,
# {builds} whether pip can install.
FAKE = """#!/bin/sh
case "$*" in
  *venv\\ --clear*) for last; do :; done; /bin/mkdir -p "$last/bin"; /bin/cp "$0" "$last/bin/python" ;;
  *pip\\ install*) echo "{version}: $*" >>"$LOG"; {builds} ;;
  *sys.version_info*) echo "${{SAME:-$0}}"; {in_range} ;;
  *) true ;;
esac
"""


def fake(folder: Path, name: str, *, in_range: bool = True, builds: bool = True) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    text = FAKE.format(version=name, builds=str(builds).lower(), in_range=str(in_range).lower())
    path.write_text(text)
    path.chmod(0o755)
    return path


def find(folder: Path, python: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(folder), "PYTHON": python, **more}
    command = [str(ROOT / "tools" / "find-python.sh")]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("name", ["python3.11", "python3.12", "python3.13", "python3", "python"])
def test_any_name_is_found(tmp_path: Path, name: str) -> None:
    path = fake(tmp_path / "bin of mine", name)
    assert find(path.parent).stdout == f"{path}\n"


def test_what_is_there_but_does_not_run_is_passed_over(tmp_path: Path) -> None:
    fake(tmp_path, "python3.11", in_range=False)
    (tmp_path / "python3.12").write_text("#!/nowhere/at/all\n")
    (tmp_path / "python3.12").chmod(0o755)
    good = fake(tmp_path, "python3.13")
    done = find(tmp_path)
    assert done.stdout == f"{good}\n" and done.stderr == "" and done.returncode == 0


def test_one_under_two_names_is_named_once(tmp_path: Path) -> None:
    first, second = fake(tmp_path, "python3.11"), fake(tmp_path, "python3")
    assert find(tmp_path).stdout == f"{first}\n{second}\n"
    assert find(tmp_path, SAME="/usr/bin/python3.11").stdout == f"{first}\n"


def test_none_at_all_is_one_sentence(tmp_path: Path) -> None:
    fake(tmp_path, "python3", in_range=False)
    done = find(tmp_path)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "No Python 3.11, 3.12 or 3.13" in done.stderr


def test_the_asked_one_wins(tmp_path: Path) -> None:
    fake(tmp_path, "python3.11")
    asked = fake(tmp_path / "else where", "mine")
    assert find(tmp_path, str(asked)).stdout == f"{asked}\n"
    bad = fake(tmp_path / "else where", "old", in_range=False)
    done = find(tmp_path, str(bad))
    assert done.returncode == 1 and done.stderr.startswith(f"PYTHON={bad} is not a Python 3.11")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of what `make` reads, in a folder with a space in its name."""
    folder = tmp_path / "a folder"
    (folder / "tools").mkdir(parents=True)
    for name in ("Makefile", "constraints.txt", "pyproject.toml", "tools/setup.sh", "tools/find-python.sh"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def make(project: Path, *words: str, log: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{project / 'bin'}:/usr/bin:/bin", "LOG": str(log)}
    environment = {name: value for name, value in environment.items() if name not in ("PYTHON", "VENV")}
    command = ["make", "--no-print-directory", "demo", *words]
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed (Debian package make)")
@pytest.mark.parametrize("venv", [".venv", "an environment"])
def test_the_next_python_is_tried_where_packages_are_missing(project: Path, venv: str) -> None:
    names = ("python3.11", "python3.12", "python3.13", "python3", "python")
    for name in names:
        fake(project / "bin", name, builds=name == "python3.13")
    log = project.parent / "log"
    told = make(project, f"VENV={project.parent / venv}", log=log)
    assert "demo --out demo" in told.stdout, told.stderr  # which the fake cannot run
    tried = [line.split(":")[0] for line in log.read_text().splitlines()]
    assert tried == ["python3.11", "python3.12", "python3.13", "python3.13"]
    make(project, f"VENV={project.parent / venv}", log=log)
    assert len(log.read_text().splitlines()) == len(tried)  # installed once
    (project / "constraints.txt").write_text("torch==0\n")
    make(project, f"VENV={project.parent / venv}", log=log)
    assert len(log.read_text().splitlines()) == len(tried) + 2  # and again when versions change


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed (Debian package make)")
def test_nothing_is_left_where_nothing_can_be_installed(project: Path) -> None:
    for name in ("python3.11", "python3.12", "python3.13", "python3", "python"):
        fake(project / "bin", name, builds=False)
    done = make(project, log=project.parent / "log")
    assert done.returncode and "could not be installed" in done.stderr
    assert not (project / ".venv").exists()
