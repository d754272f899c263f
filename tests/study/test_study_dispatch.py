"""The study's course: order, failures, what is repeated and what is not; all in this process."""

import dataclasses
import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bandstop.errors import ConfigError, DataError
from bandstop.study.conduct import conduct, make_executor
from bandstop.study.dispatch import Standing
from bandstop.study.execute import Task, TaskResult, execute
from bandstop.study.plan import Plan, read_plan
from bandstop.study.results import read_results
from bandstop.study.runs import expand
from bandstop.study.study_folder import StudyFolder, lease
from bandstop.training.config import RunConfig

DENSE = '[[grid]]\ndata = "tiny"\nmethod = "dense"\nseed = [0, 1]\n'
PRUNED = '[[grid]]\ndata = "tiny"\nrate = 0.9\nseed = [0, 1]\n'
Write = Callable[..., Path]


def carry_out(
    path: Path, out: Path, executor: Any, *, overrides: Any = (), **options: Any
) -> tuple[Standing, list[str]]:
    events: list[str] = []
    plan = read_plan(str(path))
    runs, _ = expand(plan, overrides)
    standing = conduct(
        plan, runs, StudyFolder(out), lambda: executor, lambda s, event: events.append(event), **options
    )
    assert executor.closed
    return standing, [event for event in events if event]


def refused(plan: Plan, out: Path, executor: Any, **options: Any) -> None:
    """Where the study is to be refused before any executor is made."""
    conduct(plan, expand(plan)[0], StudyFolder(out), executor, lambda *_: None, **options)


def test_joined_runs_wait_for_theirs_and_say_their_cost(
    plan_file: Write, tmp_path: Path, inline: Any
) -> None:
    net = 'net = { kind = "tcn", widths = [6, 8], kernels = [1, 3], strides = [1, 1] }\n'
    base = '[base]\nepochs = 2\nchunks = 8\nsignal = "places+steps+duration"\n' + net
    joined = '[[grid]]\ndata = "tiny"\nmethod = "joined"\nrate = 0.9\njoin = ["default", "bones"]\n'
    members = 'variant = ["default", "bones"]\n[variant.bones]\nsignal = "places+steps+bones+duration"\n'
    path = plan_file(joined + PRUNED + members, base)
    out, executor = tmp_path / "out", inline()
    standing, _ = carry_out(path, out, executor)
    assert (standing.finished, standing.failed) == (5, {})
    first, *others = read_results([out])
    ours = [row for row in others if row.seed == 0]
    assert first.id.startswith("tiny-joined-90-s0-")
    assert executor.executed.index(first.id) > max(executor.executed.index(row.id) for row in ours)
    assert (first.method, first.rate, first.distilled, first.teacher_seconds) == ("joined", 0.9, 0, 0)
    assert first.weights_kept == sum(row.weights_kept for row in ours)
    assert first.seconds == pytest.approx(sum(row.seconds for row in ours), abs=0.02)
    standing, _ = carry_out(path, tmp_path / "again", again := inline(), reuse=[out])
    assert standing.finished == 5 and again.executed == [first.id], "to join again takes no training"
    for bad in (PRUNED + 'method = "joined"\n', joined.replace('"joined"', '["joined", "gmp"]')):
        with pytest.raises(ConfigError, match=r"goes with a join|stands alone"):
            expand(read_plan(str(plan_file(bad + "[variant.bones]\nchunks = 4\n", base))))


