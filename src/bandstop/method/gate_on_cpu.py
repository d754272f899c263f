"""The soft gate of float32 latents on the CPU in the fewest operations; None where that does not apply.

With full leak the slope is that of ``g·ŵ``: the weight is made as this product, by which torch goes back
without calling Python, and gets its values afterwards, in one pass where numba is installed.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor

from bandstop.method.gate_autograd import plainly_run

__all__ = ["looked_up_on_cpu", "shrunk_on_cpu"]

softshrink: Any = torch.nn.functional.softshrink
PART = 1 << 16
"""Weights of a large tensor that go through both operations of the soft gate while they are in the CPU's
cache."""
WHOLE = 1 << 18
"""Weights up to which more calls would cost more than the cache gains, up to which one thread is as fast as
several, and up to which a weight is made as a product."""
WORTH = 1 << 13
"""Weights of a layer for which numba is loaded; once it is, smaller layers use it too."""
_LOADED: list[Any] = []
_FLOAT = torch.float32
dispatchers: Any = torch._C._len_torch_dispatch_stack
tracing_state: Any = torch._C._get_tracing_state


def shrunk_on_cpu(latent: Tensor, gain: Tensor, threshold: Tensor) -> Tensor | None:
    """``ShrinkScaled`` in the fewest operations, on a large tensor part by part in the CPU's cache.

    Returns None when this does not apply: a gain that is learned, other devices (the threshold would have to
    come to the host), sharded tensors, compilation, transforms of torch.func.

    >>> latent = torch.tensor([-3.0, 0.5, 2.0], requires_grad=True)
    >>> weight = shrunk_on_cpu(latent, torch.tensor(0.5), torch.tensor(1.0))
    >>> weight.sum().backward()
    >>> weight.tolist(), latent.grad.tolist()
    ([-1.0, 0.0, 0.5], [0.5, 0.5, 0.5])
    >>> shrunk_on_cpu(torch.ones(3, dtype=torch.float64), torch.tensor(0.5), torch.tensor(1.0)) is None
    True
    """
    if gain.requires_grad or type(threshold) is not Tensor or not _plain_floats(latent):
        return None
    count = latent.numel()
    kernels = _kernels_for(count)
    if kernels is not None and gain.dtype is threshold.dtype is _FLOAT:
        if count > WHOLE:
            large: Tensor = _gated(latent, gain, (kernels.shrink, latent, gain, threshold, count))
            return large
        weight = latent * gain  # a pass that takes less than to call Python on the way back
        kernels.shrink(latent.data_ptr(), gain.data_ptr(), threshold.data_ptr(), weight.data_ptr(), count)
        return weight
    weight = latent * gain
    given, made = latent.detach(), weight.detach()
    level, scale = float(threshold), float(gain)
    if count <= WHOLE:
        softshrink(given, level, out=made).mul_(scale)
        return weight
    for source, target in zip(
        torch.split(given.view(-1), PART), torch.split(made.view(-1), PART), strict=True
    ):
        softshrink(source, level, out=target).mul_(scale)
    return weight


def looked_up_on_cpu(
    z: Tensor, gain: Tensor, threshold: Tensor, cells: Tensor, scale: Tensor, table: Tensor
) -> Tensor | None:
    """``g·sign(z)(ŵ − ŵ(a))₊`` with ``ŵ = t·table(|z|·cells)``: chart and soft gate in one pass.

    Backward is g, as of ``Charted`` and a soft gate with full leak. Returns None when this does not apply, as
    above, or without numba.
    """
    if not _plain_floats(z) or gain.requires_grad:
        return None
    count, last = z.numel(), table.numel() - 1
    kernels = _kernels_for(count)
    if kernels is None or not (
        gain.dtype is threshold.dtype is cells.dtype is scale.dtype is table.dtype is _FLOAT
    ):
        return None
    if count > WHOLE:
        large: Tensor = _gated(
            z, gain, (kernels.look_up, z, gain, threshold, cells, scale, table, last, count)
        )
        return large
    weight, chart = z * gain, (cells.data_ptr(), scale.data_ptr(), table.data_ptr(), last)
    kernels.look_up(z.data_ptr(), gain.data_ptr(), threshold.data_ptr(), *chart, weight.data_ptr(), count)
    return weight


class _Gated(torch.autograd.Function):
    """What a loop writes, given its arguments, the last of them the count; backward g."""

    @staticmethod
    def forward(ctx: Any, latent: Tensor, gain: Tensor, run: tuple[Any, ...]) -> Tensor:
        (loop, *arguments, count), weight = run, torch.empty_like(latent)
        ctx.gain = gain
        loop(*(a.data_ptr() if isinstance(a, Tensor) else a for a in arguments), weight.data_ptr(), count)
        return weight

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        return grads[0] * ctx.gain, None, None


_gated: Any = super(torch.autograd.Function, _Gated).apply
"""``_Gated.apply`` without torch's look at its signature (``gate_autograd.applied``)."""


def _plain_floats(tensor: Tensor) -> bool:
    return plainly_run(tensor) and tensor.dtype is _FLOAT and tensor.is_cpu and tensor.is_contiguous()


def _kernels_for(count: int) -> Any:
    """The compiled loops, where they are installed and pay, and nobody records what happens to tensors."""
    if dispatchers() or tracing_state() is not None or (count > WHOLE and torch.get_num_threads() > 1):
        return None
    if _LOADED:
        return _LOADED[0]
    return _loaded() if count >= WORTH else None


@cache
def _loaded() -> Any:
    try:
        from bandstop.method import gate_numba
    except ImportError:
        return None
    _LOADED.append(gate_numba)
    return gate_numba
