"""Fixed point: the C computes exactly the whole-number sums of the reference, close to the network."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bandstop.deploy.ir.quantise import TOP, quantise
from bandstop.deploy.lower import lower
from bandstop.deploy.run.native import Native
from bandstop.deploy.verify import agreement, reference_scores, signals_of
from bandstop.errors import ExportError
from tests.deploy.nets_for_tests import c_files, make_model, sequences

INPUTS = torch.randn(40, 21, 96, generator=torch.Generator().manual_seed(0)).numpy()


@pytest.mark.parametrize("bits,limit", [(8, 0.02), (16, 0.001)])
@pytest.mark.parametrize(
    "rate,config",
    [(0.5, {"combine": "sum"}), (0.98, {}), (0.98, {"combine": "concat"}), (0.97, {"dense": 16})],
)
def test_c_is_bit_exact_and_close(rate, config, bits, limit):
    model = make_model(rate, **config)
    files = c_files(model, INPUTS, number=f"int{bits}")
    native = Native(files, flags=("-O1",))
    found = native.network(INPUTS)
    assert np.array_equal(found, quantise(files.program, INPUTS, bits=bits)(INPUTS))
    wanted = reference_scores(model, INPUTS)
    assert agreement(found, wanted).largest_difference < limit * np.abs(wanted).max()


def test_stream_in_fixed_point():
    model = make_model(0.97)
    signals = signals_of(model, sequences())
    native = Native(c_files(model, signals, number="int16"), flags=("-O1",))
    wanted = reference_scores(model, signals)
    found = np.stack([native.stream(raw)[1] for raw in sequences()])
    assert np.abs(found - wanted).max() < 0.004 * np.abs(wanted).max()


@pytest.mark.parametrize("bits", [8, 16])
def test_worst_inputs_cannot_overflow(bits):
    model = make_model(0.0)
    fixed = quantise(lower(model.net, model.example, compact=True), INPUTS, bits=bits)
    for layer in fixed.layers:
        start = np.concatenate([[0], np.cumsum(layer.table.counts)])
        for row in range(len(layer.table.rows)):
            worst = np.abs(layer.weights[start[row] : start[row + 1]]).sum() * TOP + abs(layer.bias[row])
            assert worst + (1 << int(layer.shifts[row]) >> 1) < 2 ** (31 if bits == 8 else 63)
        assert np.abs(layer.weights).max() <= (127 if bits == 8 else TOP)
        assert layer.shifts.min() >= 0


def test_what_fixed_point_refuses():
    with pytest.raises(ExportError, match="state1 is LSTM"):
        c_files(make_model(0.9, kind="lstm", hidden=4), INPUTS, number="int8")
