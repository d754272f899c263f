"""LAMP's order of all weights of a network whose layers follow a prior exactly, without writing that order down.

The weights of a layer of n have the prior's quantiles as magnitudes, so layers of one size have the same scores, and the scores of a
layer fall with its magnitudes. How many of the best N weights fall into each layer is then found by bisection on the score.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from bandstop.engine.select.allocation import check_budget
from bandstop.engine.select.topk import prior_magnitudes
from bandstop.method.priors import Prior

__all__ = ["LampOrder"]


class LampOrder:
    """The numbers of ``PooledOrder([lamp_scores(prior_magnitudes(prior, n)) for n in sizes], floor)``: a score for each distinct size.

    >>> from bandstop.method.priors import Laplace
    >>> LampOrder(Laplace(1.0), [100, 100, 1000]).counts(60)
    [17, 17, 26]
    """

    def __init__(self, prior: Prior, sizes: Sequence[int], floor: int = 1) -> None:
        self.sizes, self.floor = list(sizes), floor
        self.scores = {n: _ascending_scores(prior, n) for n in dict.fromkeys(self.sizes)}

    def counts(self, total: int) -> list[int]:
        """Connections per layer when the ``total`` best are kept; each layer's ``floor`` best come first."""
        check_budget(self.sizes, total, self.floor)
        head = 0  # bits of the largest score that more than ``total`` weights reach, from the first digit to the last
        for shift in (24, 18, 12, 6, 0):
            keys = torch.arange(head, head + (64 << shift), 1 << shift)
            reached = torch.stack([self._reach(n, keys) * self.sizes.count(n) for n in self.scores]).sum(0)
            head = int(keys[max(int((reached > total).sum()) - 1, 0)])
        ends = torch.tensor([head + 1, head])
        found = {n: self._reach(n, ends).tolist() for n in self.scores}
        counts = [found[n][0] for n in self.sizes]
        missing = total - sum(counts)
        for i, n in enumerate(self.sizes):  # of equal scores the earlier layers' come first
            taken = min(missing, found[n][1] - counts[i])
            counts[i] += taken
            missing -= taken
        return counts

    def _reach(self, size: int, keys: Tensor) -> Tensor:
        """Weights of a layer of ``size`` whose score is at least each of those with the given bits, or that are its ``floor`` best.

        Bits of positive float32 numbers are whole numbers in the same order.
        """
        scores = keys.to(torch.int32).view(torch.float32)
        return (size - torch.searchsorted(self.scores[size], scores)).clamp(min=min(self.floor, size))


def _ascending_scores(prior: Prior, count: int) -> Tensor:
    squares = prior_magnitudes(prior, count).double().square_()
    survivors = squares.flip(0).cumsum_(0).clamp_(min=1e-300).flip(0)
    return squares.div_(survivors).float()
