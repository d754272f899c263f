"""What the API reference must hold: the names that every public door exports, each with a docstring."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import griffe

ROOT = Path(__file__).parents[2]
DOORS = {
    "bandstop": "bandstop",
    "bandstop.deploy": "deploy",
    "bandstop.skeleton": "skeleton",
    "bandstop.distributed": "distributed",
    "bandstop.integrations.lightning": "integrations",
    "bandstop.integrations.transformers": "integrations",
    "bandstop.integrations.accelerate": "integrations",
    "bandstop.live": "live",
    "bandstop.rivals": "rivals",
}
"""A public module, and the page of docs/reference/ that documents it."""
FORWARDED = {"bandstop": "bandstop.engine"}
"""Doors that pass on the names of another module."""
SECTION = re.compile(r"^::: (\S+)$", re.MULTILINE)


@cache
def package() -> griffe.Module:
    """The source tree, read and not imported."""
    loader = griffe.GriffeLoader(search_paths=[ROOT / "src"])
    found = loader.load("bandstop")
    loader.resolve_aliases(implicit=True)
    assert isinstance(found, griffe.Module)
    return found


def exported(door: str) -> dict[str, griffe.Object]:
    """The names in ``__all__`` of a door, with what they stand for."""
    path = FORWARDED.get(door, door)
    module = package() if path == "bandstop" else package()[path.removeprefix("bandstop.")]
    names = [str(name) for name in module.exports or []]
    return {name: _final(module[name]) for name in names}


def _final(found: griffe.Object | griffe.Alias) -> griffe.Object:
    """What an import leads to; of a function in a module of its own name, the function."""
    target = found.final_target if isinstance(found, griffe.Alias) else found
    return _final(target[target.name]) if isinstance(target, griffe.Module) else target


def with_every_name(page: str, text: str) -> str:
    """A page of the reference, completed by the exported names that it does not place itself."""
    written = set(SECTION.findall(text))
    known = {f"{door}.{name}" for door, its in DOORS.items() if its == page for name in exported(door)}
    if unknown := sorted(written - known):
        raise ValueError(f"docs/reference/{page}.md documents what no door exports: {', '.join(unknown)}")
    missing = sorted(known - written, key=str.lower)
    if missing:
        text = "\n\n".join([text.rstrip(), "## More names", *(f"::: {path}" for path in missing)])
    return SECTION.sub(_directive, text) + "\n"


def _directive(found: re.Match[str]) -> str:
    """A section's target is where the object is defined; its heading is the name that users write."""
    door, _, name = found[1].rpartition(".")
    target = exported(door)[name]
    anchor = f'<div id="{found[1]}"></div>'  # stays when the object moves to another module
    return f"{anchor}\n\n::: {target.path}\n    options:\n      heading: {name}\n      toc_label: {name}"


def undocumented(door: str) -> Iterator[str]:
    """Public things of a door without a docstring: objects, and methods and properties of classes."""
    for name, found in exported(door).items():
        if not found.has_docstring:
            yield f"{door}.{name}"
        if isinstance(found, griffe.Class):
            yield from (f"{door}.{name}.{member}" for member in _undocumented_members(found))


def _undocumented_members(found: griffe.Class) -> Iterator[str]:
    for name, member in found.members.items():
        method = member.is_function or "property" in member.labels
        if method and not name.startswith("_") and not member.has_docstring and not _inherits(found, name):
            yield name


def _inherits(found: griffe.Class, name: str) -> bool:
    """Whether a base, of this package or of another, says what the method does."""
    if any(not str(base).startswith("bandstop") for base in found.bases if found.resolved_bases == []):
        return True
    return any(name in base.members and base.members[name].has_docstring for base in found.mro())
