"""The page's figures for internet scale are what its script makes of the measured costs."""

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_page_is_made_from_the_measurements() -> None:
    spec = importlib.util.spec_from_file_location("internet_scale", ROOT / "benchmarks" / "internet_scale.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    sys.modules["internet_scale"] = script  # dataclasses look their module up
    spec.loader.exec_module(script)
    text = script.PAGE.read_text(encoding="utf-8")
    assert script.page(text, script.Plan()) == text, "run python benchmarks/internet_scale.py --write"
