"""What `make torture` found in studies, each a small test."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bandstop.errors import ConfigError, DataError
from bandstop.study.execute import execute
from bandstop.study.plan import read_plan
from bandstop.study.runs import expand
from bandstop.study.study_folder import StudyFolder
from bandstop.study.takeover import take_over
from tests.study.test_study_dispatch import DENSE, carry_out

Write = Callable[..., Path]


@pytest.mark.parametrize(
    "text", ["[]", '"a"', '{"plan": 3, "data": {}}', '{"plan": "a", "data": {"x": [0]}}', "[" * 10**5]
)
def test_a_broken_study_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "study.json").write_text(text)
    with pytest.raises(DataError, match=r"study\.json: (must be an object|not valid JSON)"):
        StudyFolder(tmp_path).open("a", "")


def test_a_plan_nested_too_deep_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text("a = " + "[" * 100_000)
    with pytest.raises(ConfigError, match="not valid TOML: nested too deep"):
        read_plan(str(tmp_path / "plan.toml"))


def test_a_checkpoint_beside_metrics_goes(plan_file: Write, tmp_path: Path, inline: type) -> None:
    """A worker that was killed between its last two files."""
    path, out = plan_file(DENSE), tmp_path / "out"
    carry_out(path, out, inline())
    run = next((out / "runs").iterdir())
    (run / "checkpoint.safetensors").write_bytes(b"left")
    carry_out(path, out, inline())
    assert not (run / "checkpoint.safetensors").exists()
    assert execute.__doc__


def test_what_a_killed_copy_left_is_cleared(plan_file: Write, tmp_path: Path, inline: type) -> None:
    path, first, second = plan_file(DENSE), tmp_path / "first", tmp_path / "second"
    carry_out(path, first, inline())
    runs, _ = expand(read_plan(str(path)))
    (second / "runs" / f".copy-{runs[0].id}").mkdir(parents=True)
    (second / "study.json").write_text((first / "study.json").read_text())
    assert take_over(StudyFolder(second), runs, [first]) == len(runs)
    assert sorted(p.name for p in (second / "runs").iterdir()) == sorted(run.id for run in runs)
