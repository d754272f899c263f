"""Counts per layer for a budget: learned (one pooled threshold), uniform, ERK, LAMP, or given.

Every rule takes the total and the layers' magnitudes and returns whole numbers that add up to the total, with
at least ``floor`` and at most all weights of each layer.
"""

from __future__ import annotations

import ctypes
import math
from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence

import torch
from torch import Tensor

from bandstop.engine.select import topk_sharded
from bandstop.engine.shards.tensor import Shards
from bandstop.errors import BudgetError, ConfigError
from bandstop.method.priors import Prior, prior_magnitudes
from bandstop.record.prune import ALLOCATIONS

__all__ = [
    "Allocate",
    "LampAllocation",
    "allocate",
    "apportion",
    "erdos_renyi",
    "lamp_scores",
    "pooled_counts",
]

POOLED = 1 << 22
"""Weights up to which their LAMP scores are kept in order, four bytes each."""

Allocate = Callable[[int, Mapping[str, Tensor]], dict[str, int]]
"""Counts per layer from a total and the layers' magnitudes."""


def apportion(wishes: Sequence[float], sizes: Sequence[int], total: int, floor: int = 1) -> list[int]:
    """Whole numbers proportional to ``wishes``, between ``floor`` and ``sizes``, adding up to ``total``.

    What a full layer cannot take goes to the others. Remainders go to the largest fractions, earlier layers
    first.

    >>> apportion([1.0, 1.0, 2.0], [100, 2, 100], 40)
    [13, 2, 25]
    """
    _check(sizes, total, floor)
    lows = [min(floor, n) for n in sizes]
    low, high = 0.0, max(n / max(w, 1e-30) for w, n in zip(wishes, sizes, strict=True)) + 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if sum(min(max(middle * w, lo), n) for w, n, lo in zip(wishes, sizes, lows, strict=True)) < total:
            low = middle
        else:
            high = middle
    real = [min(max(high * w, lo), n) for w, n, lo in zip(wishes, sizes, lows, strict=True)]
    counts = [max(lo, min(n, int(x + 1e-9))) for x, n, lo in zip(real, sizes, lows, strict=True)]
    order = sorted(range(len(counts)), key=lambda i: (counts[i] - real[i], i))
    while (missing := total - sum(counts)) != 0:
        step = 1 if missing > 0 else -1
        moved = False
        for i in order if step > 0 else reversed(order):
            if total == sum(counts):
                break
            if lows[i] <= counts[i] + step <= sizes[i]:
                counts[i] += step
                moved = True
        if not moved:  # pragma: no cover - excluded by the bounds checked above
            raise BudgetError(f"{total} connections cannot be split between layers of {list(sizes)} weights")
    return counts


def erdos_renyi(shape: Sequence[int], stacked: bool = False) -> float:
    """Erdős–Rényi-kernel wish of a layer: ``Σ dimensions`` (its density is ``Σ dims / Π dims``).

    A stack of matrices, such as the heads of a graph convolution, is that many layers, not a kernel.

    >>> erdos_renyi((64, 128)), erdos_renyi((8, 64, 128)), erdos_renyi((8, 64, 128), stacked=True)
    (192.0, 200.0, 1536.0)
    """
    return float(math.prod(shape[:-2]) * sum(shape[-2:]) if stacked else sum(shape))


def lamp_scores(magnitudes: Tensor) -> Tensor:
    """LAMP: ``w_i² / Σ_{j : |w_j| ≥ |w_i|} w_j²`` — each weight against those that survive it in its layer.

    >>> lamp_scores(torch.tensor([1.0, 2.0]))
    tensor([0.2000, 1.0000])
    """
    flat = magnitudes.flatten().to(torch.float64).square()
    ordered, order = flat.sort(descending=True, stable=True)
    scores = torch.empty_like(flat)
    scores[order] = ordered / ordered.cumsum(0).clamp(min=1e-300)
    return scores.reshape(magnitudes.shape).to(magnitudes.dtype)


