"""What a foreign file may cost: bounded by its size before it is read, by limits that a user can raise."""

from __future__ import annotations

import math
import os

from bandstop.errors import ConfigError

__all__ = ["RAISE", "VARIABLE", "allowed"]

VARIABLE = "BANDSTOP_LIMITS"
RAISE = f"{VARIABLE}=4 in the environment allows four times as much"
"""The end of every refusal of a file that is too large."""


def allowed(amount: int) -> int:
    """A limit as it stands, times the factor in the environment variable ``BANDSTOP_LIMITS``.

    >>> allowed(100)
    100
    """
    text = os.environ.get(VARIABLE, "1")
    try:
        factor = float(text)
    except ValueError:
        factor = math.nan
    if not 1 <= factor <= 1e6:
        raise ConfigError(f"{VARIABLE} must be a number from 1 to 1000000, found {text!a:.40}")
    return int(amount * factor)
