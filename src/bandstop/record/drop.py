"""Leaving out recordings that cannot be used, as a setting; ``bandstop.skeleton.drop_unusable`` does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["DropChoice"]


@dataclass(frozen=True, kw_only=True)
class DropChoice:
    """Which recordings of a data set are left out."""

    drop: Literal["unusable"] | None = None
    """Leave out recordings in which a joint is zero or not finite in every frame, and say which. Without it
    such data are refused."""
