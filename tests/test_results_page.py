"""The results page says what the committed result files say."""

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_page_is_current() -> None:
    spec = importlib.util.spec_from_file_location("results_page", ROOT / "benchmarks" / "results_page.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    assert (ROOT / "docs" / "results.md").read_text(encoding="utf-8") == module.page(), (
        "run benchmarks/results_page.py"
    )
