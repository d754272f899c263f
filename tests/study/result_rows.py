"""Rows of results, made up."""

import dataclasses

from bandstop.study.results import ResultRow

ONE = ResultRow(
    id="", data="fpha", method="pmp", variant="default", prior="laplace", rate=0.98, seed=0, fold=None,
    net="gcn",
    preset="default", split="test", accuracy=88.0, class_accuracy=87.0, weights_total=39400, weights_kept=788,
    weights_live=780, rate_observed=0.98, parameters_total=40000, parameters_kept=1388, macs_dense=200000,
    macs_live=4000,
    bytes=7128, epochs=400, seconds=30.0, distilled=0, teacher_seconds=0.0,
)  # fmt: skip
DENSE = {
    "method": "dense",
    "prior": None,
    "rate": None,
    "weights_kept": 39400,
    "weights_live": 39400,
    "rate_observed": 0.0,
}


def rows(accuracies: list[float], **changes: object) -> list[ResultRow]:
    """A row a seed."""
    made = [
        dataclasses.replace(ONE, seed=i, accuracy=a, class_accuracy=a - 1, **changes)
        for i, a in enumerate(accuracies)
    ]  # type: ignore[arg-type]
    return [
        dataclasses.replace(
            row,
            id=f"{row.data}{row.method}{row.variant}{row.prior}{row.rate}{row.fold}{row.seed}{row.distilled}",
        )
        for row in made
    ]
