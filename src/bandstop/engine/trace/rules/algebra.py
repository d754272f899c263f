"""The two laws of surrogates, what a sum and what a product of traced tensors is, and the count of products.

For ``y = op(w, x)`` bilinear, a weight's number of multiplications is ``∂/∂w ⟨g, op(w, x)⟩`` with x and g all
ones (dense), or with x = 1 where the input varies and g = 1 where y matters for the output (live).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from bandstop.engine.trace.kinds import Kind
from bandstop.engine.trace.nest import joint_shape
from bandstop.engine.trace.tracer import Tracer

__all__ = ["add", "count_uses", "product"]

Bilinear = Callable[[Tensor, Tensor], Tensor]


def product(
    tr: Tracer,
    apply: Bilinear,
    left: Any,
    right: Any,
    *,
    matrix: bool = False,
    uses: Callable[[Tensor], Tensor] | None = None,
) -> Tensor:
    """``apply(left, right)``, bilinear; ``matrix``: a matrix product over the last dimension of ``left``.

    ``uses`` counts the multiplications of a weight where there is a faster way than :func:`count_uses`.

    - signal × weight: paths run where both are 1, and the weight's multiplications are counted;
    - signal × constant: paths run where the constant is not zero;
    - signal × signal: varies with either. Shares of one (a softmax) that mix what does not vary give nothing
      that varies;
    - weights and constants by themselves: a new weight, 1 where it can differ from zero. A weight that is a
      matrix product or a sum of tracked weights counts as multiplied by each path through them.
    """
    kinds = tr.kind(left), tr.kind(right)
    varies = [kind in (Kind.SIGNAL, Kind.INDEX) for kind in kinds]
    if Kind.SIGNAL not in kinds and True not in varies:
        if apply is torch.mul and kinds[0] == kinds[1]:  # two weights fold into one: the larger is multiplied
            first = left.numel() >= right.numel()
            left, right = (left, tr.faint(right)) if first else (tr.faint(left), right)
        return tr.emit(apply(tr.structure(left), tr.structure(right)), Kind.WEIGHT)
    if all(varies):
        a, b = tr.signal(left), tr.signal(right)
        if matrix and kinds[0] == Kind.SIGNAL and tr.are_shares(left):
            return tr.emit(apply(a + (1 - a).detach(), b), Kind.SIGNAL)
        return tr.emit(apply(a, torch.ones_like(b)) + apply(torch.ones_like(a), b), Kind.SIGNAL)
    signal, factor = (left, right) if varies[0] else (right, left)
    signal = tr.signal(signal)

    def combine(one: Tensor, other: Tensor) -> Tensor:
        return apply(one, other) if varies[0] else apply(other, one)

    if tr.kind(factor) != Kind.WEIGHT:
        return tr.emit(combine(signal, tr.structure(factor)), Kind.SIGNAL)
    cut = tr.cut(factor, multiplies=True)
    if tr.counting:
        quick = matrix and factor.ndim == 2 and signal.numel() > 0
        if quick:
            number: Tensor | int = signal.numel() // left.shape[-1]
        else:
            number = uses(cut.leaf) if uses else count_uses(cut.leaf, combine, signal.shape)
        cut.dense = number if cut.dense is None else cut.dense + number
    return tr.emit(combine(signal, cut.leaf), Kind.SIGNAL)


def count_uses(weight: Tensor, combine: Bilinear, shape: Sequence[int]) -> Tensor:
    """How often each entry of ``weight`` is multiplied when it meets a signal of this ``shape``."""
    ones = torch.ones_like(weight, dtype=torch.float64, requires_grad=True)
    full = torch.ones((), dtype=torch.float64, device=weight.device).expand(*shape)
    (uses,) = torch.autograd.grad(combine(full, ones).sum(), ones)
    return uses


def add(tr: Tracer, *terms: Any) -> Tensor:
    """A sum: signals add up, constants vanish, a tracked addend counts where it meets a varying one."""
    kinds = [tr.kind(term) for term in terms]
    if Kind.SIGNAL not in kinds:  # weights among themselves
        return tr.emit(_sum([tr.structure(term) for term in terms]), Kind.WEIGHT)
    shape, typed = joint_shape(*terms), list(zip(terms, kinds, strict=True))
    varying = [tr.signal(term) for term, kind in typed if kind in (Kind.SIGNAL, Kind.INDEX)]
    addends = [tr.cut(term, multiplies=False).leaf for term, kind in typed if kind == Kind.WEIGHT]
    if len(varying) == 1 and not addends:
        return tr.keep(varying[0].expand(shape).clone(), Kind.SIGNAL)
    total = _sum(varying)
    if addends:
        varies = torch.gt(total, 0.5).to(tr.dtype)
        total = _sum([total, *(varies * addend for addend in addends)])
    return tr.emit(total.expand(shape), Kind.SIGNAL)


def _sum(terms: list[Tensor]) -> Tensor:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total