def test_teachers_go_first_and_are_learned_from(plan_file: Write, tmp_path: Path, inline: Any) -> None:
    out, executor = tmp_path / "out", inline()
    standing, events = carry_out(plan_file(PRUNED + 'teachers = { seeds = "all" }\n' + DENSE), out, executor)
    assert [run.split("-")[1] for run in executor.executed] == ["dense", "dense", "pmp", "pmp"]
    assert (standing.finished, standing.failed, standing.epochs_done) == (4, {}, 8)
    assert len(events) == 4
    rows = read_results([out])
    assert [row.method for row in rows] == ["pmp", "pmp", "dense", "dense"], "in the plan's order"
    assert [row.distilled for row in rows] == [2, 2, 0, 0]
    assert rows[0].teacher_seconds == pytest.approx(rows[2].seconds + rows[3].seconds)
    assert rows[0].weights_kept == round(0.1 * rows[0].weights_total)
    stored = RunConfig.from_json((out / "runs" / rows[0].id / "config.json").read_text())
    assert [Path(t).name for t in stored.distill.teachers] == [rows[2].id, rows[3].id]


def test_a_finished_study_is_not_repeated(plan_file: Write, tmp_path: Path, inline: Any) -> None:
    path = plan_file(PRUNED)
    carry_out(path, tmp_path / "out", inline())
    before = (tmp_path / "out" / "results.csv").read_text()
    executor = inline()
    standing, _ = carry_out(path, tmp_path / "out", executor)
    assert executor.executed == [] and standing.finished == 2
    assert (tmp_path / "out" / "results.csv").read_text() == before
    plan_file(PRUNED.replace("[0, 1]", "[0, 1, 2]"))
    carry_out(path, tmp_path / "out", executor := inline())
    assert [run[:23] for run in executor.executed] == ["tiny-pmp-laplace-90-s2-"], "a plan may grow"


def test_a_failure_is_told_and_does_not_stop_the_rest(plan_file: Write, tmp_path: Path, inline: Any) -> None:
    wild = "[variant.wild]\noptim = { lr = 1e30, latent_lr = 1e30, warmup = 0 }\n"
    path, out = plan_file(wild + PRUNED + 'variant = ["wild", "default"]'), tmp_path / "out"
    standing, events = carry_out(path, out, inline())
    assert standing.finished == 2 and len(standing.failed) == 2
    run, reason = next(iter(standing.failed.items()))
    assert "wild" in run and "not finite" in reason
    assert any(
        event.startswith(f"{run}: failed: layer classifier.weight has values that are not finite")
        for event in events
    )
    assert json.loads((out / "failures" / f"{run}.json").read_text())["reason"] == reason
    assert "Traceback" in (out / "failures" / f"{run}.txt").read_text()
    executor = inline()
    standing, _ = carry_out(path, out, executor)
    assert executor.executed == [] and len(standing.failed) == 2, "only --retry tries again"
    carry_out(path, out, executor, retry=True)
    assert sorted(executor.executed) == sorted(standing.failed)


