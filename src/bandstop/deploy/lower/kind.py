"""What deploy must know of one kind of network.

Each kind is one file beside this and one line of the registry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor, nn

from bandstop.deploy.ir.program import Program

__all__ = ["Kind", "Order", "Variant"]

Order = Literal["nodes", "filters", "paths"]


@dataclass(frozen=True)
class Variant:
    """A choice between programs that compute the same scores.

    ``pitch``: distance between the rows of a node signal (joints padded for vector units; None: no padding).
    ``orders``: for each head of a graph convolution, which of its products comes first (none given: nodes).
    """

    pitch: int | None = None
    orders: tuple[Order, ...] = ()


def _as_it_is(net: Any) -> nn.Module:
    found: nn.Module = net
    return found


def _one_variant(_: Any, lanes: int) -> list[Variant]:
    return [Variant()]


@dataclass(frozen=True)
class Kind:
    """The functions of one kind of network, by which every stage treats it."""

    name: str
    module: type[nn.Module]
    lower: Callable[[Any, Tensor, Variant], Program]
    """The unsimplified program of a folded network, for inputs shaped like an example."""
    fold: Callable[[Any], nn.Module] = _as_it_is
    """A copy without batch normalisation but for its offsets."""
    variants: Callable[[Any, int], list[Variant]] = _one_variant
    """Variants that are worth a plan on a machine whose vectors have that many lanes."""
    settings: Callable[[Any], dict[str, object]] | None = None
    """Fields of `NetConfig` from which the network can be built again; None where that has no such fields."""
