"""A convolutional net on scikit-learn's digits, dense and pruned:
`python examples/digits_cnn.py [--short]`.
"""

import torch
from example_runs import main
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor, nn
from torch.nn import functional as F

from bandstop import Pruner

BATCH = 32


def data(validation: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Training images and labels, and those to judge on: half of the set,
    or a quarter of the training half.
    """
    images, labels = load_digits(return_X_y=True)
    halves = train_test_split(images, labels, test_size=0.5, random_state=0, stratify=labels)
    if validation:
        halves = train_test_split(halves[0], halves[2], test_size=0.25, random_state=1, stratify=halves[2])
    x, test_x = (torch.tensor(part, dtype=torch.float32).view(-1, 1, 8, 8) / 8 - 1 for part in halves[:2])
    return x, torch.tensor(halves[2]), test_x, torch.tensor(halves[3])


def network() -> nn.Module:
    """Two convolutions and two linear layers: 38,160 weights that can be pruned."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1, bias=False),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * 4 * 4, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )


def train(rate: float, seed: int, short: bool = False, validation: bool = False) -> tuple[nn.Module, float]:
    """One run from random weights to a finished plain network and its accuracy in per cent."""
    torch.manual_seed(seed)
    x, y, test_x, test_y = data(validation)
    net, epochs = network(), 4 if short else 30
    steps = epochs * (len(x) // BATCH)
    if rate:
        pruner = Pruner(net, rate, steps=steps, example=x[:1])
        optimiser = torch.optim.AdamW(pruner.parameter_groups(lr=3e-3, latent_lr=0.2), weight_decay=1e-4)
    else:
        optimiser = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=1e-4)
    top = [group["lr"] for group in optimiser.param_groups]
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, top, total_steps=steps, pct_start=0.1)
    for _ in range(epochs):
        for rows in torch.randperm(len(x))[: len(x) // BATCH * BATCH].split(BATCH):
            loss = F.cross_entropy(net(x[rows]), y[rows])
            if rate:
                loss = loss + pruner.penalty()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            if rate:
                pruner.step()
    if rate:
        net = pruner.finalize()
    net.eval()
    with torch.no_grad():
        return net, 100 * (net(test_x).argmax(1) == test_y).float().mean().item()


if __name__ == "__main__":
    main("digits_cnn", train)
