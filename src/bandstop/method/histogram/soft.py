"""Soft histograms of groups of tensors: the bins, what is counted together, and its place in autograd.

    H_k = Σ_w exp(−(w − q_k)²/β²),  β = half a bin

Weights go through in chunks: nothing but the gradient itself is ever as large as the weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Protocol

import torch
from torch import Tensor

from bandstop.errors import ConfigError
from bandstop.method.histogram.torch_backend import CELLS, TorchPasses, table_of_cells
from bandstop.method.priors import Prior

__all__ = [
    "UNFOLDED",
    "Bins",
    "Groups",
    "empty_gradients",
    "has_fused_passes",
    "precision",
    "require_weights",
    "soft_histogram",
    "work_dtype",
]

CHUNK = 1 << 16  # weights at a time on a CPU: few calls, and temporaries that stay in its cache
UNFOLDED = 1 << 20  # weights that go into a table before it is folded: float32 counts stay exact


@dataclass(frozen=True)
class Bins:
    """``count`` equal bins over [−limit, limit].

    >>> Bins(2.0, 4).centres()
    tensor([-1.5000, -0.5000,  0.5000,  1.5000], dtype=torch.float64)
    """

    limit: float
    count: int = 100

    def __post_init__(self) -> None:
        if not (math.isfinite(self.limit) and self.limit > 0):
            raise ConfigError(f"the bins' limit must be positive and finite, found {self.limit!r}")
        if not 2 <= self.count <= 10_000:
            raise ConfigError(f"the number of bins lies between 2 and 10000, found {self.count!r}")

    @classmethod
    def covering(cls, prior: Prior, count: int = 100, mass: float = 1 - 1e-4) -> Bins:
        """Bins over the range that holds ``mass`` of the prior."""
        return cls(prior.support(mass), count)

    @property
    def width(self) -> float:
        """Width of a bin; β is half of it."""
        return 2 * self.limit / self.count

    def edges(self) -> Tensor:
        """The count + 1 borders, float64."""
        return torch.linspace(-self.limit, self.limit, self.count + 1, dtype=torch.float64)

    def centres(self) -> Tensor:
        """The q_k, float64."""
        return (torch.arange(self.count, dtype=torch.float64) + 0.5) * self.width - self.limit


def soft_histogram(values: Tensor | Sequence[Tensor], bins: Bins) -> Tensor:
    """Σ_w exp(−(w − q_k)²/β²) for each bin over all ``values`` together: K sums, not normalised.

    >>> counts = soft_histogram(torch.tensor([0.5, 0.5, -0.5]), Bins(1.0, 2))
    >>> [round(float(c), 4) for c in counts]  # 1 at the centre, exp(−4) a bin away
    [1.0366, 2.0183]
    """
    group = [values] if isinstance(values, Tensor) else list(values)
    require_weights(group)
    groups = Groups([len(group)], bins)
    counts: Tensor = _Counts.apply(groups, *group)  # type: ignore[no-untyped-call]
    return counts


@dataclass(frozen=True)
class Groups:
    """Which tensors share a histogram (consecutive ones, ``lengths`` of them), and over which bins."""

    lengths: Sequence[int]
    bins: Bins

    def statistics(self, values: Sequence[Tensor]) -> Tensor:
        """For each group K sums, the sum of ρ, and the number of weights: [groups, K + 2]."""
        rest = iter(values)
        return torch.stack([_statistics(list(islice(rest, n)), self.bins) for n in self.lengths])

    def add_slopes_(
        self, gradients: Sequence[Tensor | None], values: Sequence[Tensor], slopes: Tensor
    ) -> None:
        """From the slope of a scalar for each sum [groups, K + 1], add that for each weight to
        ``gradients``.
        """
        rest = iter(zip(gradients, values, strict=True))
        for n, slope in zip(self.lengths, slopes, strict=True):
            _add_slopes_(list(islice(rest, n)), self.bins, slope / self.bins.width)


class _Counts(torch.autograd.Function):
    """Keeps nothing as large as the weights: the way back locates them again."""

    @staticmethod
    def forward(ctx: Any, groups: Groups, *values: Tensor) -> Tensor:
        ctx.groups = groups
        ctx.save_for_backward(*values)
        return groups.statistics(values)[0, :-2]

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, slopes: Tensor) -> tuple[Tensor | None, ...]:
        gradients = empty_gradients(ctx, torch.zeros_like)
        ctx.groups.add_slopes_(gradients, ctx.saved_tensors, torch.nn.functional.pad(slopes, (0, 1))[None])
        return (None, *gradients)


def empty_gradients(ctx: Any, make: Callable[[Tensor], Tensor]) -> list[Tensor | None]:
    """What ``make`` makes of those of the saved values (the function's last arguments) that need a
    gradient.
    """
    values = ctx.saved_tensors
    needed = ctx.needs_input_grad[-len(values) :]
    return [make(v) if need else None for v, need in zip(values, needed, strict=True)]


def require_weights(values: Sequence[Tensor], *, shared: bool = False, each: bool = False) -> None:
    """Refuse an empty histogram, unless ranks share it; with ``each``, every tensor has one of its own."""
    sizes = [value.numel() for value in values]
    if not sizes or (not shared and (not sum(sizes) or (each and not all(sizes)))):
        raise ConfigError(f"a histogram needs at least one weight, found tensors of {sizes} values")


def work_dtype(values: Sequence[Tensor]) -> torch.dtype:
    """float64 if any of the values is, else float32."""
    return torch.float64 if any(value.dtype == torch.float64 for value in values) else torch.float32


def precision(device: torch.device) -> torch.dtype:
    """Sums over all weights are kept in float64 wherever the device has it."""
    return torch.float32 if device.type == "mps" else torch.float64


def _statistics(values: Sequence[Tensor], bins: Bins) -> Tensor:
    device, dtype = values[0].device, work_dtype(values)
    passes = _passes(values, bins)
    table = table_of_cells("moments", bins.count, dtype, device).zero_()
    statistics = torch.zeros(bins.count + 2, dtype=precision(device), device=device)
    counts, unfolded = statistics[: bins.count], 0
    tail: Tensor | float = 0.0
    for value in values:
        for chunk in _chunks(value.detach(), _memory_order(value), passes.size):
            if unfolded + chunk.numel() > UNFOLDED:
                passes.fold(table, counts)
                table.zero_()
                unfolded = 0
            unfolded += chunk.numel()
            tail = passes.deposit(chunk.to(dtype), table) + tail
    passes.fold(table, counts)
    statistics[-2] = tail
    statistics[-1] = sum(value.numel() for value in values)
    return statistics


def _add_slopes_(pairs: Sequence[tuple[Tensor | None, Tensor]], bins: Bins, slope: Tensor) -> None:
    values = [value for _, value in pairs]
    dtype, passes = work_dtype(values), _passes(values, bins)
    table, tail = table_of_cells("slopes", bins.count, dtype, slope.device), slope[bins.count].to(dtype)
    passes.spread(slope[: bins.count], table)
    for gradient, value in pairs:
        if gradient is None:
            continue
        order = _memory_order(gradient)
        direct = gradient if order is None else gradient.permute(order)
        target = direct
        if not direct.is_contiguous():
            target = torch.zeros_like(direct, memory_format=torch.contiguous_format)
        source = _chunks(value.detach(), order, passes.size)
        for out, chunk in zip(_chunks(target, None, passes.size), source, strict=True):
            passes.lookup_add_(out, chunk.to(dtype), table, tail)
        if target is not direct:
            direct.add_(target)


def _memory_order(tensor: Tensor) -> list[int] | None:
    """Dimensions from the slowest to the fastest: transposed or channels-last memory is walked in place."""
    return None if tensor.is_contiguous() else sorted(range(tensor.dim()), key=tensor.stride, reverse=True)


def _chunks(tensor: Tensor, order: list[int] | None, size: int) -> tuple[Tensor, ...]:
    """Views (copies where memory has gaps) of at most ``size`` values, dimensions taken in ``order``."""
    flat = (tensor if order is None else tensor.permute(order)).reshape(-1)
    return (flat,) if flat.numel() <= size else torch.split(flat, size)


class _Passes(Protocol):
    @property
    def size(self) -> int: ...
    def fold(self, table: Tensor, counts: Tensor) -> None: ...
    def spread(self, gradient: Tensor, table: Tensor) -> None: ...
    def deposit(self, values: Tensor, table: Tensor) -> Tensor | float: ...
    def lookup_add_(self, gradient: Tensor, values: Tensor, table: Tensor, tail: Tensor) -> None: ...


def _passes(values: Sequence[Tensor], bins: Bins) -> _Passes:
    """Fused passes where numba is installed and fits ``values`` (CPU, no float64), else torch's."""
    device, dtype = values[0].device, work_dtype(values)
    fused = _fused_passes() if device.type == "cpu" and dtype == torch.float32 else None
    if fused is not None:
        return fused(CELLS / bins.width, bins.width, bins.limit)
    largest = max(value.numel() for value in values)
    size = min(CHUNK, largest) if device.type == "cpu" else max(CHUNK, largest // 128)
    return TorchPasses(bins.width, bins.limit, max(1, size), dtype, device)


def has_fused_passes() -> bool:
    """Whether numba is installed."""
    return _fused_passes() is not None


@lru_cache(maxsize=1)
def _fused_passes() -> Callable[[float, float, float], _Passes] | None:
    try:
        from bandstop.method.histogram.numba_backend import FusedPasses
    except ImportError:
        return None
    return FusedPasses
