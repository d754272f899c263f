"""C that says "none of these": the same rule as `Rejection.answer`."""

from __future__ import annotations

from collections.abc import Sequence

from bandstop.deploy.c.text import c_float, filled
from bandstop.record.rejection import NONE, Rejection

__all__ = ["answer_texts"]


def answer_texts(name: str, rejection: Rejection | None, class_names: Sequence[str]) -> tuple[str, str]:
    """Lines of the header and of the source; both empty for a network that always names a class."""
    if rejection is None:
        return "", ""
    none = list(class_names).index(NONE) if NONE in class_names else -1
    values: dict[str, object] = {
        "name": name,
        "NAME": name.upper(),
        "THRESHOLD": c_float(rejection.threshold),
        "PER_TEMPERATURE": c_float(1 / rejection.temperature),
        "NONE_CLASS": none,
        "FIRST": 1 if none == 0 else 0,
    }
    return "\n" + filled("answer.h", **values).strip("\n") + "\n", "\n" + filled("answer.c", **values)
