"""The rivals learn: scikit-learn's digits, a small MLP, 95 % of the weights removed.

The floors are below what each reaches (behind them, the mean of three seeds), so that they hold on other
machines, and well above what a broken method reaches (chance is 10 %, a random mask 77 %).
"""

from functools import lru_cache

import pytest
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

from bandstop import rivals
from tests.rivals.rival_training import Training, kept_weights, mlp

torch.set_num_threads(1)
STEPS, BATCH, RATE = 300, 128, 0.95


@lru_cache
def digits() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Centred pixels and labels, shuffled once: 1,347 to train and 450 to judge."""
    images, labels = load_digits(return_X_y=True)
    x, y = torch.tensor(images / 16, dtype=torch.float32), torch.tensor(labels)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    x, y = (x - x.mean(0))[order], y[order]
    return x[:1347], y[:1347], x[1347:], y[1347:]


class BatchLoss:
    """Cross-entropy of random batches."""

    def __init__(self, net: nn.Module, seed: int) -> None:
        self.net, self.generator = net, torch.Generator().manual_seed(seed)

    def __call__(self) -> Tensor:
        x, y, _, _ = digits()
        batch = torch.randint(len(x), (BATCH,), generator=self.generator)
        return nn.functional.cross_entropy(self.net(x[batch]), y[batch])


@lru_cache
def accuracy(name: str, seed: int = 1) -> float:
    """Per cent right after a training of a few hundred steps."""
    torch.manual_seed(seed)
    net = mlp(64, 100, 50, 10)
    _, _, x, y = digits()
    loss = BatchLoss(net, seed + 100)
    training = Training(name, net, RATE, loss, STEPS, example=x[:1], warmup=0.05, weight_decay=1e-3)
    training.run().method.finalize()
    assert kept_weights(net) == 595
    with torch.no_grad():
        return float((net(x).argmax(1) == y).float().mean()) * 100


FLOORS = {
    "mp": 80.0,  # 89.0
    "mp-lamp": 90.0,  # 94.3
    "gmp": 91.0,  # 95.0
    "gmp-erk": 91.0,  # 95.1
    "gmp-lamp": 92.0,  # 96.2
    "set": 85.0,  # 91.4
    "rigl": 92.0,  # 95.3
    "top-kast": 92.0,  # 95.7
    "ste": 92.0,  # 96.7
    "str": 80.0,  # 85.7
    "powerprop": 92.0,  # 96.1
    "ac-dc": 88.0,  # 92.7
    "probmask": 90.0,  # 94.9
    "asl": 91.0,  # 96.7
    "snip": 87.0,  # 92.2
    "synflow": 89.0,  # 93.5
}


@pytest.mark.parametrize("name", list(FLOORS))
def test_rivals_learn_and_beat_a_random_mask(name: str) -> None:
    """Each paper claims more than a random mask of the same size; by 3 points at least, here."""
    assert accuracy(name) >= FLOORS[name]
    assert accuracy(name) >= accuracy("random-erk") + 3


def test_every_rival_is_judged() -> None:
    assert set(FLOORS) == set(rivals.NAMES) - {"small-dense", "random-erk"}
    assert 50 < accuracy("random-erk") < 88, "the baseline is neither broken nor too good to be beaten"


def test_the_papers_orders_hold_here() -> None:
    """LAMP above global one-shot (Lee et al.), gradual above one-shot (Zhu & Gupta),
    RigL above SET (Evci et al.).
    """
    assert accuracy("mp-lamp") > accuracy("mp")
    assert accuracy("gmp") > accuracy("mp")
    assert accuracy("rigl") > accuracy("set")
    assert accuracy("gmp-lamp") > accuracy("snip"), (
        "pruning after training above pruning before it (Frankle et al.)"
    )
