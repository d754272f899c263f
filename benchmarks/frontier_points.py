"""What docs/frontier.md compares: our points, published ones, and whether any lies above our curve.

Read by frontier_page.py and frontier_picture.py; nothing here draws or writes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bandstop.study.results import read_results
from bandstop.study.tables.groups import gather
from bandstop.study.tables.statistics import Mean
from bandstop.study.tables.summary import with_spread

HERE = Path(__file__).parent
RESULTS, PUBLISHED = HERE / "results", HERE / "frontier_published.toml"
FILES = ("frontier-fpha.csv", "frontier-shrec.csv")
PANELS = {
    "fpha": "FPHA, 45 actions",
    "shrec-14": "SHREC'17, 14 gestures",
    "shrec-28": "SHREC'17, 28 gestures",
}
CLAIMED = 50_000
"""Up to so many weights the claim holds: no published point above our curve."""


@dataclass(frozen=True)
class Point:
    """Runs of one method at one rate on one data set, over seeds."""

    data: str
    method: str
    rate: float | None
    weights: int
    parameters: int
    """Kept weights, and all that is not pruned: offsets and factors of normalisation."""
    accuracy: Mean

    @property
    def said(self) -> str:
        """Accuracy as mean ± standard deviation."""
        return with_spread(self.accuracy, "accuracy")


@dataclass(frozen=True)
class Published:
    """A network of others; without ``parameters`` its source does not state the size."""

    name: str
    accuracy: dict[str, float]
    source: str
    parameters: int | None = None
    family: str = ""
    """Points of a family are joined and named once."""
    remark: str = ""


@dataclass(frozen=True)
class Verdict:
    """Whether published points lie above our curve on one data set."""

    above: list[Published] = field(default_factory=list)
    """At most `CLAIMED` parameters, and more accurate than our network of at most as many."""
    compared: int = 0
    """How many published points have at most `CLAIMED` parameters."""
    unknown: list[Published] = field(default_factory=list)
    """Size not stated, and more accurate than our best of at most `CLAIMED`."""


def read_points(paths: Sequence[Path]) -> list[Point]:
    """Our points in the result files that are there, smallest first; variants of a setting are left out."""
    there = [path for path in paths if path.is_file()]
    if not there:
        return []
    points = []
    for group in gather(read_results(there)):
        if group.method in ("dense", "pmp", "joined") and group.variant == "default" and group.rows:
            weights, parameters = (
                round(group.mean(name).mean) for name in ("weights_kept", "parameters_kept")
            )
            found = group.mean("accuracy")
            points.append(Point(group.data, group.method, group.rate, weights, parameters, found))
    return sorted(points, key=lambda point: point.weights)


def read_published(path: Path = PUBLISHED) -> tuple[list[Published], dict[str, dict[str, str]]]:
    """Published networks, and their sources by key."""
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    return [Published(**entry) for entry in found["published"]], found["source"]


def on(points: Sequence[Point], data: str) -> list[Point]:
    """Our points on one data set."""
    return [point for point in points if point.data == data]


def within(points: Sequence[Point], most: int) -> Point | None:
    """The largest of our points with at most ``most`` weights."""
    return max((p for p in points if p.weights <= most), key=lambda p: p.weights, default=None)


def level(points: Sequence[Point], most: int) -> float | None:
    """The best mean accuracy of our networks with at most ``most`` parameters, unpruned ones counted.

    >>> found = Mean(1, 90.0, None, None, None)
    >>> level([Point("fpha", "pmp", 0.98, 5000, 6000, found)], 6000)
    90.0
    >>> level([Point("fpha", "pmp", 0.98, 5000, 6000, found)], 5999) is None
    True
    """
    return max((p.accuracy.mean for p in points if p.parameters <= most), default=None)


def verdict(points: Sequence[Point], published: Sequence[Published], data: str) -> Verdict:
    """The claim on one data set, from the data."""
    ours, theirs = on(points, data), [entry for entry in published if data in entry.accuracy]
    small = [p for p in theirs if p.parameters is not None and p.parameters <= CLAIMED]
    above = [p for p in small if _beats(p.accuracy[data], level(ours, p.parameters or 0))]
    best = level(ours, CLAIMED)
    unknown = [p for p in theirs if p.parameters is None and _beats(p.accuracy[data], best)]
    return Verdict(above, len(small), unknown)


def _beats(accuracy: float, ours: float | None) -> bool:
    """A network smaller than all of ours lies above the curve too: there is none to compare it with."""
    return ours is None or accuracy > ours
