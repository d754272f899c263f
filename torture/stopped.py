"""A training stopped half way and a finished study, made once and shared by the cases."""

from __future__ import annotations

import shutil
from pathlib import Path

from torture.child import Child, bandstop
from torture.kill_at import FileChanges
from torture.samples import data_file, train_words

__all__ = ["GRID", "finished_study", "stopped_training", "study_words"]

GRID = """name = "small"
[data]
small = "{data}"
[base]
epochs = 4
chunks = 8
net = {{ channels = 4, heads = 2, filters = 6 }}
optim.batch = 27
[[grid]]
data = "small"
method = ["dense", "mp", "pmp"]
rate = [0.9]
seed = [0, 1]
"""
"""A plan of six runs (two of them dense)."""


def stopped_training(shared: Path) -> Path:
    """A run folder with a checkpoint of its second epoch."""
    out = shared / "stopped"
    for number in range(12, 60):
        if (out / "checkpoint.safetensors").is_file() and (out / "log.jsonl").is_file():
            return out
        shutil.rmtree(out, ignore_errors=True)
        words = train_words("pmp", data_file(shared), out)
        bandstop(words, shared, prepare=FileChanges(out, kill_at=number).watch).wait()
    raise RuntimeError("no kill left a checkpoint behind")


def study_words(plan: Path, out: Path, workers: int = 1) -> list[str]:
    """The command line of a study."""
    return [
        "study", str(plan), "--out", str(out), "--workers", str(workers), "--checkpoint-seconds", "0",
        "--quiet",
    ]  # fmt: skip


def finished_study(shared: Path) -> Path:
    """The folder of a finished study of two short runs, made in one process."""
    out, plan = shared / "study", shared / "grid.toml"
    if (out / "results.csv").is_file():
        return out
    shutil.rmtree(out, ignore_errors=True)
    text = GRID.format(data=data_file(shared)).replace('"dense", "mp", "pmp"', '"dense"')
    plan.write_text(text.replace("epochs = 4", "epochs = 1"), encoding="utf-8")

    def work() -> int:
        from bandstop.study.conduct import conduct
        from bandstop.study.plan import read_plan
        from bandstop.study.runs import expand
        from bandstop.study.study_folder import StudyFolder
        from tests.study.conftest import Inline

        read = read_plan(str(plan))
        conduct(read, expand(read)[0], StudyFolder(out), Inline, lambda standing, said: None)
        return 0

    ended = Child(work, shared).wait()
    if ended.code:
        raise RuntimeError(f"the sample study cannot be made: {ended.err[-1000:]}")
    return out
