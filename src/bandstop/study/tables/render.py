"""A plain table as Markdown, LaTeX or HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Format", "Strong", "TextTable", "latex_escape", "render"]

Format = Literal["md", "latex", "html"]

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "−": r"$-$",
    "–": "--",
    "…": r"\dots{}",
    "λ": r"$\lambda$",
    "×": r"$\times$",
}

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
:root {{ color-scheme: light dark }}
body {{ font: 15px/1.45 system-ui, sans-serif; margin: 2rem; max-width: 75rem }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums }}
th, td {{ padding: .25rem .7rem; text-align: right; border-bottom: 1px solid #8884 }}
th:first-child, td:first-child {{ text-align: left }}
</style></head><body>
{body}
</body></html>
"""


class Strong(str):
    """A text that stands out."""


@dataclass(frozen=True)
class TextTable:
    """Finished texts; the first column is set left, the others right."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def render(tables: Sequence[TextTable], form: Format) -> str:
    """All tables in one text that ends with a newline."""
    if form == "md":
        return "\n\n".join(map(_markdown, tables)) + "\n"
    if form == "latex":
        return "\n\n".join(map(_latex, tables)) + "\n"
    title = html.escape(tables[0].title if tables else "results")
    return _PAGE.format(title=title, body="\n".join(map(_html, tables)))


def latex_escape(text: str) -> str:
    r"""Text that LaTeX sets as it is.

    >>> print(latex_escape("50 % of a_b & {c}"))
    50 \% of a\_b \& \{c\}
    """
    plain = "".join(_LATEX.get(character, character) for character in text)
    return rf"\textbf{{{plain}}}" if isinstance(text, Strong) else plain


def _markdown(table: TextTable) -> str:
    """Columns padded, so that it reads well unrendered too."""
    rows = [[_markdown_escape(cell) for cell in row] for row in (table.header, *table.rows)]
    widths = [max(3, *(len(row[i]) for row in rows)) for i in range(len(table.header))]

    def line(cells: Sequence[str]) -> str:
        padded = [
            c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = line(["-" * w if i == 0 else "-" * (w - 1) + ":" for i, w in enumerate(widths)])
    notes = [f"\n{_markdown_escape(note)}" for note in table.notes]
    return "\n".join(
        [f"### {_markdown_escape(table.title)}\n", line(rows[0]), rule, *map(line, rows[1:]), *notes]
    )


def _markdown_escape(text: str) -> str:
    plain = re.sub(r"([\\|*<`])", r"\\\1", text).replace("\n", " ")
    return f"**{plain}**" if isinstance(text, Strong) else plain


def _latex(table: TextTable) -> str:
    def line(cells: Sequence[str]) -> str:
        return " & ".join(map(latex_escape, cells)) + r" \\"

    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex_escape(' '.join([table.title + '.', *table.notes]))}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}",
            r"\hline",
            line(table.header),
            r"\hline",
            *map(line, table.rows),
            r"\hline",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def _html(table: TextTable) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{_html_escape(cell)}</{tag}>' for cell in cells)}</tr>"

    return "\n".join(
        [
            f"<h2>{html.escape(table.title)}</h2>",
            f"<table>\n<thead>{line(table.header, 'th')}</thead>\n<tbody>",
            *(line(row, "td") for row in table.rows),
            "</tbody></table>",
            *(f"<p>{html.escape(note)}</p>" for note in table.notes),
        ]
    )


def _html_escape(text: str) -> str:
    plain = html.escape(text)
    return f"<strong>{plain}</strong>" if isinstance(text, Strong) else plain
