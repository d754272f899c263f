"""`bandstop plan` says what a training then keeps, and `bandstop train` says it before it begins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from bandstop.record.folder import read_metrics
from tests.cli.small import SMALL

Say = Callable[..., Any]


def planned(text: str) -> dict[str, int]:
    """The kept counts of a printed plan, by layer."""
    rows = [line.split() for line in text.splitlines() if line.endswith("%")]
    return {row[0]: int(row[2].replace(",", "")) for row in rows}


def test_a_training_keeps_what_was_planned(say: Say, folder: Path, tmp_path: Path) -> None:
    words = [folder, "--rate", 0.9, "--epochs", 2, "--prune.no-live", *SMALL]
    plan = say("plan", *words)
    assert plan.code == 0 and "exactly these counts" in plan.out
    said = say("train", *words, "--no-report", "--out", tmp_path / "run")
    assert said.code == 0 and plan.out.strip() in said.err
    kept = {layer.name: layer.kept for layer in read_metrics(tmp_path / "run").layers}
    assert planned(plan.out) == kept | {"all": sum(kept.values())}


def test_with_live_connections_only_the_total_is_sure(say: Say, folder: Path) -> None:
    said = say("plan", folder, "--rate", 0.9, *SMALL)
    assert "exactly this total" in said.out


def test_what_cannot_be_planned_is_refused(say: Say, folder: Path) -> None:
    for words, found in (
        ([], "a plan needs a budget"),
        (["--rates", "0.5:0.9"], "plan one of them with --rate"),
        (["--method", "rigl", "--rate", 0.9], "only method pmp"),
    ):
        said = say("plan", folder, *words)
        assert said.code == 2 and found in said.err, said.err
