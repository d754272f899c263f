"""A file's cost is bounded by its size: what is refused is refused in two seconds and 200 megabytes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bandstop.errors import ConfigError, DataError
from bandstop.skeleton import load, load_file, load_sequence
from bandstop.skeleton.limits import VARIABLE, allowed
from bandstop.skeleton.readers import table
from tests.skeleton.costly_files import COSTLY
from tests.skeleton.sample_trees import write

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def costs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    folder = tmp_path_factory.mktemp("costly")
    specs = [make(folder / name.replace(" ", "-")) for name, make in COSTLY.items()]
    command = [sys.executable, "-m", "tests.skeleton.cost_of", *specs]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=600, check=True)
    shutil.rmtree(folder)
    return dict(zip(COSTLY, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("name", COSTLY)
def test_a_costly_file_is_refused_at_once(name: str, costs: dict[str, dict]) -> None:
    found = costs[name]
    assert found["said"] != "read"
    assert not found["said"].startswith("TRACEBACK"), found
    assert found["said"].isprintable()
    assert found["seconds"] < 2, found
    assert found["megabytes"] < 200, found


def test_a_user_may_raise_the_limits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = ",".join("1" * 63) + "\n"
    file = write(tmp_path / "wave" / "a.csv", text * 3)
    monkeypatch.setattr(table, "MOST_LINES", 2)
    with pytest.raises(
        DataError, match="line 2: holds 3 lines, more than 2; BANDSTOP_LIMITS=4 in the environment"
    ):
        load_sequence(file)
    monkeypatch.setenv(VARIABLE, "1.5")
    assert len(load_sequence(file)) == 3


@pytest.mark.parametrize("factor", ["", "x", "0.5", "nan", "inf", "-1"])
def test_a_wrong_factor_is_refused(monkeypatch: pytest.MonkeyPatch, factor: str) -> None:
    monkeypatch.setenv(VARIABLE, factor)
    with pytest.raises(ConfigError, match="BANDSTOP_LIMITS must be a number from 1 to 1000000"):
        allowed(1)


@pytest.mark.parametrize("kind", ["fpha:{}", "mediapipe:{}", "pyskl:{}", "{}", "sbu:{}", "utd-mhad:{}"])
def test_control_characters_of_names_are_escaped(kind: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as refused:
        load(kind.format(tmp_path / "a\x1b[2J\nb"))
    assert str(refused.value).isprintable()
    assert "a\\x1b[2J\\nb" in str(refused.value)


def test_control_characters_of_files_are_escaped(tmp_path: Path) -> None:
    for name, content in (
        ("a.csv", b"\x1b[31mx0,\x07y0\n1,\x1b2\n"),
        ("a.json", b'{"\x1b[31m": 1}'),
        ("a.npz", b"PK\x1b"),
    ):
        file = write(tmp_path / name, content)
        with pytest.raises(DataError) as refused:
            load_file(file)
        assert str(refused.value).isprintable()
