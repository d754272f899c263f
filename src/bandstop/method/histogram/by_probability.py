"""Bins of equal probability: where the prior is dense they are narrow, in its tails wide.

With u = 2F(ŵ) − 1 the prior is uniform on [−1, 1], and equal bins of u are bins of equal probability of ŵ; β,
half a bin, widens with its bin.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from bandstop.method.priors import Prior, Uniform

__all__ = ["by_probability"]


def by_probability(values: Sequence[Tensor], prior: Prior) -> tuple[list[Tensor], Prior]:
    """Values as signed probabilities ``2F(ŵ) − 1``, and the prior that they have then.

    >>> import torch
    >>> from bandstop.method.priors import Laplace
    >>> by_probability([torch.tensor([-0.6931, 0.0])], Laplace(1.0))[0][0].round(decimals=3).abs()
    tensor([0.5000, 0.0000])
    """
    return [prior.cdf(value).mul(2).sub(1) for value in values], Uniform(1.0)
