"""Compiled loops give what Python gives, and NaN stays NaN."""

import math
from typing import Any

import numpy as np
import pytest
import torch

pytest.importorskip("numba")

from bandstop.method.compiled import by_address, compiled


def _total(values: np.ndarray) -> float:
    total = 0.0
    for value in values:
        total += value
    return total


def test_a_compiled_loop_is_the_loop() -> None:
    total = compiled(_total)
    assert total(np.array([1.5, 2.5])) == _total(np.array([1.5, 2.5])) == 4.0
    assert math.isnan(total(np.array([1.0, np.nan])))


def _scale(values: Any, count: int, factor: float, kept: Any) -> int:
    found = 0
    for i in range(count):
        values[i] = values[i] * np.float32(factor)
        if values[i] > 1:
            kept[found] = i
            found += 1
    return found


def test_a_loop_by_address_is_the_loop() -> None:
    scale = by_address("int64", "float32*", "int64", "float64", "int32*")(_scale)
    values, kept = torch.tensor([1.0, math.nan, 3.0]), torch.zeros(3, dtype=torch.int32)
    plain, places = values.clone().numpy(), np.zeros(3, np.int32)
    assert scale(values.data_ptr(), 3, 0.5, kept.data_ptr()) == _scale(plain, 3, 0.5, places) == 1
    assert np.array_equal(values.numpy(), plain, equal_nan=True) and kept.tolist() == places.tolist()
