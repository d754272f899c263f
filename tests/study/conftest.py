"""A tiny data set and plan, and an executor without processes."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bandstop.skeleton import SequenceSet, write_archive
from bandstop.study.execute import Task, TaskResult, execute

BASE = """
[base]
epochs = 2
chunks = 8
net = { kind = "gcn", channels = 4, heads = 2, filters = 6 }
optim.batch = 27
"""


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three motions of a five-joint chain."""
    random = np.random.default_rng(0)
    sequences = []
    for i in range(60):
        t = np.linspace(0, 1, int(random.integers(10, 40)))[:, None]
        joints = np.arange(5)[None] * 10.0
        turn, wave = (i % 3 - 1) * 15 * t * joints / 40, 5 * np.sin((i % 3 + 1) * 6 * t) + 0 * joints
        sequences.append(np.stack([joints + 0 * t, turn, wave], -1) + random.normal(0, 1.0, (len(t), 5, 3)))
    made = SequenceSet.from_sequences(
        sequences,
        labels=[i % 3 for i in range(60)],
        class_names=["down", "still", "up"],
        split=["train" if i % 5 < 3 else "test" for i in range(60)],
        edges=[[0, 1], [1, 2], [2, 3], [3, 4]],
    )
    path = tmp_path_factory.mktemp("data") / "tiny.npz"
    write_archive(made, path)
    return path


@pytest.fixture
def plan_file(tmp_path: Path, archive: Path) -> Callable[..., Path]:
    """Write a plan on the tiny data set, called ``tiny`` in it."""

    def write(grids: str, base: str = BASE) -> Path:
        path = tmp_path / "plan.toml"
        path.write_text(f"[data]\ntiny = '{archive}'\n{base}\n{grids}", encoding="utf-8")
        return path

    return write


@dataclasses.dataclass
class Inline:
    """Executes in this process, a run at a time; ``strange`` may answer in a run's place."""

    strange: Callable[[Task], TaskResult | None] = lambda task: None
    slots: int = 1
    put_back: int = 1
    executed: list[str] = dataclasses.field(default_factory=list)
    queue: list[Task] = dataclasses.field(default_factory=list)
    closed: bool = False

    def submit(self, task: Task) -> None:
        self.queue.append(task)

    def wait(self, timeout: float) -> list[TaskResult]:
        task = self.queue.pop(0)
        self.executed.append(task.run)
        return [self.strange(task) or execute(task)]

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def inline() -> type[Inline]:
    return Inline
