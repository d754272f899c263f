"""The reference documents what the public doors export: nothing less, nothing else,
nothing without a docstring.
"""

import importlib
import re

import pytest

griffe = pytest.importorskip("griffe", reason="the documentation's tools are not installed: bandstop[docs]")

from tests.docs.scripts import ROOT, script  # noqa: E402

reference = script("reference", "tools/site")
docstrings = script("docstrings", "tools/site")


def documented(page: str) -> set[str]:
    """Where the objects that a page of the site documents are defined."""
    text = (ROOT / "docs" / "reference" / f"{page}.md").read_text(encoding="utf-8")
    return set(reference.SECTION.findall(reference.with_every_name(page, text)))


@pytest.mark.parametrize("door", reference.DOORS)
def test_names_read_from_the_source_are_those_of_the_module(door: str) -> None:
    module = importlib.import_module(door)
    assert set(reference.exported(door)) == set(getattr(module, "__all__", []))
    for name in reference.exported(door):
        assert hasattr(module, name), f"{door} exports {name}, which it does not have"


@pytest.mark.parametrize("page", sorted(set(reference.DOORS.values())))
def test_documented_and_exported_names_are_the_same(page: str) -> None:
    doors = [door for door, its in reference.DOORS.items() if its == page]
    exported = {found.path for door in doors for found in reference.exported(door).values()}
    assert documented(page) == exported


@pytest.mark.parametrize("door", reference.DOORS)
def test_public_things_have_a_docstring(door: str) -> None:
    assert list(reference.undocumented(door)) == []


def test_a_page_about_what_nobody_exports_is_refused() -> None:
    with pytest.raises(ValueError, match=re.escape("bandstop.Sieve")):
        reference.with_every_name("bandstop", "# bandstop\n\n::: bandstop.Sieve\n")


def test_a_page_is_completed() -> None:
    text = reference.with_every_name("distributed", "# bandstop.distributed\n")
    assert "## More names" in text and "heading: join" in text


def test_doctests_become_blocks() -> None:
    text = docstrings.as_markdown("Add.\n\n>>> 1 + 1\n2\n\nThat is all, see :class:`~bandstop.Budget`.")
    assert text == "Add.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nThat is all, see `bandstop.Budget`."
