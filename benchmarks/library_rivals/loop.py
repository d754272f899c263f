"""The common loop: two tasks, the same steps, batches,
optimiser and learning-rate schedule for every library.
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

sys.path.append(str(Path(__file__).parents[2] / "examples"))
import char_transformer
import digits_cnn
from rival import Rival


class Digits:
    """The CNN of examples/digits_cnn.py."""

    steps = 448

    def __init__(self, validation: bool) -> None:
        self.x, self.y, self.judge_x, self.judge_y = digits_cnn.data(validation)
        self.example, self.order = self.x[:1], torch.empty(0, dtype=torch.long)

    network = staticmethod(digits_cnn.network)

    def batch(self) -> tuple[Tensor, Tensor]:
        """The next images of a shuffled pass."""
        if len(self.order) < digits_cnn.BATCH:
            self.order = torch.randperm(len(self.x))
        rows, self.order = self.order[: digits_cnn.BATCH], self.order[digits_cnn.BATCH :]
        return self.x[rows], self.y[rows]

    def accuracy(self, net: nn.Module) -> float:
        """Per cent."""
        return 100 * (net(self.judge_x).argmax(1) == self.judge_y).float().mean().item()


class Text:
    """The transformer of examples/char_transformer.py."""

    steps = 400
    network = staticmethod(char_transformer.Transformer)

    def __init__(self, validation: bool) -> None:
        self.letters, self.judge = char_transformer.data(validation)
        self.example = self.judge[:1, :-1]

    def batch(self) -> tuple[Tensor, Tensor]:
        """Random pieces of the text."""
        length = char_transformer.LENGTH
        starts = torch.randint(len(self.letters) - length, (char_transformer.BATCH, 1))
        rows = self.letters[starts + torch.arange(length + 1)]
        return rows[:, :-1], rows[:, 1:]

    def accuracy(self, net: nn.Module) -> float:
        """Per cent of next letters."""
        return 100 * (net(self.judge[:, :-1]).argmax(-1) == self.judge[:, 1:]).float().mean().item()


TASKS: dict[str, Callable[[bool], Any]] = {"digits": Digits, "text": Text}


def learning_rate(progress: float) -> float:
    """A tenth of warm-up, then half a cosine down to nothing."""
    return progress / 0.1 if progress < 0.1 else 0.5 * (1 + math.cos(math.pi * (progress - 0.1) / 0.9))


class Run:
    """A library's training on a task, a step at a time."""

    def __init__(
        self, task: Any, kind: type[Rival], rate: float, setting: Mapping[str, float], steps: int
    ) -> None:
        self.task, self.steps, self.taken = task, steps, 0
        self.rival = kind(task.network(), rate, steps, task.example, setting)
        self.optimiser = self.rival.optimiser()
        self.top = [group["lr"] for group in self.optimiser.param_groups]
        self.seconds = 0.0

    def step(self) -> None:
        """One optimiser step."""
        x, y = self.task.batch()
        began = time.process_time()
        factor = learning_rate(self.rival.lr_progress((self.taken + 1) / self.steps))
        for group, top in zip(self.optimiser.param_groups, self.top, strict=True):
            group["lr"] = top * factor
        scores = self.rival.net(x)
        loss = F.cross_entropy(scores.flatten(0, -2), y.flatten()) + self.rival.penalty()
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.optimiser.step()
        self.rival.step()
        self.taken += 1
        self.seconds += time.process_time() - began


def run(
    task_name: str, kind: type[Rival], rate: float, seed: int, setting: Mapping[str, float], validation: bool
) -> dict[str, Any]:
    """Train to the end; accuracy, the exact count of what is left, and the file."""
    torch.manual_seed(seed)
    task = TASKS[task_name](validation)
    training = Run(task, kind, rate, setting, task.steps)
    prunable = sum(p.numel() for p in task.network().parameters() if p.ndim >= 2)
    for _ in range(task.steps):
        training.step()
    net = training.rival.finalize().eval()
    with torch.no_grad():
        accuracy = task.accuracy(net)
    left = [p for p in net.parameters() if p.ndim >= 2]
    assert sum(p.numel() for p in left) == prunable, (
        "the finished network must have the weights of the plain one"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net"
        training.rival.save(net, path)
        written = path.read_bytes()
    return {
        "accuracy": accuracy,
        "kept": sum(int(p.count_nonzero()) for p in left),
        "weights": prunable,
        "empty_layers": sum(int(p.count_nonzero()) == 0 for p in left),
        "bytes": len(written),
        "bytes_deflated": len(zlib.compress(written, 9)),
        "seconds": training.seconds,
    }


def step_time(task_name: str, kind: type[Rival], rate: float, setting: Mapping[str, float]) -> dict[str, Any]:
    """CPU time of whole short trainings, the library's steps and dense ones taking turns."""
    torch.manual_seed(0)
    task, steps = TASKS[task_name](True), 200
    dense, other = (
        Run(task, Rival, 0.0, {"lr": 3e-3}, steps),
        Run(task, kind, rate, setting, steps),
    )
    for _ in range(steps):
        dense.step()
        other.step()
    return {"ratio": other.seconds / dense.seconds, "dense_ms": 1e3 * dense.seconds / steps}
