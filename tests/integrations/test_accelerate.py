"""Accelerate: the same training as a plain loop, gradients accumulated,
taken up again from its own checkpoint.
"""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from bandstop import Pruner, Recipe
from bandstop.engine.trace import kept
from bandstop.method.schedules import Constant

accelerate = pytest.importorskip("accelerate")
from bandstop.integrations.accelerate import step, watch  # noqa: E402

KL, STEPS, PARTS = Recipe(kl=Constant(2.0), threshold="empirical"), 20, 2


def batches() -> list[tuple[torch.Tensor, torch.Tensor]]:
    x = torch.randn(STEPS * PARTS, 16, 12, generator=torch.Generator().manual_seed(1))
    return [(part, part[:, :3].argmax(1)) for part in x]


def start() -> tuple[Any, nn.Module, Any, Pruner]:
    torch.manual_seed(0)
    accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=PARTS)
    net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 3))
    pruner = Pruner(net, 0.9, steps=STEPS, recipe=KL)
    optimiser = torch.optim.AdamW(pruner.parameter_groups(lr=5e-3))
    net, optimiser = accelerator.prepare(net, optimiser)
    watch(accelerator, pruner)
    return accelerator, net, optimiser, pruner


def go(accelerator: Any, net: nn.Module, optimiser: Any, pruner: Pruner, first: int, last: int) -> None:
    for x, y in batches()[first * PARTS : last * PARTS]:
        with accelerator.accumulate(net):
            accelerator.backward(F.cross_entropy(net(x), y) + pruner.penalty())
            optimiser.step()
            optimiser.zero_grad()
            step(accelerator, pruner)


def same(a: nn.Module, b: nn.Module) -> bool:
    return all(torch.allclose(p, q, atol=1e-6) for p, q in zip(a.parameters(), b.parameters(), strict=True))


def test_trains_like_the_plain_loop() -> None:
    accelerator, net, optimiser, pruner = start()
    go(accelerator, net, optimiser, pruner, 0, STEPS)
    assert pruner.taken == STEPS
    torch.manual_seed(0)
    other = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 3))
    second = Pruner(other, 0.9, steps=STEPS, recipe=KL)
    plain = torch.optim.AdamW(second.parameter_groups(lr=5e-3))
    rows = batches()
    for place in range(STEPS):
        loss = sum(F.cross_entropy(other(x), y) for x, y in rows[place * PARTS : (place + 1) * PARTS]) / PARTS
        plain.zero_grad()
        (loss + second.penalty()).backward()
        plain.step()
        second.step()
    finished = accelerator.unwrap_model(net)
    pruner.finalize()
    assert sum(kept(finished).values()) == 48
    assert same(finished, second.finalize())


@pytest.mark.parametrize("stop", [6, 18])  # before and after the mask is fixed
def test_resumes_in_mid_schedule(tmp_path: Path, stop: int) -> None:
    accelerator, net, optimiser, pruner = start()
    go(accelerator, net, optimiser, pruner, 0, stop)
    accelerator.save_state(str(tmp_path))
    go(accelerator, net, optimiser, pruner, stop, STEPS)
    accelerator, resumed, optimiser, second = start()
    accelerator.load_state(str(tmp_path))
    assert second.taken == stop
    go(accelerator, resumed, optimiser, second, stop, STEPS)
    pruner.finalize()
    second.finalize()
    assert sum(kept(resumed).values()) == 48
    assert same(net, resumed)
