"""Rows of results, gathered by what a table compares: a method at a rate on a data set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

from bandstop.errors import ConfigError
from bandstop.study.plan import DEFAULT
from bandstop.study.results import ResultRow
from bandstop.study.tables.statistics import Mean, mean

__all__ = ["METRICS", "Group", "gather"]

METRICS = tuple(f.name for f in fields(ResultRow) if str(f.type) in ("int", "float") and f.name != "seed")
"""Columns that can be averaged."""


@dataclass(frozen=True)
class Group:
    """The runs of one table row."""

    data: str
    method: str
    variant: str
    prior: str | None
    rate: float | None
    distilled: bool
    rows: tuple[ResultRow, ...]
    left_out: tuple[str, ...] = ()
    """Seeds of cross-validated data that lack folds, in words."""

    @property
    def label(self) -> str:
        """Method, prior, variant and distillation, as far as they are not the default.

        >>> Group("fpha", "pmp", "no-kl", "laplace", 0.98, True, ()).label
        'pmp laplace, no-kl, distilled'
        """
        name = self.method if self.prior is None else f"{self.method} {self.prior}"
        parts = [name, "" if self.variant == DEFAULT else self.variant, "distilled" if self.distilled else ""]
        return ", ".join(part for part in parts if part)

    def by_seed(self, metric: str) -> dict[int, float]:
        """One value a seed, folds averaged."""
        found: dict[int, list[float]] = {}
        for row in self.rows:
            found.setdefault(row.seed, []).append(getattr(row, metric))
        return {seed: sum(values) / len(values) for seed, values in found.items()}

    def by_run(self, metric: str) -> dict[tuple[int, int | None], float]:
        """One value a seed and fold: what paired tests pair."""
        return {(row.seed, row.fold): float(getattr(row, metric)) for row in self.rows}

    def mean(self, metric: str) -> Mean:
        """Mean over seeds."""
        return mean(list(self.by_seed(metric).values()))

    def average(self, value: Callable[[ResultRow], float]) -> float:
        """Plain average over all runs of anything."""
        return sum(map(value, self.rows)) / len(self.rows)


def gather(rows: Sequence[ResultRow]) -> list[Group]:
    """Groups in the order of their first row; a seed with folds missing is left out and named."""
    found: dict[tuple[str, str, str, str | None, float | None, bool], list[ResultRow]] = {}
    folds: dict[str, set[int | None]] = {}
    for row in rows:
        found.setdefault(
            (row.data, row.method, row.variant, row.prior, row.rate, row.distilled > 0), []
        ).append(row)
        folds.setdefault(row.data, set()).add(row.fold)
    groups = []
    for key, members in found.items():
        group = _whole(Group(*key, rows=tuple(members)), len(folds[key[0]]))
        seen = [(row.seed, row.fold) for row in group.rows]
        if len(set(seen)) < len(seen):
            raise ConfigError(
                f"two different runs are both {group.label} at rate {group.rate} with one seed: "
                "they cannot share a table"
            )
        groups.append(group)
    return groups


def _whole(group: Group, folds: int) -> Group:
    count: dict[int, int] = {}
    for row in group.rows:
        count[row.seed] = count.get(row.seed, 0) + 1
    short = {seed: n for seed, n in count.items() if n < folds}
    if not short:
        return group
    kept = tuple(row for row in group.rows if row.seed not in short)
    rate = "" if group.rate is None else f" at {group.rate:.1%}"
    said = tuple(
        f"{group.label}{rate}, seed {seed}: only {n} of {folds} folds finished, left out"
        for seed, n in short.items()
    )
    return replace(group, rows=kept, left_out=said)
