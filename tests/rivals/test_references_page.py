"""docs/rivals.md shows what benchmarks/results/references.json holds,
and the references agree with our rivals.
"""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bandstop import rivals

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def page() -> ModuleType:
    place = ROOT / "benchmarks" / "references_page.py"
    spec = importlib.util.spec_from_file_location("references_page", place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def found(page: ModuleType) -> Any:
    return json.loads(page.RESULTS.read_text(encoding="utf-8"))


def test_the_page_is_current(page: ModuleType, found: Any) -> None:
    text = (ROOT / "docs" / "rivals.md").read_text(encoding="utf-8")
    assert text == page.with_tables(text, found), "run benchmarks/references.py --page"


def test_a_page_without_its_regions_is_refused(page: ModuleType, found: Any) -> None:
    with pytest.raises(ValueError, match="references: agreement"):
        page.with_tables("# nothing here", found)


def test_every_rival_with_a_defining_computation_was_compared(found: Any) -> None:
    compared = {row["method"] for reference in found["references"].values() for row in reference["agreement"]}
    # The other two cuts by LAMP and ERK share code with mp-lamp, random-erk and gmp.
    assert compared == set(rivals.NAMES) - {"small-dense", "gmp-erk", "gmp-lamp"}


def test_what_was_compared_agrees(found: Any) -> None:
    limits = {"relative": 2e-6, "absolute": 1e-9, "epochs": 0, "connections": 0}
    for reference in found["references"].values():
        for row in reference["agreement"]:
            # Counts of layers differ by their rounding: at most one connection.
            limit = 1 if row["method"] == "random-erk" else limits[row["unit"]]
            assert row["difference"] <= limit, row


def test_trainings_of_ours_end_at_the_asked_number_and_are_no_worse(found: Any) -> None:
    for reference in found["references"].values():
        for row in reference["trainings"]:
            asked = row["their_connections"] if row["method"] == "str" else [595] * 3
            assert row["our_connections"] == asked, row
            # Three points: two standard errors of a mean of three seeds, about 1.5 points apart,
            # on each side.
            assert sum(row["ours"]) / 3 >= sum(row["theirs"]) / 3 - 3, row
