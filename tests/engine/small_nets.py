"""A small network and its training, shared by the pruner's tests."""

import torch
from torch import nn

from bandstop import Pruner


def mlp() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(12, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 16), nn.ReLU(), nn.Linear(16, 5)
    )


def kept(model: nn.Module) -> int:
    return sum(int(p.count_nonzero()) for p in model.parameters() if p.ndim >= 2)


def train(model: nn.Module, pruner: Pruner, steps: int, seed: int = 0) -> None:
    generator = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.Adam(pruner.parameter_groups(lr=1e-2, latent_lr=5e-2))
    x = torch.randn(64, 12, generator=generator)
    y = torch.randint(5, (64,), generator=generator)
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(x), y) + pruner.penalty()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        pruner.step()


def pair() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
