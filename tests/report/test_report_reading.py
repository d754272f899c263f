"""What the report refuses: one sentence that names the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bandstop.errors import BandstopError, DataError
from bandstop.record.folder import read_metrics
from bandstop.record.typed_json import read_object, read_object_lines
from bandstop.report.page import write_report
from bandstop.report.runfolder import read_run

MakeRun = Callable[..., Path]


def changed(run: Path, **changes: Any) -> Path:
    metrics = json.loads((run / "metrics.json").read_text())
    (run / "metrics.json").write_text(json.dumps(metrics | changes))
    return run


@pytest.mark.parametrize("name", ["config.json", "metrics.json", "model.safetensors"])
def test_a_missing_file_is_named(make_run: MakeRun, name: str) -> None:
    run = make_run()
    (run / name).unlink()
    with pytest.raises(DataError, match=f"{name}: a finished run folder must hold this file") as caught:
        write_report(run)
    assert "\n" not in str(caught.value)
    assert not (run / "report.html").exists()


@pytest.mark.parametrize("name", ["config.json", "metrics.json", "log.jsonl", "model.safetensors"])
@pytest.mark.parametrize("content", [b"{", b"[1]", b"\xff\xfe\x00", b'{"a": 1}\n{"e', b"[" * 100_000])
def test_a_corrupt_file_is_named(make_run: MakeRun, name: str, content: bytes) -> None:
    run = make_run()
    (run / name).write_bytes(content)
    with pytest.raises(DataError, match=name) as caught:
        write_report(run)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 600


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a run folder is expected"):
        write_report(tmp_path / "nothing")
    with pytest.raises(DataError, match="a run folder is expected"):
        write_report(tmp_path, compare=[tmp_path / "nothing"])


def test_a_bad_log_line_is_numbered(make_run: MakeRun) -> None:
    run = make_run()
    with (run / "log.jsonl").open("a") as log:
        log.write('{"epoch": 41, "loss": "high"}\n')
    with pytest.raises(
        DataError, match=r"log\.jsonl, line 41: 'loss' must be a number or null, found 'high'"
    ):
        read_run(run)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("accuracy", None),
        ("accuracy", 101.0),
        ("accuracy", float("nan")),
        ("accuracy", True),
        ("weights_kept", -1),
        ("weights_kept", 1.5),
        ("confusion", [[1, 2]]),
        ("confusion", [[-1] * 12] * 12),
        ("class_names", "wave"),
        ("layers", [3]),
        ("layers", [{"name": "x"}]),
        ("budget", {"kind": "magic", "amount": 1}),
        ("budget", {"kind": "rate", "amount": 7}),
        ("method", 3),
    ],
)
def test_a_measure_of_the_wrong_kind_is_named(make_run: MakeRun, key: str, value: object) -> None:
    run = changed(make_run(), **{key: value})
    with pytest.raises(DataError, match=r"metrics\.json: '"):
        read_metrics(run)


def test_unusable_metadata_is_named_or_passed_over(make_run: MakeRun) -> None:
    from safetensors.numpy import load_file, save_file

    run = make_run()
    tensors = load_file(run / "model.safetensors")
    save_file(tensors, run / "model.safetensors", metadata={"edges": "[[0, 99]]"})
    with pytest.raises(DataError, match=r"model\.safetensors: the metadata's 'edges'"):
        read_run(run)
    save_file(tensors, run / "model.safetensors", metadata={"edges": "[[0,"})
    with pytest.raises(DataError, match=r"model\.safetensors: the metadata's 'edges' is not valid JSON"):
        read_run(run)
    save_file(tensors, run / "model.safetensors", metadata={"note": "hello", "pose": "[[1, 2]]"})
    weights = read_run(run).weights
    assert weights.pose is None and weights.edges == ()
    write_report(run)


def test_an_epoch_logged_twice_counts_once(make_run: MakeRun) -> None:
    run = make_run(epochs=5)
    with (run / "log.jsonl").open("a") as log:
        log.write('{"epoch": 5, "loss": 0.25}\n')
    epochs = read_run(run).log
    assert [epoch.epoch for epoch in epochs] == [1, 2, 3, 4, 5]
    assert epochs[-1].loss == 0.25 and epochs[-1].rate is None


def test_what_is_not_a_number_leaves_a_gap(make_run: MakeRun) -> None:
    run = make_run(net="lstm", pruned=False, epochs=5)
    with (run / "log.jsonl").open("a") as log:
        log.write('{"epoch": 6, "loss": NaN, "kl": Infinity}\n')
    assert read_run(run).log[-1].loss is None
    write_report(run)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200) | st.text(alphabet='{}[]",:012.eE-nultrfas \n', max_size=80).map(str.encode))
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(content)
    for reader in (read_object, read_object_lines):
        try:
            reader(path)
        except BandstopError as error:
            assert "file.json" in str(error)
