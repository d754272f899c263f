"""Docstrings as Markdown: doctests become highlighted blocks, roles of Sphinx become code."""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:mod|class|func|meth|attr|data):`~?\.?([^`]+)`")
PAGE = re.compile(r"\(?docs/([\w-]+)\.md\)?")


def as_markdown(text: str) -> str:
    r"""A docstring with its doctests in fences.

    >>> print(as_markdown("Add.\n\n>>> 1 + 1\n2"))
    Add.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    """
    lines: list[str] = []
    inside = False
    for line in ROLE.sub(r"`\1`", text).splitlines():
        begins = line.lstrip().startswith(">>> ") and not inside
        if begins:
            lines += ["```pycon"] if not lines or not lines[-1].strip() else ["", "```pycon"]
        ends = inside and not line.strip()
        if ends:
            lines.append("```")
        inside = (inside or begins) and not ends
        lines.append(re.sub(r"\s+# doctest: .*$", "", line) if inside else line)
    return "\n".join([*lines, "```"] if inside else lines)


class Markdown(griffe.Extension):
    """Applies `as_markdown` to every docstring that mkdocstrings reads."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Rewrite one docstring."""
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)
