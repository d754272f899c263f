"""LAMP's shares, adapted to the latents: layers that outgrow the prior take connections from the others."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from bandstop.engine.select.allocation import LampAllocation, allocate
from bandstop.method.priors import Prior

__all__ = ["AdaptedAllocation"]

LEAST = 1e-3
"""Smallest threshold of a layer as a share of the largest: LAMP gives small layers all that they have."""


class AdaptedAllocation:
    """All layers compete by ``|ŵ| / a_l``, where ``a_l = F⁻¹(1 − k_l/n_l)`` is the prior's threshold at which
    LAMP's count ``k_l`` of the layer's ``n_l`` latents would pass.

    Latents that follow the prior F get LAMP's counts. A layer whose latents grow beyond the prior while they
    are trained gets more, one that stays behind it fewer.

    >>> import torch
    >>> from bandstop.method.priors import Laplace, prior_magnitudes
    >>> prior, sizes = Laplace(1.0), {"a": 100, "b": 100, "c": 1000}
    >>> latents = {name: prior_magnitudes(prior, size).float() for name, size in sizes.items()}
    >>> LampAllocation(prior, sizes)(60), AdaptedAllocation(prior, sizes)(60, latents)
    ({'a': 17, 'b': 17, 'c': 26}, {'a': 17, 'b': 17, 'c': 26})
    >>> AdaptedAllocation(prior, sizes)(60, latents | {"b": 1.3 * latents["b"]})
    {'a': 15, 'b': 24, 'c': 21}
    """

    def __init__(self, prior: Prior, sizes: Mapping[str, int], floor: int = 1) -> None:
        self.lamp = LampAllocation(prior, sizes, floor)
        self.prior, self.sizes, self.floor = prior, sizes, floor

    def __call__(self, total: int, magnitudes: Mapping[str, Tensor]) -> dict[str, int]:
        """Connections per layer when ``total`` are kept; each layer's ``floor`` best come first."""
        shares = self.lamp(total)
        if total == sum(self.sizes.values()):
            return shares
        rates = {name: 1 - kept / self.sizes[name] for name, kept in shares.items()}
        passing = {name: self.prior.magnitude_quantile(rate) for name, rate in rates.items()}
        least = LEAST * max(passing.values())
        scores = {name: latent.abs() / max(passing[name], least) for name, latent in magnitudes.items()}
        return allocate("learned", total, scores, floor=self.floor)
