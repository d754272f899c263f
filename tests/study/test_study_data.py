"""Data of a study: read as its runs read them, and before the study leaves anything behind."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from bandstop.errors import DataError
from bandstop.study.conduct import conduct
from bandstop.study.dispatch import Standing
from bandstop.study.plan import read_plan
from bandstop.study.runs import expand
from bandstop.study.study_folder import StudyFolder
from tests.study.conftest import BASE

Write = Callable[..., Path]


def carry_out(path: Path, out: Path, executor: Any, reuse: Sequence[Path] = ()) -> Standing:
    plan = read_plan(str(path))
    return conduct(plan, expand(plan)[0], StudyFolder(out), lambda: executor, lambda *_: None, reuse=reuse)


def test_data_are_known_as_the_runs_read_them(plan_file: Write, tmp_path: Path, inline: Any) -> None:
    """A table without a header is not readable at all without being told what its columns are."""
    for name, sign in (("rise", 1), ("fall", -1)):
        (tmp_path / "data" / name).mkdir(parents=True)
        for i in range(6):
            rows = [[sign * t * j + i for j in range(8)] for t in range(12)]
            text = "".join(",".join(map(str, row)) + "\n" for row in rows)
            (tmp_path / "data" / name / f"{i}.csv").write_text(text)
    out, grid = tmp_path / "out", '[[grid]]\ndata = "flat"\nmethod = "dense"\nseed = [0, 1]\n'
    base = BASE.replace("[base]", f"flat = '{tmp_path / 'data'}'\n[base]\n")
    with pytest.raises(DataError, match="columns"):
        carry_out(plan_file(grid, base), out, inline())
    assert not out.exists(), "a study that cannot begin leaves nothing behind"
    told = base + 'reading = { columns = "xy" }\n'
    standing = carry_out(plan_file(grid, told), out, inline())
    assert (standing.finished, standing.failed) == (2, {})
    assert list(json.loads((out / "study.json").read_text())["data"]) == ["flat (columns xy)"]
    again, taken = tmp_path / "again", inline()
    carry_out(plan_file(grid, told), again, taken, reuse=[out])
    assert taken.executed == []
