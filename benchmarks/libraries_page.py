"""docs/libraries.md from benchmarks/results/libraries.json."""

from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "libraries.md"


def page(found):
    return "# Libraries\n"
