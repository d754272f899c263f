"""The paper's published figures on FPHA, and ours beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bandstop.errors import ConfigError, DataError
from bandstop.study.plan import DEFAULT
from bandstop.study.tables.groups import Group
from bandstop.study.tables.render import TextTable
from bandstop.study.tables.summary import number, per_cent, with_spread

__all__ = ["TABLE_1", "TABLE_2", "PaperRow", "paper_tables"]


@dataclass(frozen=True)
class PaperRow:
    """A row of the paper's Table 2."""

    method: str
    prior: str | None
    rate: float | None
    accuracy: float
    observed: float | None = None
    """Pruning rate that the paper observed, where it prints one."""

    @property
    def label(self) -> str:
        """Method and prior."""
        return self.method if self.prior is None else f"{self.method} {self.prior}"


def _rows(
    rate: float, mp: float | None, accuracies: Sequence[float], observed: Sequence[float]
) -> list[PaperRow]:
    first = [] if mp is None else [PaperRow("mp", None, rate, mp)]
    priors = ("uniform", "gaussian", "laplace")
    return first + [
        PaperRow("pmp", p, rate, a, o / 100) for p, a, o in zip(priors, accuracies, observed, strict=True)
    ]


TABLE_2: tuple[PaperRow, ...] = (
    PaperRow("dense", None, None, 86.43),
    *_rows(0.00, None, (86.26, 86.60, 86.26), (0.0, 0.0, 0.0)),
    *_rows(0.55, 87.82, (87.82, 88.52, 87.65), (55.10, 55.31, 57.83)),
    *_rows(0.80, 86.78, (85.91, 87.47, 86.95), (77.74, 80.71, 80.11)),
    *_rows(0.98, 60.34, (70.26, 70.60, 70.80), (97.98, 97.97, 97.90)),
    *_rows(0.99, 46.26, (62.43, 56.17, 64.17), (98.67, 98.72, 98.86)),
)
"""All 20 rows."""

TABLE_1: dict[str, float] = {"gcn": 86.43, "lstm-1": 78.73, "lstm-2": 80.14}
"""Rows of Table 1 that are dense networks of this package."""


def paper_tables(groups: Sequence[Group], metric: str = "accuracy") -> list[TextTable]:
    """Ours beside the paper's, for each of its tables that the results have rows for, by variant."""
    used = [g for g in groups if g.data == "fpha" and g.rows]
    if metric not in ("accuracy", "class_accuracy"):
        raise ConfigError(
            f"the paper prints accuracies: --metric must be accuracy or class_accuracy, found {metric!r}"
        )
    if not used:
        raise DataError("the paper's figures are on FPHA, but the results have no finished run on fpha")
    return [*_table_1(used, metric), _table_2(used, metric)]


def _table_1(groups: list[Group], metric: str) -> list[TextTable]:
    found = {
        net: next((g for g in groups if g.method == "dense" and g.rows[0].net == net), None)
        for net in TABLE_1
    }
    if found["lstm-1"] is None and found["lstm-2"] is None:
        return []
    rows = []
    for net, published in TABLE_1.items():
        ours = None if (group := found[net]) is None else group.mean(metric)
        cells = ("–", "–")
        if ours is not None:
            cells = (with_spread(ours, metric), number(ours.mean - published, metric, sign=True))
        rows.append((net, number(published, metric), *cells))
    header = ("network", "published", "ours", "gap")
    return [TextTable("The paper's Table 1 (dense, FPHA)", header, tuple(rows))]


def _table_2(groups: list[Group], metric: str) -> TextTable:
    variants = list(dict.fromkeys((g.variant, g.distilled) for g in groups if g.rows[0].net == "gcn"))
    header = ["row", "rate", "published", "observed"]
    for variant, distilled in variants:
        name = ("ours" if variant == DEFAULT else f"ours ({variant})") + (", distilled" if distilled else "")
        header += [name, "observed", "gap"]
    rows = []
    for row in TABLE_2:
        observed = "–" if row.observed is None else f"{row.observed * 100:.2f} %"
        cells = [row.label, per_cent(row.rate), f"{row.accuracy:.2f}", observed]
        for chosen in variants:
            cells += _beside(row, [g for g in groups if (g.variant, g.distilled) == chosen], metric)
        rows.append(tuple(cells))
    note = (
        "Gap: ours − paper. All but one of the paper's figures (70.80) are multiples of 1/575 cut to two "
        "digits: plain accuracy, though its text says class-averaged."
    )
    return TextTable("The paper's Table 2 (FPHA)", tuple(header), tuple(rows), (note,))


def _beside(row: PaperRow, groups: list[Group], metric: str) -> list[str]:
    for g in groups:
        same = (g.method, g.prior) == (row.method, row.prior) and g.rows[0].net == "gcn"
        if same and (g.rate is None) == (row.rate is None) and abs((g.rate or 0) - (row.rate or 0)) < 1e-9:
            found = g.mean(metric)
            return [
                with_spread(found, metric),
                f"{g.average(lambda r: r.rate_observed) * 100:.2f} %",
                number(found.mean - row.accuracy, metric, sign=True),
            ]
    return ["–", "–", "–"]
