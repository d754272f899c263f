"""Our rivals alone on the digits: settings chosen on held-out training images, accuracy of all,
and longer trainings.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

from bandstop import rivals

from .digits import RATE, SEEDS, accuracy, held_out


class Grid(NamedTuple):
    """Settings to try, and in which trainings."""

    method: str
    steps: int
    rates: tuple[float, ...]
    settings: dict[str, tuple[float, ...]]


GRIDS = (
    Grid("asl", 300, (0.95, 0.98), {"weight": (10.0, 100.0, 300.0), "freeze": (0.5, 0.6, 0.75)}),
    Grid("asl", 1200, (0.98,), {"freeze": (0.5, 0.6, 0.75)}),
    Grid("probmask", 300, (0.95, 0.98), {"travel": (3.0, 10.0, 30.0, 100.0)}),
    Grid("probmask", 1200, (0.98,), {"travel": (10.0, 30.0, 100.0)}),
    Grid("ste", 300, (0.95, 0.98), {"end": (0.0, 0.3, 0.5, 0.7)}),
    Grid("ste", 1200, (0.98,), {"end": (0.3, 0.5, 0.7)}),
)
LONGER = {"rate": 0.98, "steps": (300, 1200), "methods": ("str", "ac-dc")}


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def combinations(grid: dict[str, tuple[float, ...]]) -> Iterator[dict[str, float]]:
    for values in product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def choices() -> list[dict[str, Any]]:
    """Every combination's accuracy on held-out training images, mean of all rates and seeds."""
    found = []
    for grid in GRIDS:
        for settings in combinations(grid.settings):
            runs = [
                accuracy(grid.method, seed, rate=rate, steps=grid.steps, data=held_out(), settings=settings)
                for rate in grid.rates
                for seed in SEEDS
            ]
            found.append(
                {
                    "method": grid.method,
                    "steps": grid.steps,
                    "rates": list(grid.rates),
                    "settings": settings,
                    "accuracy": round(mean(runs), 2),
                }
            )
    return found


def alone() -> dict[str, list[float]]:
    """Accuracy of every rival on the images to judge."""
    names = [name for name in rivals.NAMES if name != "small-dense"]
    return {name: [round(accuracy(name, seed, rate=RATE), 2) for seed in SEEDS] for name in names}


def longer() -> list[dict[str, Any]]:
    """What more steps are worth at a high rate."""
    rate: Any = LONGER["rate"]
    steps: Any = LONGER["steps"]
    methods: Any = LONGER["methods"]
    return [
        {
            "method": name,
            "rate": rate,
            "steps": count,
            "accuracy": [round(accuracy(name, seed, rate=rate, steps=count), 2) for seed in SEEDS],
        }
        for name in methods
        for count in steps
    ]
