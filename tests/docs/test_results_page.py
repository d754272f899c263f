"""The results page says what the committed result files say."""

from tests.docs.scripts import ROOT, script


def test_the_page_is_current() -> None:
    page = script("results_page").page()
    assert (ROOT / "docs" / "results.md").read_text(encoding="utf-8") == page, (
        "run benchmarks/results_page.py"
    )
