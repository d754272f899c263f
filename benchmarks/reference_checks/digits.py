"""The common setting: scikit-learn's digits, an MLP of 64-100-50-10 units, the same steps,
batches and optimiser for all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

from bandstop import Budget, rivals
from bandstop.training.lr import cosine

STEPS, BATCH, RATE, SEEDS = 300, 128, 0.95, (0, 1, 2)
LR, WARMUP, DECAY, LAST = 1e-2, 0.05, 1e-3, 0.005
SIZES = (64, 100, 50, 10)
Data = tuple[Tensor, Tensor, Tensor, Tensor]


@lru_cache
def digits() -> Data:
    """1,347 images to train and 450 to judge, shuffled once."""
    images, labels = load_digits(return_X_y=True)
    x, y = torch.tensor(images / 16, dtype=torch.float32), torch.tensor(labels)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    x, y = (x - x.mean(0))[order], y[order]
    return x[:1347], y[:1347], x[1347:], y[1347:]


def held_out() -> Data:
    """The training images alone, their last 270 to judge: for choosing settings."""
    x, y, _, _ = digits()
    return x[:1077], y[:1077], x[1077:], y[1077:]


def fresh(seed: int) -> nn.Sequential:
    """The untrained net of a seed."""
    torch.manual_seed(seed)
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(SIZES):
        layers += [nn.Linear(inputs, outputs, dtype=torch.float32), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def weights(net: nn.Module) -> list[nn.Parameter]:
    return [p for p in net.parameters() if p.ndim >= 2]


def kept(net: nn.Module) -> int:
    return sum(int(w.count_nonzero()) for w in weights(net))


class Batches:
    """Cross-entropy of random batches, the same for the same seed."""

    def __init__(self, net: nn.Module, seed: int, data: Data) -> None:
        self.net, self.data = net, data
        self.generator = torch.Generator().manual_seed(seed + 100)

    def draw(self) -> tuple[Tensor, Tensor]:
        x, y = self.data[:2]
        batch = torch.randint(len(x), (BATCH,), generator=self.generator)
        return x[batch], y[batch]

    def __call__(self) -> Tensor:
        x, y = self.draw()
        return nn.functional.cross_entropy(self.net(x), y)


def groups(net: nn.Module) -> list[dict[str, Any]]:
    """Optimiser groups: weights decay, biases do not."""
    return [
        {"params": weights(net), "lr": LR, "weight_decay": DECAY},
        {"params": [p for p in net.parameters() if p.ndim < 2], "lr": LR, "weight_decay": 0.0},
    ]


def adamw(net: nn.Module) -> torch.optim.AdamW:
    """The optimiser of all."""
    return torch.optim.AdamW(groups(net), lr=LR)


def descend(
    optimiser: torch.optim.Optimizer,
    loss: Callable[[], Tensor],
    *,
    steps: int = STEPS,
    before: Callable[[int], None] | None = None,
    after: Callable[[int], None] | None = None,
    update: Callable[[], None] | None = None,
    schedule: Callable[[float], float] | None = None,
) -> None:
    """The loop: cosine learning rate, ``before`` and ``after`` each step,
    ``update`` in place of the optimiser's step.
    """
    tops = [group["lr"] for group in optimiser.param_groups]
    for step in range(steps):
        progress = (step + 1) / steps
        factor = cosine(schedule(progress) if schedule else progress, WARMUP, LAST)
        for group, top in zip(optimiser.param_groups, tops, strict=True):
            group["lr"] = top * factor
        if before:
            before(step)
        optimiser.zero_grad(set_to_none=True)
        loss().backward()  # type: ignore[no-untyped-call]
        update() if update else optimiser.step()
        if after:
            after(step + 1)


class Ours:
    """One of our rivals on the digits, step by step."""

    def __init__(
        self,
        name: str,
        seed: int,
        *,
        rate: float | Budget = RATE,
        steps: int = STEPS,
        data: Data | None = None,
        settings: dict[str, Any] | None = None,
    ) -> None:
        self.data = data or digits()
        self.net = fresh(seed)
        self.steps = steps
        self.method = rivals.make(
            name, self.net, rate, steps=steps, example=self.data[0][:1], settings=settings
        )
        self.batches = Batches(self.net, seed, self.data)
        self.optimiser = torch.optim.AdamW(self.method.parameter_groups(LR, weight_decay=DECAY), lr=LR)
        self.method.bind(self.optimiser)
        prepare = getattr(self.method, "prepare", None)
        if prepare:
            prepare(self.batches)

    def run(self, watch: Callable[[int], Callable[[], None] | None] | None = None) -> Ours:
        """All steps; ``watch`` looks between the optimiser's step and the method's,
        what it returns after both.
        """

        def after(step: int) -> None:
            then = watch(step) if watch else None
            self.method.step()
            if then:
                then()

        descend(
            self.optimiser,
            lambda: self.batches() + self.method.penalty(),
            steps=self.steps,
            after=after,
            schedule=self.method.lr_progress,
        )
        return self

    def accuracy(self) -> float:
        """Per cent right of the plain net."""
        return score(self.method.finalize(), self.data)


@torch.no_grad()
def score(net: nn.Module, data: Data | None = None) -> float:
    """Per cent right of the images to judge."""
    _, _, x, y = data or digits()
    return float((net.eval()(x).argmax(1) == y).float().mean()) * 100


def accuracy(name: str, seed: int, **more: Any) -> float:
    """Of one training of ours."""
    return Ours(name, seed, **more).run().accuracy()