def pooled_counts(scores: Sequence[Tensor], total: int, floor: int = 1) -> list[int]:
    """How many of the ``total`` best scores fall into each layer; each layer's ``floor`` best come first.

    >>> pooled_counts([torch.tensor([3.0, 1.0]), torch.tensor([2.0, 0.5, 0.4])], 2)
    [1, 1]
    """
    sizes = [s.numel() for s in scores]
    _check(sizes, total, floor)
    flat = torch.cat([_lift_best(s.detach().flatten().float(), floor) for s in scores])
    if total == flat.numel():
        return sizes
    # kthvalue and a comparison cost a fifth of topk when much is kept; equal scores fall to the earlier
    # layers.
    threshold = flat.kthvalue(flat.numel() - total).values
    parts = torch.split(flat, sizes)
    counts = [int((part > threshold).sum()) for part in parts]
    missing = total - sum(counts)
    for i, part in enumerate(parts):
        taken = min(missing, int((part == threshold).sum())) if missing else 0
        counts[i] += taken
        missing -= taken
    return counts


def _lift_best(flat: Tensor, floor: int) -> Tensor:
    """Scores with the ``floor`` best raised above everything."""
    if floor:
        flat = flat.clone()
        flat[flat.topk(min(floor, flat.numel())).indices] = torch.inf
    return flat


def _check(sizes: Sequence[int], total: int, floor: int) -> None:
    """Refuse a ``total`` that the layers cannot hold, or that leaves one of them below the ``floor``."""
    least = sum(min(floor, n) for n in sizes)
    if not least <= total <= sum(sizes):
        raise BudgetError(
            f"a budget between {least} (at least {floor} in each of {len(sizes)} layers) and {sum(sizes)} "
            f"connections is needed, found {total}; raise the budget or allow empty layers"
        )


