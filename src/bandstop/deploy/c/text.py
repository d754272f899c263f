"""Small pieces of C text: template files, numbers, arrays, shared tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from string import Template

import numpy as np
from numpy.typing import NDArray

from bandstop.deploy.ir.program import ACTIVATIONS, Activation

__all__ = [
    "Tables",
    "activation_code",
    "c_comment",
    "c_float",
    "c_string",
    "filled",
    "index_type",
    "lines_of",
    "load_template",
]


@cache
def load_template(name: str, package: str = "bandstop.deploy.c.templates") -> Template:
    """A template file, without the line breaks around it; ``${name}`` in it stands for a value."""
    text = (resources.files(package) / name).read_text(encoding="utf-8")
    return Template(text.strip("\n"))


def filled(template: str, /, **values: object) -> str:
    """The text of a template file with its values.

    >>> print(filled("relu.c").splitlines()[0])
    HELPER float act_relu(float v) { return v > 0.0f ? v : 0.0f; }
    """
    return load_template(template).substitute(values)


def activation_code(name: Activation) -> int:
    """The number by which emitted loops know an activation.

    >>> activation_code("none"), activation_code("relu")
    (0, 1)
    """
    return ACTIVATIONS.index(name)


def c_float(value: float) -> str:
    """The shortest C literal that reads back as the same float32.

    >>> c_float(0.1), c_float(-2.0), c_float(1e-20)
    ('0.1f', '-2.0f', '1e-20f')
    """
    single = np.float32(value)
    text = np.format_float_scientific(single, trim="-", exp_digits=1) if _extreme(single) else f"{single!s}"
    return text + ("f" if "." in text or "e" in text else ".0f")


def _extreme(value: np.float32) -> bool:
    return bool(value != 0 and not 1e-4 <= abs(value) < 1e6)


def c_string(text: str) -> str:
    r"""A C string literal in plain ASCII; other characters as UTF-8 octal escapes.

    >>> c_string('pour "juice"')
    '"pour \\"juice\\""'
    """
    plain = (chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in text.encode())
    escaped = "".join(plain).replace("\\042", '\\"')
    return f'"{escaped}"'


def c_comment(text: str) -> str:
    """Text that neither ends the comment it stands in nor begins another, without control characters.

    >>> c_comment("a */ b /* c")
    'a * / b / * c'
    """
    plain = "".join(c if c.isprintable() else " " for c in text)
    for pair in ("*/", "/*", "??", "//"):
        while pair in plain:
            plain = plain.replace(pair, f"{pair[0]} {pair[1]}")
    return plain.rstrip("\\")


def index_type(largest: int) -> str:
    """The smallest unsigned C type that holds ``largest``.

    >>> index_type(255), index_type(256)
    ('uint8_t', 'uint16_t')
    """
    return "uint8_t" if largest < 256 else "uint16_t" if largest < 65536 else "uint32_t"


def lines_of(items: Sequence[str], indent: str = "    ", limit: int = 110) -> list[str]:
    """Comma-separated items wrapped into lines."""
    lines, line = [], indent
    for item in items:
        if len(line) + len(item) + 2 > limit and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += item + ", "
    return [*lines, line.rstrip().rstrip(",")]


class Tables:
    """Constant arrays of one source file; equal arrays are written once.

    >>> tables = Tables()
    >>> tables.add("uint8_t", [1, 2]) == tables.add("uint8_t", [1, 2])
    True
    >>> print(tables.text())
    static const uint8_t table0[2] = {
        1, 2
    };
    """

    def __init__(self, prefix: str = "table") -> None:
        self._prefix = prefix
        self._arrays: dict[tuple[str, tuple[str, ...]], str] = {}

    def add(self, ctype: str, values: Iterable[float] | NDArray[np.generic]) -> str:
        """Name of the array that holds ``values``."""
        listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
        suffix = "u" if ctype == "uint64_t" else ""
        items = (
            tuple(c_float(v) for v in listed)
            if ctype == "float"
            else tuple(f"{int(v)}{suffix}" for v in listed)
        )
        return self._arrays.setdefault((ctype, items or ("0",)), f"{self._prefix}{len(self._arrays)}")

    def text(self) -> str:
        """All arrays as C."""
        parts = []
        for (ctype, items), name in self._arrays.items():
            parts.append(f"static const {ctype} {name}[{len(items)}] = {{")
            parts += [*lines_of(items), "};"]
        return "\n".join(parts)
