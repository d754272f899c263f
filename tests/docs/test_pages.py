"""Code in the pages: doctests hold, Python can be parsed, plans can be read."""

import ast
import doctest
import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

from tests.docs.scripts import ROOT

PAGES = sorted((ROOT / "docs").rglob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def names(page: Path) -> str:
    return page.stem


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_blocks_can_be_read(page: Path) -> None:
    for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "toml":
            tomllib.loads(text)
        elif kind == "python" and ">>>" not in text:
            ast.parse(text.replace("…", "..."))


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *PAGES], ids=names)
def test_lists_begin_where_every_markdown_sees_them(page: Path) -> None:
    """After an empty line or another item: GitHub is content with less, the site is not."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for before, line in pairwise(text.splitlines()):
        if re.match(r"(-|\d+\.) ", line) and before.strip():
            assert re.match(r"((-|\d+\.) | {2,3}\S)", before), f"{page.name}: {line}"


def test_doctests_hold() -> None:
    parser, tried = doctest.DocTestParser(), 0
    for page in PAGES:
        test = parser.get_doctest(page.read_text(encoding="utf-8"), {}, page.name, str(page), 0)
        found = doctest.DocTestRunner(verbose=False).run(test)
        assert not found.failed, page.name
        tried += found.attempted
    assert tried


def test_idioms_that_a_reader_must_decode_are_gone() -> None:
    riddles = re.compile(
        r"bit by bit|\bns a weight\b|\bseconds a run\b|\bms a step\b|\bpeers\b", re.IGNORECASE
    )
    for page in [ROOT / "README.md", *PAGES]:
        found = riddles.search(page.read_text(encoding="utf-8"))
        assert not found, f"{page.name}: {found}"
