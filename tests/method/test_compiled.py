"""Compiled loops give what Python gives, and NaN stays NaN."""

import math

import numpy as np
import pytest

pytest.importorskip("numba")

from bandstop.method.compiled import compiled


def _total(values: np.ndarray) -> float:
    total = 0.0
    for value in values:
        total += value
    return total


def test_a_compiled_loop_is_the_loop() -> None:
    total = compiled(_total)
    assert total(np.array([1.5, 2.5])) == _total(np.array([1.5, 2.5])) == 4.0
    assert math.isnan(total(np.array([1.0, np.nan])))
