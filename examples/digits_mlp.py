"""A multilayer perceptron on scikit-learn's digits, dense and pruned:
`python examples/digits_mlp.py [--short]`.
"""

import torch
from digits_cnn import data
from example_runs import main
from torch import nn
from torch.nn import functional as F

from bandstop import Pruner

BATCH = 32


def network() -> nn.Module:
    """Two hidden layers: 84,480 weights that can be pruned."""
    return nn.Sequential(
        nn.Flatten(), nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)
    )


def train(rate: float, seed: int, short: bool = False, validation: bool = False) -> tuple[nn.Module, float]:
    """One run from random weights to a finished plain network and its accuracy in per cent."""
    torch.manual_seed(seed)
    x, y, test_x, test_y = data(validation)
    net, epochs = network(), 4 if short else 40
    steps = epochs * (len(x) // BATCH)
    pruner = Pruner(net, rate, steps=steps, example=x[:1]) if rate else None
    groups = pruner.parameter_groups(lr=3e-3, latent_lr=0.1) if pruner else net.parameters()
    optimiser = torch.optim.AdamW(groups, lr=3e-3, weight_decay=1e-4)
    top = [group["lr"] for group in optimiser.param_groups]
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, top, total_steps=steps, pct_start=0.1)
    for _ in range(epochs):
        for rows in torch.randperm(len(x))[: len(x) // BATCH * BATCH].split(BATCH):
            loss = F.cross_entropy(net(x[rows]), y[rows])
            optimiser.zero_grad()
            (loss + pruner.penalty() if pruner else loss).backward()
            optimiser.step()
            schedule.step()
            if pruner:
                pruner.step()
    net = pruner.finalize().eval() if pruner else net.eval()
    with torch.no_grad():
        return net, 100 * (net(test_x).argmax(1) == test_y).float().mean().item()


if __name__ == "__main__":
    main("digits_mlp", train)