def allocate(
    rule: str,
    total: int,
    magnitudes: Mapping[str, Tensor],
    *,
    floor: int = 1,
    given: Mapping[str, float] | None = None,
    stacked: Collection[str] = (),
    free: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """Connections to keep in each named layer, by one of the rules.

    ``given`` maps layer names to relative densities (rule "given"; missing names get density 1); ``stacked``
    names the layers that are stacks of matrices (rule "erk"); ``free`` tells how many entries may be kept
    where not all (sharded tables have their padding row).

    >>> allocate("erk", 30, {"a": torch.ones(10, 10), "b": torch.ones(20, 20)})
    {'a': 10, 'b': 20}
    """
    if rule not in ALLOCATIONS:
        raise ConfigError(f"allocation must be one of {', '.join(ALLOCATIONS)}, found {rule!r}")
    if rule == "adapted":
        raise ConfigError('allocation "adapted" compares latents with a prior: it is for bandstop.Recipe')
    names, tensors = list(magnitudes), list(magnitudes.values())
    sizes = [t.numel() if free is None else free[name] for name, t in magnitudes.items()]
    if rule == "learned" and (shards := Shards.of(magnitudes)) is not None:
        _check(sizes, total, floor)
        counts = topk_sharded.pooled_counts(shards, total, floor)
    elif rule == "learned":
        counts = pooled_counts([t.abs() for t in tensors], total, floor)
    elif rule == "lamp":
        counts = pooled_counts([lamp_scores(t.abs()) for t in tensors], total, floor)
    elif rule == "erk":
        wishes = [erdos_renyi(t.shape, name in stacked) for name, t in magnitudes.items()]
        counts = apportion(wishes, sizes, total, floor)
    elif rule == "given":
        if unknown := set(given or {}) - set(names):
            raise ConfigError(
                f"densities were given for {sorted(unknown)}, which are not pruned layers: {names}"
            )
        counts = apportion(
            [(given or {}).get(n, 1.0) * s for n, s in zip(names, sizes, strict=True)], sizes, total, floor
        )
    else:
        counts = apportion([float(s) for s in sizes], sizes, total, floor)
    return dict(zip(names, counts, strict=True))


class LampAllocation:
    """LAMP counts per layer when magnitudes are the prior's quantiles, without sorting all weights.

    Layers of one size then have the same scores, and the scores of a layer fall with its magnitudes. How many
    of the best N weights fall into each layer is read off all scores in order, in a large net (``POOLED``)
    found by bisection on their bits. No data are needed: the magnitudes that it is called with are not read.

    >>> from bandstop.method.priors import Laplace
    >>> LampAllocation(Laplace(1.0), {"a": 100, "b": 100, "c": 1000})(60)
    {'a': 17, 'b': 17, 'c': 26}
    """

    def __init__(self, prior: Prior, sizes: Mapping[str, int], floor: int = 1) -> None:
        self.names, self.sizes, self.floor = list(sizes), list(sizes.values()), floor
        self.bits = {n: _ascending_bits(prior, n, floor) for n in dict.fromkeys(self.sizes)}
        self.pooled: array[int] | None = None
        self.lists: dict[int, array[int]] = {}  # Python looks a number up before torch has found the way to
        if sum(self.sizes) <= POOLED:
            self.pooled = _listed(torch.cat([self.bits[n] for n in self.sizes]).sort().values)
            self.lists = {n: _listed(bits) for n, bits in self.bits.items()}
        self.found: tuple[int, dict[str, int]] = (-1, {})

    def __call__(self, total: int, magnitudes: Mapping[str, Tensor] | None = None) -> dict[str, int]:
        """Connections per layer when the ``total`` best are kept; each layer's ``floor`` best come first."""
        if total != self.found[0]:
            self.found = total, self._counts(total)
        return dict(self.found[1])

    def _counts(self, total: int) -> dict[str, int]:
        _check(self.sizes, total, self.floor)
        head = self._head(sum(self.sizes) - total)
        found = {n: self._reaching(n, head) for n in self.bits}
        counts = [found[n][0] for n in self.sizes]
        missing = total - sum(counts)
        for i, n in enumerate(self.sizes):  # of equal scores the earlier layers' come first
            taken = min(missing, found[n][1] - counts[i])
            counts[i] += taken
            missing -= taken
        return dict(zip(self.names, counts, strict=True))

    def _reaching(self, size: int, head: int) -> list[int]:
        """How many scores of a layer of this size are above ``head``, and how many reach it."""
        if self.lists:
            return [size - bisect_left(self.lists[size], end) for end in (head + 1, head)]
        ends = torch.tensor([head + 1, head], dtype=torch.int32)
        found: list[int] = (size - torch.searchsorted(self.bits[size], ends)).tolist()
        return found

    def _head(self, stopped: int) -> int:
        """Bits of the largest score that more weights reach than are kept."""
        if self.pooled is not None:
            return self.pooled[stopped - 1] if stopped else 0
        head = 0
        for shift in (24, 18, 12, 6, 0):  # digit by digit
            keys = torch.arange(head, head + (64 << shift), 1 << shift, dtype=torch.int32)
            below = torch.stack([torch.searchsorted(self.bits[n], keys) for n in self.sizes]).sum(0)
            head += max(int((below < stopped).sum()) - 1, 0) << shift
        return head


def _listed(numbers: Tensor) -> array[int]:
    """int32 ``numbers`` in a list of Python's, four bytes each.

    >>> _listed(torch.tensor([1, 5], dtype=torch.int32))
    array('i', [1, 5])
    """
    plain, found = numbers.cpu().contiguous(), array("i")
    found.frombytes(ctypes.string_at(plain.data_ptr(), plain.nbytes))
    return found


def _ascending_bits(prior: Prior, count: int, floor: int) -> Tensor:
    """The scores of a layer as the bits of float32, whole numbers in the same order; its ``floor`` best are
    above all others.
    """
    squares = prior_magnitudes(prior, count).double().square_()
    survivors = squares.flip(0).cumsum_(0).clamp_(min=1e-300).flip(0)
    scores = squares.div_(survivors).float()
    scores[max(count - floor, 0) :] = torch.inf
    return scores.view(torch.int32)
