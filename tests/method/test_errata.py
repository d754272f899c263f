"""The paper's printed quantiles against the budget they were meant to meet (docs/errata.md)."""

from __future__ import annotations

import math

import pytest
import torch

from bandstop.errors import ConfigError
from bandstop.method.priors import Gaussian, Laplace, Prior, StudentT, Uniform


def literal_quantile(prior: Prior, rate: float) -> float:
    """The threshold as printed in the paper.

    uniform a = r/T; gaussian a = s√2·erf⁻¹(2r − 1); laplace a = b·ln 2r for r < ½, else −b·ln(2 − 2r).
    The last two are F⁻¹(r) of ŵ, where a gate that cuts by magnitude needs the quantile of |ŵ|.

    >>> a = literal_quantile(Gaussian(1.0), 0.55)
    >>> round(float(Gaussian(1.0).magnitude_cdf(torch.tensor(a))), 4)  # stopped: 2r − 1, not r
    0.1
    """
    if isinstance(prior, Uniform):
        return rate / prior.limit
    if isinstance(prior, Gaussian):
        return (
            prior.scale * math.sqrt(2) * float(torch.erfinv(torch.tensor(2 * rate - 1, dtype=torch.float64)))
        )
    if isinstance(prior, Laplace):
        return prior.scale * (math.log(2 * rate) if rate < 0.5 else -math.log(2 - 2 * rate))
    raise ConfigError(f"the paper prints a quantile for uniform, gaussian and laplace only, found {prior!r}")


@pytest.mark.parametrize("rate", [0.55, 0.8, 0.98])
@pytest.mark.parametrize(
    ("chosen", "literally_stopped"),
    [
        (Uniform(2.0), lambda r: r / 4),
        (Gaussian(0.5), lambda r: 2 * r - 1),
        (Laplace(0.5), lambda r: 2 * r - 1),
    ],
    ids=["uniform", "gaussian", "laplace"],
)
def test_errata_the_printed_quantile_misses_the_budget_and_ours_meets_it(
    chosen: Prior, literally_stopped: object, rate: float
) -> None:
    weights = chosen.sample((100_000,), generator=torch.Generator().manual_seed(0))

    def stopped(threshold: float) -> float:
        return float((weights.abs() < threshold).double().mean())

    assert stopped(chosen.magnitude_quantile(rate)) == pytest.approx(rate, abs=0.006)
    printed = stopped(literal_quantile(chosen, rate))
    assert printed == pytest.approx(literally_stopped(rate), abs=0.006)  # type: ignore[operator]
    assert abs(printed - rate) > 0.015


def test_errata_below_one_half_the_printed_threshold_stops_nothing() -> None:
    for chosen in (Gaussian(0.5), Laplace(0.5)):
        assert literal_quantile(chosen, 0.4) < 0 < chosen.magnitude_quantile(0.4)
    with pytest.raises(ConfigError, match="uniform, gaussian and laplace only"):
        literal_quantile(StudentT(1.0), 0.5)
