"""How much training sequences may be changed, as settings; ``bandstop.skeleton.augment`` changes them."""

from __future__ import annotations

from dataclasses import dataclass

from bandstop.record.fields import check_fields, number

__all__ = ["AugmentConfig"]


@dataclass(frozen=True)
class AugmentConfig:
    """How much a training sequence may be changed; zero switches a change off."""

    crop: float = number(0.12, 0, 0.45)
    """Largest share of the duration cut away at each end."""
    warp: float = number(0.25, 0, 0.33)
    """Strength of the smooth time warp."""
    rotation: float = number(0.3, 0, 10.0)
    """Largest rotation about each axis, in radians."""
    scale: float = number(0.15, 0, 0.99)
    """Largest relative change of size, per axis."""
    noise: float = number(0.02, 0, 1e3)
    """Standard deviation of joint noise, in units of the joint's RMS."""
    drift: float = number(0.0, 0, 1e3)
    """Standard deviation of a constant offset of each joint over the whole sequence, in units of its RMS."""
    pace: float = number(0.12, 0, 10.0)
    """Standard deviation of the logarithm of a duration's change, where signals hold the duration."""

    def __post_init__(self) -> None:
        check_fields(self, "augment.")
