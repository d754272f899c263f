"""Every way to run a network is measured, and what cannot be is said in its row."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from bandstop.deploy import DeployModel
from bandstop.deploy.bench import bench_model, median_microseconds, table
from bandstop.deploy.run import measure
from bandstop.deploy.run.measure import TimedC, count_instructions, time_c
from tests.deploy.nets_for_tests import c_files, make_model
from tests.needs import needs

INPUTS = torch.randn(6, 21, 96, generator=torch.Generator().manual_seed(0)).numpy()


def test_rows_of_a_recogniser():
    rows = {row.path: row for row in bench_model(make_model(0.98), INPUTS, seconds=0.02)}
    names = [
        "C for speed",
        "C for size",
        "C int8",
        "C int16",
        "WebAssembly",
        "bytes",
        "ONNX Runtime",
        "PyTorch",
    ]
    assert list(rows) == names
    assert all(row.microseconds > 0 for name, row in rows.items() if name != "bytes")
    assert rows["C int8"].flash_bytes < rows["C for size"].flash_bytes
    assert rows["bytes"].file_bytes < rows["ONNX Runtime"].file_bytes
    shown = table(list(rows.values()))
    assert len(shown.splitlines()) == 2 + len(names) and "| PyTorch |" in shown


def test_what_cannot_be_made_says_why():
    net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2)).eval()
    model = DeployModel(net, None, ("a", "b"), input_shape=(4,))
    inputs = np.ones((2, 4), np.float32)
    rows = {row.path: row for row in bench_model(model, inputs, seconds=0.01)}
    assert "layer1 is tanh" in rows["C int8"].note and rows["C int8"].microseconds is None
    assert "found Sequential" in rows["bytes"].note
    assert rows["C for speed"].flash_bytes is None


def test_the_median_is_that_of_one_input_at_a_time():
    sizes = []
    assert median_microseconds(lambda row: sizes.append(row.shape), INPUTS, seconds=0.001) >= 0
    assert set(sizes) == {(1, 21, 96)}


def test_latency_is_positive_and_can_be_taken_again():
    timed = TimedC(c_files(make_model(0.99)), INPUTS)
    first, second = timed.latency(rounds=5), timed.latency(rounds=5)
    assert 0 < first.fastest <= first.median and second.median > 0
    assert time_c(c_files(make_model(0.99), aim="size"), INPUTS, rounds=3).median > 0


@needs("valgrind", package="valgrind")
@pytest.mark.parametrize("options", [{}, {"aim": "size"}, {"number": "int8"}])
def test_instructions_grow_with_the_network_and_do_not_vary(options):
    small = c_files(make_model(0.99), INPUTS, **options)
    large = c_files(make_model(0.8), INPUTS, **options)
    counted = count_instructions(small, rounds=5)
    assert counted is None or (
        counted == count_instructions(small, rounds=5) < count_instructions(large, rounds=5)
    )


def test_without_valgrind_nothing_is_counted(monkeypatch):
    monkeypatch.setattr(measure.shutil, "which", lambda name: None)
    assert count_instructions(c_files(make_model(0.99))) is None
