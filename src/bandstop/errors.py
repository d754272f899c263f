"""What bandstop refuses, each with one sentence: the rule, what was found and where, what to do."""

from __future__ import annotations

__all__ = [
    "BandstopError",
    "BandstopWarning",
    "BudgetError",
    "ConfigError",
    "DataError",
    "DivergenceError",
    "ExportError",
    "MissingExtra",
    "ModelError",
    "TrainingError",
    "printable",
]


LONGEST = 1000
"""Characters of a message: enough for a path and a list of names."""


def printable(text: str) -> str:
    r"""Text of unknown origin made fit for a terminal: control characters and broken ones are escaped.

    >>> printable("caf\u00e9\x1b[2J\n")
    'café\\x1b[2J\\n'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


class BandstopError(Exception):
    r"""Base of all errors that a user can mend; the command line prints them without a traceback.

    Its words may quote a foreign file: they are made fit for a terminal, and a long quotation is cut.

    >>> str(BandstopError("found \x1b[2J")), len(str(BandstopError("found " + "[" * 10**6)))
    ('found \\x1b[2J', 1001)
    """

    def __init__(self, message: object = "") -> None:
        words = str(message)
        if len(words) > LONGEST:
            words = f"{words[: LONGEST * 2 // 3]}…{words[-LONGEST // 3 :]}"
        super().__init__(printable(words))


class BandstopWarning(UserWarning):
    """Training goes on, but probably not as it was meant."""


class ConfigError(BandstopError):
    """A setting is out of range or two settings contradict each other."""


class BudgetError(BandstopError):
    """The asked budget cannot be met; the message says the smallest or largest possible one."""


class ModelError(BandstopError):
    """A model or one of its layers cannot be pruned, counted or traced as asked."""


class DataError(BandstopError):
    """Input data breaks its format's rule.

    >>> raise DataError("expected 64 columns, found 63", path="a/skeleton.txt", line=7, hint="export again")
    Traceback (most recent call last):
        ...
    bandstop.errors.DataError: a/skeleton.txt, line 7: expected 64 columns, found 63; export again
    """

    def __init__(self, problem: str, *, path: object = None, line: int | None = None, hint: str = "") -> None:
        where = "" if path is None else f"{path}, line {line}: " if line is not None else f"{path}: "
        super().__init__(f"{where}{problem}{'; ' + hint if hint else ''}")
        self.path, self.line = path, line


class TrainingError(BandstopError):
    """Training cannot go on (for instance a loss that is not a number); the last good state is kept."""


class DivergenceError(TrainingError):
    """A layer's values are not finite any more.

    >>> str(DivergenceError("layer encoder.weight"))
    'layer encoder.weight has values that are not finite: training has diverged, lower the learning rate'
    """

    def __init__(self, where: str) -> None:
        self.found = f"{where} has values that are not finite"
        super().__init__(f"{self.found}: training has diverged, lower the learning rate")


class ExportError(BandstopError):
    """A network cannot be exported, or its exported form disagrees with the original."""


class MissingExtra(BandstopError):  # noqa: N818 - it reads as a sentence
    """An optional dependency is not installed.

    >>> str(MissingExtra("matplotlib", extra="app"))
    "matplotlib is needed for this and is not installed: pip install 'bandstop[app]'"
    """

    def __init__(self, package: str, *, extra: str) -> None:
        super().__init__(
            f"{package} is needed for this and is not installed: pip install 'bandstop[{extra}]'"
        )
