"""Tensors inside nested arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch import Tensor

__all__ = ["every_tensor", "joint_shape", "map_tensors", "words"]


def words(text: str) -> list[str]:
    """The words of a table of names."""
    return text.split()


def joint_shape(*values: Any) -> torch.Size:
    """The shape that the tensors among ``values`` are broadcast to."""
    shapes = [value.shape for value in values if isinstance(value, Tensor)]
    return torch.Size(torch.broadcast_shapes(*shapes))  # type: ignore[no-untyped-call]


def every_tensor(value: Any) -> Iterator[Tensor]:
    """All tensors in nested tuples, lists, mappings and dataclasses."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from every_tensor(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from every_tensor(item)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from every_tensor(getattr(value, field.name))


def map_tensors(function: Callable[[Tensor], Any], value: Any) -> Any:
    """The same nest with ``function`` applied to every tensor in it."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, (tuple, list)):
        items = [map_tensors(function, item) for item in value]
        if hasattr(value, "_fields"):
            return type(value)(*items)
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, dict):
        return {key: map_tensors(function, item) for key, item in value.items()}
    return value
