"""The weights of a network as its layers see them, and the one count of what is kept of them."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from bandstop.engine.shards.tensor import Shards, is_sharded, local

__all__ = ["all_weights", "count_kept", "effective_weights", "kept"]


def count_kept(tensor: Tensor) -> int:
    """Number of kept connections: entries that are not an exact zero. Every size that is shown is this count.

    Of a sharded tensor all ranks together; every rank must ask.

    >>> count_kept(torch.tensor([[0.0, -0.0, 1e-30], [2.0, 0.0, -1.0]]))
    3
    """
    count = torch.count_nonzero(local(tensor))
    return int(Shards({"": tensor}).sum(count) if is_sharded(tensor) else count)


def effective_weights(model: nn.Module, *, smallest_ndim: int = 2) -> dict[str, Tensor]:
    """What the layers multiply with, by name: parameters with at least two dimensions, tied ones once.

    A parametrised tensor is named as the layer sees it (``"layer.weight"``, not
    ``"layer.parametrizations.weight.original"``).

    >>> list(effective_weights(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))))
    ['0.weight', '2.weight']
    """
    named: dict[str, Tensor] = {}
    seen: set[int] = set()
    for name, tensor in all_weights(model):
        if tensor.ndim >= smallest_ndim and id(tensor) not in seen:
            seen.add(id(tensor))
            named[name] = tensor
    return named


def all_weights(model: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """Every parameter and parametrised tensor, of any dimension, tied ones under each of their names."""
    for path, module in model.named_modules():
        parts = path.split(".")
        if "parametrizations" in parts:  # how an effective weight is made is not part of the network
            continue
        names = [name for name, parameter in module._parameters.items() if parameter is not None]
        if parametrize.is_parametrized(module):
            names += list(module.parametrizations)
        for name in names:
            yield (f"{path}.{name}" if path else name), getattr(module, name)


def kept(model: nn.Module) -> dict[str, int]:
    """Kept connections of each effective weight.

    >>> layer = nn.Linear(2, 2)
    >>> layer.weight.data[0] = 0
    >>> kept(layer)
    {'weight': 2}
    """
    with torch.no_grad():
        return {name: count_kept(tensor) for name, tensor in effective_weights(model).items()}
