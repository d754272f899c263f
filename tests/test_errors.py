"""Refusals are one sentence and safe to print, whatever stands in the data that they quote."""

import inspect

import pytest

from bandstop import errors
from bandstop.errors import BandstopError, ConfigError, DataError, DivergenceError, MissingExtra, printable


def test_every_refusal_can_be_caught_as_one() -> None:
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]
    refusals = [kind for kind in kinds if not issubclass(kind, Warning)]
    assert len(refusals) > 5 and all(issubclass(kind, BandstopError) for kind in refusals)
    assert [kind for kind in kinds if kind not in refusals] == [errors.BandstopWarning]
    assert {kind.__name__ for kind in kinds} | {"printable"} == set(errors.__all__)


@pytest.mark.parametrize(
    ("where", "sentence"),
    [
        ({}, "found 63"),
        ({"path": "a.txt"}, "a.txt: found 63"),
        ({"path": "a.txt", "line": 7}, "a.txt, line 7: found 63"),
        ({"hint": "look again"}, "found 63; look again"),
    ],
)
def test_the_place_and_the_hint_are_named(where: dict[str, object], sentence: str) -> None:
    assert str(DataError("found 63", **where)) == sentence  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", ["\x1b[2J", "\x00", "\x7f", "\u202e", "\ud800", "\r\n"])
def test_nothing_that_steers_a_terminal_gets_through(bad: str) -> None:
    assert printable(f"a{bad}b").isprintable()
    assert str(DataError(f"found {bad}", path=f"x{bad}", hint=bad)).isprintable()
    assert str(DataError(f"found {bad}")).encode()


def test_readable_text_stays_as_it_is() -> None:
    for text in ("café", "手", "a b", ""):
        assert printable(text) == text


def test_what_is_missing_says_how_to_get_it() -> None:
    assert "pip install 'bandstop[app]'" in str(MissingExtra("rich", extra="app"))
    assert DivergenceError("layer a").found == "layer a has values that are not finite"


def test_a_long_quotation_is_cut() -> None:
    said = str(ConfigError("found " + "[" * 10**6 + "; what to do"))
    assert len(said) <= 1001 and said.startswith("found [") and said.endswith("what to do")
    assert str(ConfigError("a\x1b[2J\nb")).isprintable()
