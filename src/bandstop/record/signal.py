"""The names of a signal's parts, without torch; `bandstop.skeleton.parts` computes them."""

from __future__ import annotations

from bandstop.errors import ConfigError

__all__ = ["PARTS", "SHARED", "UNSCALED", "signal_parts"]

PARTS = {"places": 3, "steps": 3, "slow": 3, "bones": 3, "distances": 1, "duration": 1, "moment": 1}
"""Values of a joint in a chunk, by part."""

UNSCALED = ("duration", "moment")
"""Parts that are the same for all joints; they have no scale per joint."""

SHARED = ("moment",)
"""Those that convolutions over time read once per chunk; they read the duration at every joint."""

_MOTION = (
    "for movement write steps, or steps+slow for two speeds, and +duration for how long it lasted, such as "
    "places+steps+duration"
)


def signal_parts(signal: str) -> tuple[str, ...]:
    """The parts of ``--signal``; none for ``places`` and ``motion``, whose layouts are older than parts.

    >>> signal_parts("places+steps"), signal_parts("motion")
    (('places', 'steps'), ())
    >>> signal_parts("steps+places")
    Traceback (most recent call last):
        ...
    bandstop.errors.ConfigError: --signal begins with places and has each part once, found 'steps+places'
    """
    if signal in ("places", "motion"):
        return ()
    names = tuple(signal.split("+"))
    for name in names:
        if name not in PARTS:
            remedy = _MOTION if name == "motion" else f"there are {', '.join(PARTS)}"
            found = "" if name == signal else f", found {signal!r}"
            raise ConfigError(f"--signal has no part {name!r}{found}; {remedy}")
    if names[0] != "places" or len(set(names)) < len(names):
        raise ConfigError(f"--signal begins with places and has each part once, found {signal!r}")
    return names
