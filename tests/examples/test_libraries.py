"""The comparison's page is made from its results."""

import json
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_page_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import libraries_page

    found = json.loads((BENCHMARKS / "results" / "libraries.json").read_text())
    text = libraries_page.page(found)
    assert libraries_page.PAGE.read_text() == text, "run python benchmarks/libraries.py --page"
