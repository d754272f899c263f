"""Means, intervals and tests against scipy and numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bandstop.study.tables.statistics import holm, mean, paired

values = st.lists(st.floats(0, 100), min_size=2, max_size=12)


@given(values)
def test_mean_deviation_and_interval(found: list[float]) -> None:
    ours = mean(found)
    assert ours.mean == pytest.approx(np.mean(found))
    assert ours.deviation == pytest.approx(np.std(found, ddof=1), abs=1e-9)
    if np.std(found) > 1e-6:
        expected = stats.t.interval(0.95, len(found) - 1, loc=np.mean(found), scale=stats.sem(found))
        assert (ours.low, ours.high) == pytest.approx(expected)


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), min_size=2, max_size=12))
def test_paired_test(pairs: list[tuple[float, float]]) -> None:
    a, b = zip(*pairs, strict=True)
    found = paired(dict(enumerate(a)), dict(enumerate(b)))
    assert found is not None and found.count == len(pairs)
    if np.std(np.subtract(a, b)) > 1e-3:
        expected = stats.ttest_rel(a, b)
        interval = expected.confidence_interval(0.95)
        assert found.p == pytest.approx(expected.pvalue, abs=1e-9)
        assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=1e-6)


def test_edges_of_the_paired_test() -> None:
    assert paired({0: 1.0}, {1: 1.0}) is None
    one = paired({0: 3.0}, {0: 1.0})
    assert one is not None and (one.difference, one.p) == (2.0, None)
    same = paired({0: 1.0, 1: 2.0}, {0: 1.0, 1: 2.0})
    assert same is not None and same.p == 1.0
    shifted = paired({0: 2.0, 1: 3.0}, {0: 1.0, 1: 2.0})
    assert shifted is not None and (shifted.low, shifted.high, shifted.p) == (1.0, 1.0, 0.0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_step_down(p: list[float]) -> None:
    """Against the definition: max over smaller p of (n − rank + 1)·p, cut at 1."""
    order = sorted(p)
    expected = [min(1.0, max((len(p) - order.index(q)) * q for q in p if q <= own)) for own in p]
    assert holm(p) == pytest.approx(expected)
