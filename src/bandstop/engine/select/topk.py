"""Picking exactly so many weights, deterministically, without sorting more than is needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from bandstop.method.priors import Prior

__all__ = ["cut_value", "prior_magnitudes", "rank_transform", "relative_ranks", "select", "topped_up"]


def cut_value(latent: Tensor, count: int) -> Tensor:
    """The threshold a that ``count`` magnitudes exceed: the largest magnitude that is stopped (0 if none is).

    >>> cut_value(torch.tensor([3.0, -1.0, 2.0]), 1)
    tensor(2.)
    """
    stopped = latent.numel() - count
    if stopped <= 0:
        return latent.new_zeros(())
    fused = _fused_kth(latent)
    if fused is not None:
        return latent.new_tensor(fused(latent, stopped))
    magnitude = latent.detach().abs().flatten()
    if count < stopped // 4:
        return magnitude.topk(count + 1, sorted=True).values[-1]
    return magnitude.kthvalue(stopped).values


def _fused_kth(latent: Tensor) -> Callable[[Tensor, int], float] | None:
    """The fused search, where it is installed, can be used and pays."""
    plain = type(latent) in (Tensor, torch.nn.Parameter) and latent.device.type == "cpu"
    if not plain or latent.dtype != torch.float32 or not latent.is_contiguous() or latent.numel() < 4096:
        return None
    return _quantile_kernel()


@cache
def _quantile_kernel() -> Callable[[Tensor, int], float] | None:
    try:
        from bandstop.engine.select.topk_numba import kth_magnitude
    except ImportError:
        return None
    return kth_magnitude


def select(scores: Tensor, count: int) -> Tensor:
    """Mask of exactly the ``count`` largest scores; among equals the earlier one wins.

    >>> select(torch.tensor([1.0, 2.0, 2.0, 2.0]), 2)
    tensor([False,  True,  True, False])
    """
    flat = scores.detach().flatten()
    keep = torch.zeros_like(flat, dtype=torch.bool)
    if count <= 0:
        return keep.reshape(scores.shape)
    if count >= flat.numel():
        return torch.ones_like(keep).reshape(scores.shape)
    limit = flat.kthvalue(flat.numel() - count + 1).values
    keep = flat > limit
    ties = (flat == limit).nonzero().flatten()
    keep[ties[: count - int(keep.sum())]] = True
    return keep.reshape(scores.shape)


def relative_ranks(magnitudes: Tensor, count: int) -> Tensor:
    """Scores that make layers comparable under given counts: ``−rank/count``, so the best ``count`` are above −1.

    >>> relative_ranks(torch.tensor([0.1, 5.0, 2.0]), 2)
    tensor([-1.0000, -0.0000, -0.5000])
    """
    order = magnitudes.detach().abs().flatten().sort(descending=True, stable=True).indices
    ranks = torch.empty(len(order), dtype=torch.float64, device=order.device)
    ranks[order] = torch.arange(len(order), dtype=torch.float64, device=order.device)
    return (-ranks / max(count, 0.5)).reshape(magnitudes.shape).to(torch.float32)


def topped_up(masks: dict[str, Tensor], scores: dict[str, Tensor], total: int) -> dict[str, Tensor]:
    """Masks filled up to ``total`` with the best-scored connections that they lack, wherever these lie.

    >>> topped_up({"a": torch.tensor([True, False])}, {"a": torch.tensor([0.0, 1.0])}, 2)
    {'a': tensor([True, True])}
    """
    held = torch.cat([m.flatten() for m in masks.values()])
    wanted = torch.cat([scores[name].flatten() for name in masks])
    held |= select(torch.where(held, -torch.inf, wanted), total - int(held.sum()))
    parts = torch.split(held, [m.numel() for m in masks.values()])
    return {name: part.reshape(masks[name].shape) for name, part in zip(masks, parts, strict=True)}


def prior_magnitudes(prior: Prior, count: int) -> Tensor:
    """The magnitudes that ``count`` weights have if they follow the prior exactly: ``F⁻¹((i+½)/n)``, ascending."""
    return prior.magnitude_icdf((torch.arange(count, dtype=torch.float64) + 0.5) / count)


def rank_transform(weight: Tensor, prior: Prior) -> Tensor:
    """Latents with the order and signs of ``weight`` and exactly the magnitudes of the prior: ``|ŵ_(i)| = F⁻¹((i+½)/n)``.

    >>> from bandstop.method.priors import Uniform
    >>> rank_transform(torch.tensor([-5.0, 0.1]), Uniform(1.0))
    tensor([-0.7500,  0.2500])
    """
    flat = weight.detach().flatten()
    order = flat.abs().sort(stable=True).indices
    latent = torch.empty_like(flat)
    latent[order] = prior_magnitudes(prior, flat.numel()).to(flat)
    return (latent * torch.where(flat < 0, -1.0, 1.0)).reshape(weight.shape)
