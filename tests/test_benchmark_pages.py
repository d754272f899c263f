"""Pages made from result files say what these say."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_on_scale_is_current() -> None:
    page = script("scale_page").page()
    assert (ROOT / "docs" / "scale.md").read_text(encoding="utf-8") == page, "run benchmarks/scale_page.py"


def test_the_penalty_is_as_cheap_as_is_said() -> None:
    rows = json.loads((ROOT / "benchmarks" / "results" / "scale.json").read_text(encoding="utf-8"))["rows"]
    found = {(row["path"], row["weights"]): row for row in rows}
    largest = found["penalty, fused", 10**8]
    assert largest["nanoseconds"] <= 10 and largest["extra_share"] <= 0.1


def test_the_page_on_one_training_is_current() -> None:
    made = script("one_training_page")
    rows = json.loads(made.RESULTS.read_text(encoding="utf-8"))["rows"]
    assert made.PAGE.read_text(encoding="utf-8") == made.page(rows), "run benchmarks/one_training_page.py"
