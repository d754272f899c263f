"""metrics.json: what training writes is what everyone reads; what old versions wrote too."""

import dataclasses
import json
from pathlib import Path

import pytest

from bandstop.errors import DataError
from bandstop.method.budget import Budget
from bandstop.record.folder import METRICS, read_metrics
from bandstop.record.metrics import LayerSize, Metrics

LAYER = LayerSize(name="a", shape=(2, 3), total=6, kept=2, live=1, macs_dense=6, macs_live=1, gain=0.5)
FOUND = Metrics(
    accuracy=75.0, class_accuracy=70.0, confusion=((3, 1), (0, 0)), class_names=("a", "b"), weights_total=6,
    weights_kept=2, weights_live=1, parameters_total=8, parameters_kept=4, macs_dense=6, macs_nominal=2,
    macs_live=1, bytes_dense=32, bytes_sparse=20, layers=(LAYER,), split="test", budget=Budget.weights(2),
    method="pmp", seed=0, epochs=3, seconds=1.5, distilled_from=("runs/a", "runs/b"),
)  # fmt: skip
ADDED_SINCE = ("macs_nominal", "method_description", "prior", "distilled_from", "rates", "extracted_from")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    (tmp_path / METRICS).write_text(FOUND.to_json())
    assert read_metrics(tmp_path) == FOUND


def test_an_old_file_is_read(tmp_path: Path) -> None:
    values = json.loads(FOUND.to_json())
    for name in ADDED_SINCE:
        del values[name]
    del values["layers"][0]["threshold"]
    (tmp_path / METRICS).write_text(json.dumps(values | {"added by a newer version": 1}))
    assert read_metrics(tmp_path) == dataclasses.replace(FOUND, macs_nominal=None, distilled_from=())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"accuracy": 101.0}, "'accuracy' must be a percentage between 0 and 100, found 101"),
        ({"epochs": -1}, "'epochs' must be a whole number of 0 or more, found -1"),
        ({"confusion": [[1]]}, "'confusion' must hold 2 rows of 2 counts"),
        ({"layers": [{"name": "x"}]}, r"'layers\[0\]\.shape' must be a list, found nothing"),
        (
            {"budget": {"kind": "rate", "amount": 7}},
            r"'budget' cannot be: a pruning rate must be in \[0, 1\)",
        ),
    ],
)
def test_what_cannot_be_is_named(tmp_path: Path, change: dict[str, object], said: str) -> None:
    (tmp_path / METRICS).write_text(json.dumps(json.loads(FOUND.to_json()) | change))
    with pytest.raises(DataError, match=rf"metrics\.json: {said}"):
        read_metrics(tmp_path)


def test_size_as_stored() -> None:
    assert FOUND.stored_bytes == 20 and FOUND.pruned
    assert dataclasses.replace(FOUND, method="dense").stored_bytes == 32


def test_numbers_and_words_for_tables() -> None:
    assert FOUND.macs == 2 and dataclasses.replace(FOUND, macs_nominal=None).macs == 1
    assert FOUND.judged_on == "the test split"
    held_out = dataclasses.replace(FOUND, split="test (30 % of every class)")
    assert held_out.judged_on == "the test split, 30 % of every class"
