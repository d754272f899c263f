"""Names of operations, whichever way they are spelled, and the ones that only ask about a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bandstop.engine.trace.nest import words

__all__ = ["ASKING", "describe"]

ASKING = frozenset(
    words("""
    size dim numel nelement stride storage_offset element_size data_ptr get_device is_contiguous is_complex
    is_floating_point is_signed is_nonzero is_same_size len item tolist index repr format hash contains equal
    allclose retain_grad register_hook zeros_like ones_like empty_like full_like rand_like randn_like
    randint_like new_zeros new_ones new_empty new_full new_tensor is_tensor broadcast_shapes result_type
    can_cast
    """)
)
_IN_PLACE = frozenset(words("iadd isub imul idiv itruediv ifloordiv ipow iand ior ixor"))


def describe(func: Callable[..., Any]) -> tuple[str, bool]:
    """Name of an operation (``__iadd__``, ``add_`` and ``add`` are one), and whether it is done in place.

    >>> import torch
    >>> describe(torch.Tensor.__iadd__), describe(torch.relu_), describe(torch.Tensor.T.__get__)
    (('add', True), ('relu', True), ('.T', False))
    """
    raw: str = getattr(func, "__name__", str(func))
    if raw in ("__get__", "__set__"):
        attribute = getattr(getattr(func, "__self__", None), "__name__", "?")
        return (f".{attribute}=", True) if raw == "__set__" else (f".{attribute}", False)
    if raw.startswith("__") and raw.endswith("__"):
        core = raw[2:-2]
        if core in ("float", "int", "bool"):
            return "item", False
        return (core[1:], True) if core in _IN_PLACE else (core, core == "setitem")
    return (raw[:-1].lstrip("_"), True) if raw.endswith("_") else (raw.lstrip("_"), False)
