"""How a budget is shared between layers: learned (one pooled threshold), uniform, ERK, LAMP, or given.

Every rule returns whole numbers that add up to the budget, with at least ``floor`` and at most all weights of each layer.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import torch
from torch import Tensor

from bandstop.engine.select.topk_sharded import pooled_counts
from bandstop.engine.shards.tensor import Shards
from bandstop.errors import BudgetError, ConfigError
from bandstop.record.prune import ALLOCATIONS

__all__ = [
    "PooledOrder",
    "allocate",
    "check_budget",
    "erdos_renyi",
    "lamp_scores",
    "pooled",
    "share",
]


def share(wishes: Sequence[float], sizes: Sequence[int], total: int, floor: int = 1) -> list[int]:
    """Whole numbers proportional to ``wishes``, between ``floor`` and ``sizes``, adding up to ``total``.

    What a full layer cannot take goes to the others; remainders go to the largest fractions, earlier layers first.

    >>> share([1.0, 1.0, 2.0], [100, 2, 100], 40)
    [13, 2, 25]
    """
    check_budget(sizes, total, floor)
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
            raise BudgetError(f"no whole-number shares of {total} exist for layers of {list(sizes)} weights")
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


class PooledOrder:
    """All layers' scores in one descending order, sorted once: how many of the best N fall into each layer, for any N.

    Each layer's ``floor`` best come first, so that no layer is left empty.

    >>> order = PooledOrder([torch.tensor([3.0, 1.0]), torch.tensor([2.0, 0.5, 0.4])])
    >>> order.counts(2), order.counts(3), order.counts(4)
    ([1, 1], [2, 1], [2, 2])
    """

    def __init__(self, scores: Sequence[Tensor], floor: int = 1) -> None:
        self.sizes, self.floor = [s.numel() for s in scores], floor
        lifted = [_lift_best(s.detach().flatten().float(), floor) for s in scores]
        layer = torch.repeat_interleave(torch.arange(len(scores)), torch.tensor(self.sizes))
        self.layer = layer.to(lifted[0].device)[torch.cat(lifted).sort(descending=True, stable=True).indices]

    def counts(self, total: int) -> list[int]:
        """Connections per layer when the ``total`` best are kept."""
        check_budget(self.sizes, total, self.floor)
        return [int(c) for c in torch.bincount(self.layer[:total], minlength=len(self.sizes)).tolist()]


def pooled(scores: Sequence[Tensor], total: int, floor: int = 1) -> list[int]:
    """``PooledOrder(scores, floor).counts(total)`` for a single total: found by selection, without sorting.

    >>> pooled([torch.tensor([3.0, 1.0]), torch.tensor([2.0, 0.5, 0.4])], 2)
    [1, 1]
    """
    sizes = [s.numel() for s in scores]
    check_budget(sizes, total, floor)
    flat = torch.cat([_lift_best(s.detach().flatten().float(), floor) for s in scores])
    if total == flat.numel():
        return sizes
    # kthvalue and a comparison cost a fifth of topk when much is kept; equal scores fall to the earlier layers.
    limit = flat.kthvalue(flat.numel() - total).values
    parts = torch.split(flat, sizes)
    counts = [int((part > limit).sum()) for part in parts]
    missing = total - sum(counts)
    for i, part in enumerate(parts):
        taken = min(missing, int((part == limit).sum())) if missing else 0
        counts[i] += taken
        missing -= taken
    return counts


def _lift_best(flat: Tensor, floor: int) -> Tensor:
    """Scores with the ``floor`` best raised above everything."""
    if floor:
        flat = flat.clone()
        flat[flat.topk(min(floor, flat.numel())).indices] = torch.inf
    return flat


def check_budget(sizes: Sequence[int], total: int, floor: int) -> None:
    """Refuse a ``total`` that the layers cannot hold, or that leaves one of them below the ``floor``."""
    least = sum(min(floor, n) for n in sizes)
    if not least <= total <= sum(sizes):
        raise BudgetError(
            f"a budget between {least} (at least {floor} in each of {len(sizes)} layers) and {sum(sizes)} connections "
            f"is needed, found {total}; raise the budget or allow empty layers"
        )


def allocate(
    rule: str,
    total: int,
    magnitudes: Mapping[str, Tensor],
    *,
    floor: int = 1,
    given: Mapping[str, float] | None = None,
    stacked: Collection[str] = (),
) -> dict[str, int]:
    """Connections to keep in each named layer, by one of the rules.

    ``given`` maps layer names to relative densities (used by rule "given"; missing names get density 1); ``stacked`` names the
    layers that are stacks of matrices (used by rule "erk").

    >>> allocate("erk", 30, {"a": torch.ones(10, 10), "b": torch.ones(20, 20)})
    {'a': 10, 'b': 20}
    """
    if rule not in ALLOCATIONS:
        raise ConfigError(f"allocation must be one of {', '.join(ALLOCATIONS)}, found {rule!r}")
    names, tensors = list(magnitudes), list(magnitudes.values())
    sizes = [t.numel() for t in tensors]
    if rule == "learned" and (shards := Shards.of(magnitudes)) is not None:
        check_budget(sizes, total, floor)
        counts = pooled_counts(shards, total, floor)
    elif rule == "learned":
        counts = pooled([t.abs() for t in tensors], total, floor)
    elif rule == "lamp":
        counts = pooled([lamp_scores(t.abs()) for t in tensors], total, floor)
    elif rule == "erk":
        wishes = [erdos_renyi(t.shape, name in stacked) for name, t in magnitudes.items()]
        counts = share(wishes, sizes, total, floor)
    elif rule == "given":
        if unknown := set(given or {}) - set(names):
            raise ConfigError(
                f"densities were given for {sorted(unknown)}, which are not pruned layers: {names}"
            )
        counts = share(
            [(given or {}).get(n, 1.0) * s for n, s in zip(names, sizes, strict=True)], sizes, total, floor
        )
    else:
        counts = share([float(s) for s in sizes], sizes, total, floor)
    return dict(zip(names, counts, strict=True))
