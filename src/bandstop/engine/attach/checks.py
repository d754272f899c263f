"""What is asked of a pruner, checked before anything is touched."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import torch
from torch import Tensor, nn

from bandstop.errors import ConfigError, ModelError

__all__ = ["check_model", "check_rates", "check_steps", "require_own_memory", "require_plain_values"]

DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def check_model(model: Any) -> None:
    """Refuse what is no ``nn.Module``, or one whose code torch has compiled to a script.

    >>> check_model(nn.Linear(2, 2))
    """
    if not isinstance(model, nn.Module):
        raise ModelError(f"the model must be a torch.nn.Module, found {type(model).__name__}")
    for name, module in model.named_modules():
        if isinstance(module, torch.jit.ScriptModule):
            where = f"its part {name} is" if name else "it is"
            raise ModelError(
                f"a scripted model cannot be pruned, and {where} scripted: prune the nn.Module that the "
                "script was made from, and script it afterwards"
            )


def check_steps(steps: Any) -> int:
    """The number of optimiser steps, a whole number from 1 up.

    >>> check_steps(20)
    20
    """
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise ConfigError(
            "steps, the optimiser steps of the whole training, must be a whole number of at least 1, "
            f"found {steps!r}"
        )
    return steps


def check_rates(rates: Any) -> tuple[float, float]:
    """The ends of a range of pruning rates.

    >>> check_rates((0.5, 0.9))
    (0.5, 0.9)
    """
    if not isinstance(rates, tuple | list) or [type(rate) in (int, float) for rate in rates] != [True, True]:
        raise ConfigError(f"rates must be the lowest and the highest pruning rate, found {rates!r}")
    low, high = rates
    if not 0 <= low < high < 1:
        raise ConfigError(f"the range of rates needs 0 ≤ lowest < highest < 1, found {low} to {high}")
    return float(low), float(high)


def require_plain_values(name: str, parameter: Tensor) -> None:
    """Refuse a weight whose values cannot be replaced one by one by latents."""
    remedy = f"leave it out with layers=['!{name}']"
    if parameter.layout != torch.strided:
        raise ModelError(
            f"parameter {name} has the layout {parameter.layout}: only dense tensors can be pruned; make "
            f"it dense with .to_dense(), or {remedy}"
        )
    if parameter.dtype not in DTYPES:
        kinds = ", ".join(str(dtype).removeprefix("torch.") for dtype in DTYPES)
        raise ModelError(
            f"parameter {name} has type {parameter.dtype}: only floating-point weights ({kinds}) can be "
            f"pruned; {remedy}"
        )
    if parameter.is_inference() or not _counts_versions(parameter):
        raise ModelError(
            f"parameter {name} was made in inference mode and cannot be trained: make the model outside of "
            "torch.inference_mode()"
        )
    if any(
        stride == 0 and size > 1 for stride, size in zip(parameter.stride(), parameter.shape, strict=True)
    ):
        raise ModelError(
            f"parameter {name} is an expanded tensor, whose entries share memory: give it its own with "
            ".contiguous() or .clone()"
        )


def _counts_versions(parameter: Tensor) -> bool:
    """Whether autograd can follow a tensor; one made in inference mode and cast since only says so."""
    try:
        return parameter._version >= 0
    except RuntimeError:
        return False


def require_own_memory(model: nn.Module, chosen: dict[int, str]) -> None:
    """Refuse a chosen weight that shares memory with another parameter without being the same parameter.

    ``chosen`` has names by the identity of the parameter.
    """
    spans: dict[int, list[tuple[int, int, nn.Parameter, str]]] = {}
    for name, parameter in model.named_parameters():
        if parameter.device.type == "meta" or parameter.layout != torch.strided or not parameter.numel():
            continue
        steps = zip(parameter.stride(), parameter.shape, strict=True)
        last = int(sum(stride * (size - 1) for stride, size in steps))
        first = int(parameter.storage_offset())
        memory = parameter.untyped_storage().data_ptr()
        spans.setdefault(memory, []).append((first, first + last, parameter, name))
    for members in spans.values():
        for (start, end, one, name), (other_start, other_end, other, other_name) in combinations(members, 2):
            touched = id(one) in chosen or id(other) in chosen
            if touched and start <= other_end and other_start <= end:
                raise ModelError(
                    f"parameters {name} and {other_name} are views of the same memory and cannot be pruned "
                    "apart: tie them as one parameter object, or give each its own memory with .clone()"
                )
