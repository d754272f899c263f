"""Names that users choose, checked before they become file names, functions and types."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from bandstop.errors import ExportError

__all__ = ["check_c_name", "check_file_name"]

KEYWORDS = frozenset(
    [
        "alignas",
        "alignof",
        "and",
        "asm",
        "auto",
        "bool",
        "break",
        "case",
        "catch",
        "char",
        "class",
        "compl",
        "const",
        "constexpr",
        "continue",
        "decltype",
        "default",
        "delete",
        "do",
        "double",
        "else",
        "enum",
        "explicit",
        "export",
        "extern",
        "false",
        "final",
        "float",
        "for",
        "friend",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "mutable",
        "namespace",
        "new",
        "noexcept",
        "not",
        "nullptr",
        "operator",
        "or",
        "override",
        "private",
        "protected",
        "public",
        "register",
        "requires",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "template",
        "this",
        "throw",
        "true",
        "try",
        "typedef",
        "typeid",
        "typename",
        "union",
        "unsigned",
        "using",
        "virtual",
        "void",
        "volatile",
        "wchar_t",
        "while",
        "xor",
        "main",
        "errno",
        "memset",
        "memcpy",
    ]
)
"""Words of C and C++, and names of the C library that may not be defined anew."""


def check_c_name(name: str) -> None:
    """Refuse what cannot be the prefix of C functions and types.

    >>> check_c_name("left_hand")
    >>> check_c_name("My Net")
    Traceback (most recent call last):
    bandstop.errors.ExportError: a C name has lower-case letters, digits and underscores, found 'My Net'; ...
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", name):
        raise ExportError(
            f"a C name has lower-case letters, digits and underscores, found {name!r}; choose another name"
        )
    if name in KEYWORDS or name in _taken():
        raise ExportError(
            f"the name {name!r} has a meaning in C or in the exported file; choose another name"
        )


def check_file_name(name: str) -> None:
    """Refuse what cannot be the beginning of a file's name inside the asked folder.

    >>> check_file_name("/evil")
    Traceback (most recent call last):
    bandstop.errors.ExportError: a name has letters, digits, dots, dashes and underscores, found '/evil'; ...
    """
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,60}", name):
        raise ExportError(
            f"a name has letters, digits, dots, dashes and underscores, found {name!r}; choose another name"
        )


@cache
def _taken() -> frozenset[str]:
    """Words that the exported C uses itself, comments left out."""
    found: set[str] = set()
    for file in resources.files("bandstop.deploy.c.templates").iterdir():
        if file.name.endswith((".c", ".h", ".ino")):
            text = re.sub(
                r"/\*.*?\*/|//[^\n]*|\$\{\w+\}", " ", file.read_text(encoding="utf-8"), flags=re.DOTALL
            )
            found |= set(re.findall(r"[a-z]\w*", text))
    return frozenset(found)