def test_a_programming_error_is_a_failure_too(
    plan_file: Write, tmp_path: Path, inline: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("a\nb")

    monkeypatch.setattr("bandstop.study.execute.train_run", broken)
    standing, _ = carry_out(plan_file(DENSE), tmp_path / "out", inline())
    assert set(standing.failed.values()) == {"ZeroDivisionError: a"}


def test_students_of_a_failed_teacher_are_not_run(plan_file: Write, tmp_path: Path, inline: Any) -> None:
    def fails(task: Task) -> TaskResult | None:
        return TaskResult(task.run, "failed", "no") if task.run.startswith("tiny-dense-s0") else None

    path = plan_file(DENSE + PRUNED + "teachers = {}")
    standing, _ = carry_out(path, tmp_path / "out", executor := inline(fails))
    assert [run.rpartition("-")[0] for run in standing.blocked] == ["tiny-pmp-laplace-90-distilled-s0"]
    assert standing.finished == 2 and len(executor.executed) == 3
    assert standing.epochs_done == standing.epochs_total
    standing, _ = carry_out(path, tmp_path / "out", inline(), retry=True)
    assert standing.finished == 4 and not standing.blocked


def test_a_run_whose_worker_dies_is_put_back_once(plan_file: Write, tmp_path: Path, inline: Any) -> None:
    deaths = {"s0": 1, "s1": 5}

    def dies(task: Task) -> TaskResult | None:
        seed = task.run.split("-")[2]
        deaths[seed] -= 1
        return (
            TaskResult(task.run, "lost", "its worker died (killed by SIGKILL)") if deaths[seed] >= 0 else None
        )

    standing, events = carry_out(plan_file(DENSE), tmp_path / "out", executor := inline(dies))
    assert standing.finished == 1 and len(executor.executed) == 4
    assert list(standing.failed.values()) == ["its worker died (killed by SIGKILL) 2 times"]
    assert sum("put back" in event for event in events) == 2


def test_a_run_that_another_process_holds_is_waited_for(
    plan_file: Write, tmp_path: Path, inline: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bandstop.study.dispatch.BUSY_PAUSE", 0.05)
    out, tries = tmp_path / "out", []

    def held(task: Task) -> TaskResult | None:
        tries.append(task.run)
        if len(tries) > 3:
            return None
        with lease(out, task.run) as mine:
            assert mine
            found: list[TaskResult] = []
            other = threading.Thread(target=lambda: found.append(execute(task)))
            other.start()
            other.join()
            assert found[0].kind == "busy"
            return found[0]

    standing, _ = carry_out(plan_file(DENSE.replace("[0, 1]", "0")), out, inline(held))
    assert standing.finished == 1 and len(tries) == 4
    journal = [json.loads(line)["event"] for line in (out / "journal.jsonl").read_text().splitlines()]
    assert journal == ["began", "finished"]


def test_an_interrupted_run_is_taken_up_even_if_moved(plan_file: Write, tmp_path: Path, inline: Any) -> None:
    path, out = plan_file(DENSE + PRUNED + "teachers = {}"), tmp_path / "out"
    carry_out(path, out, inline())
    victim = next(out.glob("runs/*distilled-s0-*"))
    (victim / "metrics.json").unlink()
    bare = next(out.glob("runs/*distilled-s1-*"))
    shutil.rmtree(bare)
    bare.mkdir()
    (bare / ".config.json.killed.json").write_text("{")
    moved = tmp_path / "moved"
    out.rename(moved)
    standing, _ = carry_out(path, moved, executor := inline())
    assert standing.finished == 4 and not standing.failed
    assert sorted(executor.executed) == sorted([victim.name, bare.name])
    stored = RunConfig.from_json((moved / "runs" / victim.name / "config.json").read_text())
    assert Path(stored.distill.teachers[0]).parent.parent == moved


def test_other_data_under_the_same_name_are_refused(plan_file: Write, tmp_path: Path, inline: Any) -> None:
    path = plan_file(DENSE)
    carry_out(path, tmp_path / "out", inline())
    plan_file(DENSE.replace("[0, 1]", "[0, 1, 2]"))
    with pytest.raises(DataError, match="tiny is not the one that this study began with"):
        refused(read_plan(str(path)), tmp_path / "out", inline, data=["tiny=hands"])


def test_a_folder_belongs_to_one_study(plan_file: Write, tmp_path: Path, inline: Any) -> None:
    path = plan_file(DENSE)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.doc").write_text("x")
    with pytest.raises(ConfigError, match="not empty and holds no study"):
        refused(read_plan(str(path)), tmp_path / "full", inline)
    carry_out(path, tmp_path / "out", inline())
    other = dataclasses.replace(read_plan(str(path)), name="other")
    with pytest.raises(ConfigError, match="holds the study 'plan', this plan is called 'other'"):
        refused(other, tmp_path / "out", inline)


def test_finished_runs_of_another_study_are_taken_over(plan_file: Write, tmp_path: Path, inline: Any) -> None:
    carry_out(plan_file(DENSE), tmp_path / "one", inline())
    path = plan_file(DENSE + PRUNED + "teachers = {}")
    standing, _ = carry_out(path, tmp_path / "two", executor := inline(), reuse=[tmp_path / "one"])
    assert standing.finished == 4
    assert [run.split("-")[1] for run in executor.executed] == ["pmp", "pmp"]
    with pytest.raises(DataError, match="nothing to reuse"):
        carry_out(path, tmp_path / "three", inline(), reuse=[tmp_path])
    assert not (tmp_path / "three").exists()


def test_a_variant_under_another_name_is_the_same_run(plan_file: Write, tmp_path: Path, inline: Any) -> None:
    pruned = "[variant.{0}]\nprune.kl = 1.0\n" + PRUNED + 'variant = ["{0}"]'
    carry_out(plan_file(pruned.format("one")), out := tmp_path / "out", inline())
    plan_file(pruned.format("two"))
    standing, _ = carry_out(tmp_path / "plan.toml", out, executor := inline())
    assert standing.finished == 2 and not executor.executed
    assert all("-two-" in folder.name for folder in (out / "runs").iterdir())


def test_runs_on_other_data_are_not_taken_over(
    plan_file: Write, tmp_path: Path, inline: Any, archive: Path
) -> None:
    from bandstop.skeleton import read_archive, write_archive

    changed = read_archive(archive)
    write_archive(dataclasses.replace(changed, joints=changed.joints + 1), tmp_path / "changed.npz")
    path = plan_file(DENSE)
    carry_out(path, tmp_path / "one", inline(), data=[f"tiny={tmp_path / 'changed.npz'}"])
    carry_out(path, tmp_path / "two", executor := inline(), reuse=[tmp_path / "one"])
    assert len(executor.executed) == 2


def test_a_setting_added_later_repeats_nothing(plan_file: Write, tmp_path: Path, inline: Any) -> None:
    """A new field of the config changes every id; finished runs are known again by what their folders say."""
    path, out = plan_file(DENSE + PRUNED + "teachers = {}"), tmp_path / "out"
    carry_out(path, out, inline())
    for folder in (out / "runs").iterdir():  # as an older version would have left them
        config = json.loads((folder / "config.json").read_text())
        del config["optim"]["average"]
        old = [t[:-8] + "0" * 8 for t in config["distill"]["teachers"]]
        config["distill"]["teachers"] = old
        (folder / "config.json").write_text(json.dumps(config))
        folder.rename(folder.with_name(folder.name[:-8] + "0" * 8))
    standing, _ = carry_out(path, out, executor := inline())
    assert executor.executed == [] and standing.finished == 4
    assert not list(out.glob("runs/*-00000000"))


def test_settings_from_the_command_line_win(plan_file: Write, tmp_path: Path, inline: Any) -> None:
    path = plan_file(DENSE.replace("[0, 1]", "0") + "settings.epochs = 9")
    carry_out(path, tmp_path / "out", inline(), overrides=[{"epochs": 1}])
    assert [row.epochs for row in read_results([tmp_path / "out"])] == [1]


def test_parquet_holds_the_same_rows(plan_file: Write, tmp_path: Path, inline: Any) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    carry_out(plan_file(DENSE + PRUNED), tmp_path / "out", inline(), parquet=True)
    rows = read_results([tmp_path / "out"])
    assert parquet.read_table(tmp_path / "out" / "results.parquet").to_pylist() == [
        dataclasses.asdict(row) for row in rows
    ]


@pytest.mark.parametrize(
    ("where", "workers"), [("here", None), ("ray:", None), ("local:2", None), ("local", 0)]
)
def test_where_runs_execute_is_checked(where: str, workers: int | None) -> None:
    with pytest.raises(ConfigError, match=r"--on must be|--workers must be"):
        make_executor(where, workers)


def test_failures_that_cannot_be_read_are_still_failures(tmp_path: Path) -> None:
    (tmp_path / "failures").mkdir()
    (tmp_path / "failures" / "a.json").write_text("{")
    assert StudyFolder(tmp_path).failure("a") == "the record of its failure cannot be read"
    assert StudyFolder(tmp_path).failure("b") is None
