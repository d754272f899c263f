"""The one checker of typed values, and what it says."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from bandstop.errors import ConfigError, DataError
from bandstop.record.typed_json import build, checked, from_file, read_object, read_object_lines


@dataclass(frozen=True)
class Part:
    size: int = 1


@dataclass(frozen=True, kw_only=True)
class Whole:
    name: str
    part: Part = Part()
    parts: tuple[Part, ...] = ()
    rate: float | None = None
    pairs: tuple[tuple[str, float | str], ...] = ()
    by_name: dict[str, Part] | None = None


def test_a_whole_object_is_built() -> None:
    found = build(
        Whole,
        {
            "name": "a",
            "part": {"size": 2},
            "parts": [{"size": 3}, {}],
            "rate": 1,
            "pairs": [["x", 1], ["y", "z"]],
            "by_name": {"b": {"size": 4}},
        },
    )
    assert found == Whole(
        name="a",
        part=Part(2),
        parts=(Part(3), Part()),
        rate=1.0,
        pairs=(("x", 1.0), ("y", "z")),
        by_name={"b": Part(4)},
    )
    assert isinstance(found.rate, float)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "missing": ({}, "config.name must be a text, found nothing"),
    "type": ({"name": 3}, "config.name must be a text, found 3"),
    "nested": ({"name": "a", "part": {"size": "x"}}, "config.part.size must be a whole number, found 'x'"),
    "in a list": (
        {"name": "a", "parts": [{}, {"size": 1.5}]},
        r"config.parts\[1\].size must be a whole number",
    ),
    "truth": ({"name": "a", "rate": True}, "config.rate must be a number or null, found True"),
    "no list": ({"name": "a", "parts": 3}, "config.parts must be a list, found 3"),
    "too short": ({"name": "a", "pairs": [["x"]]}, r"config.pairs\[0\] must hold 2 values, found 1"),
    "unknown": ({"name": "a", "colour": 1}, r"config has unknown fields \['colour'\]"),
}


@pytest.mark.parametrize(("values", "said"), WRONG.values(), ids=WRONG)
def test_what_does_not_fit_is_named(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        build(Whole, values, "config")


def test_at_the_top_of_a_file_fields_stand_in_quotes(tmp_path: Path) -> None:
    path = tmp_path / "whole.json"
    path.write_text(json.dumps({"name": "a", "part": {"size": None}, "added later": 1}))
    with pytest.raises(DataError, match=r"whole\.json: 'part\.size' must be a whole number, found nothing"):
        from_file(Whole, path)
    path.write_text(json.dumps({"name": "a", "added later": 1}))
    assert from_file(Whole, path) == Whole(name="a")


def test_a_choice_is_not_met_by_an_equal_value_of_another_type() -> None:
    assert checked(1, Literal[1, 2], "n") == 1
    with pytest.raises(ConfigError, match="n must be one of 1, 2, found True"):
        checked(True, Literal[1, 2], "n")


def test_a_number_that_is_not_finite_is_null(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"x": NaN, "y": [Infinity, 1]}')
    assert read_object(tmp_path / "a.json") == {"x": None, "y": [None, 1]}
    (tmp_path / "a.jsonl").write_text('{"x": -Infinity}\n\n{"x": 2}\n')
    assert read_object_lines(tmp_path / "a.jsonl") == [(1, {"x": None}), (3, {"x": 2})]


def test_a_whole_number_beyond_all_floats_is_refused() -> None:
    with pytest.raises(ConfigError, match="x must be a number, found 1000"):
        checked(10**400, float, "x")
