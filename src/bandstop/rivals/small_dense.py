"""A small dense net in place of a large sparse one: the sizes that a budget pays for."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import torch
from torch import nn

from bandstop.errors import BudgetError
from bandstop.method.budget import Budget
from bandstop.nets import NetConfig, build_net
from bandstop.rivals.masked import MaskedMethod
from bandstop.rivals.settings import Settings

__all__ = ["SmallDense", "SmallDenseSettings", "small_dense_sizes", "weight_count"]

NEARLY = 0.98  # share of the largest affordable count that a net must use to be considered
LOPSIDED = 0.5  # a deviation of logs: sizes within a factor of about 1.6 of a common one


@dataclass(frozen=True)
class SmallDenseSettings(Settings):
    """Nothing to choose."""


class SmallDense(MaskedMethod[SmallDenseSettings]):
    """Trains every weight of a net that ``small_dense_sizes`` made small enough; the budget is spent by its
    sizes.
    """

    def __init__(
        self,
        net: nn.Module,
        budget: Budget | float,
        *,
        steps: int,
        settings: SmallDenseSettings,
        example: Any = None,
    ) -> None:
        super().__init__(net, Budget.rate(0.0), steps=steps, settings=settings, example=example)

    def begin(self) -> None:
        """Nothing is dropped."""
        self.freeze({layer.name: self.band(layer).mask.clone() for layer in self.layers})


def weight_count(
    config: NetConfig,
    *,
    joints: int,
    signal: int,
    classes: int,
    chunks: int = 32,
    shared: Sequence[int] = (),
) -> int:
    """Weights of two or more dimensions of the net that ``build_net`` makes.

    >>> weight_count(NetConfig(kind="gcn", combine="sum"), joints=21, signal=96, classes=45)
    39400
    >>> weight_count(NetConfig(kind="tcn"), joints=22, signal=256, classes=28)
    252672
    """
    if config.kind == "tcn":
        with torch.device("meta"):  # shapes alone, no numbers
            net = build_net(
                config, joints=joints, signal=signal, classes=classes, chunks=chunks, shared=shared
            )
        return sum(weight.numel() for weight in net.parameters() if weight.ndim > 1)
    if config.kind == "lstm":
        inputs = [joints * 3] + [config.hidden] * (config.layers - 1)
        return sum(4 * config.hidden * (i + config.hidden) for i in inputs) + config.hidden * classes
    features = joints * config.filters * (config.heads if config.combine == "concat" else 1)
    graph = config.heads * (
        (joints**2 if config.adjacency != "fixed" else 0) + config.channels * config.filters
    )
    head = features * config.dense + config.dense * classes if config.dense else features * classes
    return signal * config.channels + graph + head


def small_dense_sizes(
    config: NetConfig,
    budget: Budget | float,
    *,
    joints: int,
    signal: int,
    classes: int,
    unpruned: int = 0,
    chunks: int = 32,
    shared: Sequence[int] = (),
) -> NetConfig:
    """The same kind of net, with at most as many weights as ``budget`` keeps of the given one.

    Of the nets with sizes up to the given ones that use 98 % or more of what the best can use, the one
    whose proportions are nearest to the given net's (least deviation of ``log(size/given size)``). Where
    that is lopsided, because the adjacencies or a wide classifier eat the budget, nets with a dense
    bottleneck before the classifier and with adjacencies that are not learned stand for choice as well.
    Convolutions over time get narrower, all by one factor.

    >>> gcn = NetConfig(kind="gcn", combine="sum")
    >>> small = small_dense_sizes(gcn, 0.9, joints=21, signal=96, classes=45)
    >>> small.channels, small.heads, small.filters, weight_count(small, joints=21, signal=96, classes=45)
    (2, 2, 3, 3921)
    >>> small = small_dense_sizes(gcn, 0.98, joints=21, signal=96, classes=45)
    >>> small.dense, small.adjacency, weight_count(small, joints=21, signal=96, classes=45)
    (3, 'fixed', 782)
    >>> small_dense_sizes(NetConfig(kind="tcn"), 0.98, joints=22, signal=256, classes=28).widths
    (10, 17, 20)
    """
    asked = budget if isinstance(budget, Budget) else Budget.rate(budget)
    count = partial(weight_count, joints=joints, signal=signal, classes=classes, chunks=chunks, shared=shared)
    allowed = asked.connections(prunable=count(config), unpruned=unpruned)
    offers: list[tuple[float, int, NetConfig]] = []
    for structure in _structures(config):
        counted = [(count(net), net) for net in _smaller(structure, allowed, count)]
        most = max((n for n, _ in counted if n <= allowed), default=0)
        close = [(_deviation(net, structure), -n, net) for n, net in counted if NEARLY * most <= n <= allowed]
        offers += sorted(close, key=lambda offer: offer[:2])[:1]
        if offers and offers[0][0] <= LOPSIDED:
            break
    if not offers:
        raise BudgetError(
            f"no dense net of this kind has at most {allowed:,} weights: raise the budget or begin with a "
            "smaller net"
        )
    return min(offers, key=lambda offer: offer[:2])[2]


def _structures(config: NetConfig) -> Iterator[NetConfig]:
    """The given net, then more frugal ones of the same sizes."""
    yield config
    if config.kind == "gcn":
        bottleneck = config if config.dense else dataclasses.replace(config, dense=config.filters)
        yield bottleneck
        yield dataclasses.replace(bottleneck, adjacency="fixed")


def _smaller(config: NetConfig, allowed: int, count: Callable[[NetConfig], int]) -> Iterator[NetConfig]:
    """Nets with sizes up to the given ones; a dense layer is as wide as the rest leaves room for."""
    if config.kind == "lstm":
        yield from (dataclasses.replace(config, hidden=h) for h in range(1, config.hidden + 1))
        return
    if config.kind == "tcn":
        widest = max(config.widths)
        for width in range(1, widest + 1):
            widths = tuple(max(1, round(given * width / widest)) for given in config.widths)
            yield dataclasses.replace(config, widths=widths)
        return
    for channels, heads, filters in product(
        _sizes(config.channels), _sizes(config.heads), _sizes(config.filters)
    ):
        net = dataclasses.replace(
            config, channels=channels, heads=heads, filters=filters, dense=min(config.dense, 1)
        )
        if config.dense:
            one = count(net)
            unit = count(dataclasses.replace(net, dense=2)) - one
            net = dataclasses.replace(net, dense=min(max(1 + (allowed - one) // unit, 1), config.dense))
        yield net


def _sizes(most: int) -> list[int]:
    """1 … most: all of them to 16, then in steps of about a sixteenth.

    >>> _sizes(20)
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
    """
    sizes = {*range(1, min(most, 16) + 1), most}
    value = 16.0
    while (value := value * 17 / 16) < most:
        sizes.add(int(value))
    return sorted(sizes)


def _deviation(small: NetConfig, given: NetConfig) -> float:
    """Standard deviation of ``log(size/given size)``."""
    if given.kind == "tcn":
        pairs = list(zip(small.widths, given.widths, strict=True))
    else:
        gcn = ["channels", "heads", "filters"] + ["dense"] * bool(given.dense)
        names = ["hidden"] if given.kind == "lstm" else gcn
        pairs = [(getattr(small, n), getattr(given, n)) for n in names]
    logs = [math.log(size / of) for size, of in pairs]
    mean = sum(logs) / len(logs)
    return math.sqrt(sum((x - mean) ** 2 for x in logs) / len(logs))
