"""The page on the frontier: current, and what it says follows from the data."""

import csv
import doctest
import json
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from bandstop.study.results import ResultRow
from tests.docs.scripts import script

POINTS, AIMS, PICTURE = (script(f"frontier_{name}") for name in ("points", "aims", "picture"))
PAGE = script("frontier_page")
PUBLISHED, SOURCES = POINTS.read_published()
LEVELS = {"fpha": (93.0, 92.0), "shrec-14": (95.0, 94.0), "shrec-28": (92.0, 90.0)}


@pytest.fixture
def points(tmp_path: Path) -> Any:
    """Two seeds of a dense network and of one with 98 % removed, on each data set."""
    path = tmp_path / "results.csv"
    names = [f.name for f in fields(ResultRow)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        for data, levels in LEVELS.items():
            for method, rate, kept, accuracy in (("dense", "", 250_000, 0), ("pmp", 0.98, 5_000, 1)):
                for seed in (0, 1):
                    row = {f.name: "default" if str(f.type) == "str" else 0 for f in fields(ResultRow)}
                    row |= {"id": f"{data}-{method}-{seed}", "data": data, "method": method, "rate": rate}
                    row |= {"seed": seed, "fold": "", "prior": "", "accuracy": levels[accuracy] + seed - 0.5}
                    writer.writerow(row | {"weights_kept": kept, "parameters_kept": kept + 900})
    return POINTS.read_points([path, tmp_path / "not there.csv"])


def test_the_page_and_the_readme_are_current() -> None:
    found = POINTS.read_points([POINTS.RESULTS / name for name in POINTS.FILES])
    costs = json.loads(PAGE.COSTS.read_text(encoding="utf-8")) if PAGE.COSTS.is_file() else {}
    made = PAGE.page(found, PUBLISHED, SOURCES, costs)
    assert PAGE.PAGE.read_text(encoding="utf-8") == made, "run benchmarks/frontier_page.py"
    text = PAGE.README.read_text(encoding="utf-8")
    assert PAGE.readme(text, found, PUBLISHED) == text, "run benchmarks/frontier_page.py"


def test_what_the_modules_show_in_their_docstrings_holds() -> None:
    for module in (POINTS, AIMS, PICTURE):
        found = doctest.testmod(module)
        assert found.attempted and not found.failed, module.__name__


def test_every_published_figure_stands_in_the_line_of_its_source() -> None:
    text = POINTS.PUBLISHED.read_text(encoding="utf-8")
    quotes = re.findall(r"^# (.*)\n\[\[published\]\]", text, re.MULTILINE)
    assert len(quotes) == len(PUBLISHED)
    for quote, entry in zip(quotes, PUBLISHED, strict=True):
        assert SOURCES[entry.source]["url"].startswith("https://")
        for figure in entry.accuracy.values():
            assert f"{figure:g}" in quote, (entry.name, figure)
        if entry.parameters is not None:
            stated = f"{entry.parameters / 1e6:g}"
            assert re.search(rf"\b{re.escape(stated)}", quote), (entry.name, stated)


def test_points_are_means_over_seeds(points: Any) -> None:
    small = POINTS.within(POINTS.on(points, "fpha"), 50_000)
    assert (small.weights, small.parameters, small.said) == (5_000, 5_900, "92.00 ± 0.71")
    assert [p.method for p in POINTS.on(points, "shrec-28")] == ["pmp", "dense"]
    assert POINTS.within(points, 4_999) is None


def published(parameters: int | None, accuracy: float) -> Any:
    return POINTS.Published("Rival", {"fpha": accuracy}, "dd-net", parameters, "Rival")


@pytest.mark.parametrize(
    ("parameters", "accuracy", "above"),
    [
        (5_900, 92.1, True),
        (5_900, 92.0, False),
        (5_899, 60.0, True),  # smaller than all of ours: nothing of ours to compare it with
        (50_000, 91.9, False),
        (50_001, 99.0, False),  # outside of the claim
    ],
)
def test_a_point_above_the_curve_is_found(points: Any, parameters: int, accuracy: float, above: bool) -> None:
    found = POINTS.verdict(points, [published(parameters, accuracy)], "fpha")
    assert [entry.name for entry in found.above] == (["Rival"] if above else [])
    said = PAGE.claim(points, [*PUBLISHED, published(parameters, accuracy)])[0]
    assert ("does not hold: Rival" in said) == above


def test_a_figure_without_a_size_is_not_judged_but_named(points: Any) -> None:
    assert POINTS.verdict(points, [published(None, 92.1)], "fpha").unknown
    assert not POINTS.verdict(points, [published(None, 91.9)], "fpha").unknown
    said = "\n".join(PAGE.claim(points, [published(150_000, 80.0), published(None, 96.5)]))
    assert "Rival (96.5); ours 92.0." in said and "for want of company" in said


def test_aims_are_judged(points: Any) -> None:
    *_, weights, measured, judged = AIMS.fpha_table(points)
    assert weights.split("|")[2:5] == [" 250,000 ", "  ", " 5,000 "]
    assert "**93.00 ± 0.71**" in measured
    said = [cell.strip() for cell in judged.split("|")[2:-1]]
    assert said[0] == "minimum met, 1.00 below the aim" and said[1] == "not measured"
    *_, judged = AIMS.shrec_table(points, "shrec-28")
    said = [cell.strip() for cell in judged.split("|")[2:-1]]
    below = ["1.90 below the minimum", "1.50 below the minimum"]
    assert said == [*below, "minimum met, 1.50 below the aim", "not measured"]


def test_costs_and_the_promise_are_said(points: Any) -> None:
    run = {"data": "fpha", "rate": 0.98, "kept": 5000, "microseconds": 4.0, "onnx_runtime_microseconds": 64.0}
    run |= dict.fromkeys(("flash_float32", "flash_int8", "ram_float32", "ram_int8"), 1234)
    costs = {"machine": "a machine", "rounds": 7, "versions": "1.0", "runs": {"a": run}}
    said = "\n".join(PAGE.costs_section(points, costs))
    assert "| fpha, 98 % | 5,000 | 4.00 | 64.0 | 16.0× | 1,234 |" in said and "is kept: 16.0 times" in said
    slow = {"a": run | {"onnx_runtime_microseconds": 20.0}}
    assert "is not kept: 5.0 times" in "\n".join(PAGE.costs_section(points, costs | {"runs": slow}))


def test_any_part_of_the_results_makes_a_page_and_a_picture(points: Any, tmp_path: Path) -> None:
    for some in (points, POINTS.on(points, "fpha"), points[:1]):
        text = PAGE.page(some, PUBLISHED, SOURCES, {})
        assert "](frontier.png)" in text
        PICTURE.draw(some, PUBLISHED, PAGE.earlier_points(), tmp_path / "a.png")
        assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    assert "no result file yet" in PAGE.page([], PUBLISHED, SOURCES, {})


def test_the_readme_says_where_more_accurate_networks_are(points: Any) -> None:
    text = f"before\n{PAGE.BEGIN}\n{PAGE.END}\nafter\n"
    made = PAGE.readme(text, points, PUBLISHED)
    assert "docs/frontier.png" in made and "more accurate ones whose size is not stated" in made
    known = [replace(entry, parameters=10**6) for entry in PUBLISHED]
    assert "more accurate" not in PAGE.readme(text, points, known)
    assert PAGE.readme(made, [], PUBLISHED) == text
