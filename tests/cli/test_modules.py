"""One verb per file: its options are a dataclass of the verb's name, and it is run by ``main``."""

import dataclasses
from pathlib import Path

import pytest

from bandstop.cli import (
    VERBS,
    bench,
    calibrate,
    convert,
    demo,
    describe,
    evaluate,
    export,
    extract,
    join,
    live,
    plan,
    predict,
    report,
    studio,
    study,
    table,
    train,
)
from bandstop.cli.deploy_run import run_to_deploy
from bandstop.errors import DataError

MODULES = (
    bench, calibrate, convert, demo, describe, evaluate, export, extract, join, live, plan, predict,
    report, studio, study, table, train,
)  # fmt: skip


def test_every_verb_has_its_file() -> None:
    assert {module.__name__.rpartition(".")[2] for module in MODULES} == set(VERBS)
    for module in MODULES:
        name = module.__name__.rpartition(".")[2]
        options = getattr(module, name.capitalize())
        assert dataclasses.is_dataclass(options) and callable(module.main)
        assert module.__all__ == [name.capitalize(), "main"]


def test_what_is_exported_and_what_it_is_checked_on(finished: Path) -> None:
    model, samples = run_to_deploy(finished, most=5)
    assert model.class_names == ("circle", "line", "rest")
    assert len(samples.sequences) == len(samples.labels) == 5
    assert set(samples.labels.tolist()) <= {0, 1, 2}
    with pytest.raises(DataError, match="trained on 4 joints, the data has 21"):
        run_to_deploy(finished, data="hands")
