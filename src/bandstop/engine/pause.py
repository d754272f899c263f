"""Saying what is being done when it takes longer than one likes to wait in silence."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["PATIENCE", "telling"]

PATIENCE = 2.0
"""Seconds of silence."""


@contextmanager
def telling(what: str) -> Iterator[None]:
    """Say ``what`` is being done if it is not done within a few seconds.

    It goes to the logger "bandstop" where a program has set up logging, and else to standard error, in one
    line.

    >>> with telling("waiting for nothing"):
    ...     pass
    """
    timer = threading.Timer(PATIENCE, _say, [what])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _say(what: str) -> None:
    log = logging.getLogger("bandstop")
    if log.hasHandlers():
        log.info("%s …", what)
    else:
        print(f"bandstop: {what} …", file=sys.stderr, flush=True)
