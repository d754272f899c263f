"""What a user says about data that does not say it itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import tyro

__all__ = ["AS_IT_SAYS", "SAME", "Reading"]

SAME = "same"
"""The layout of data whose joints are in the order of the model that they are given to."""


@dataclass(frozen=True)
class Reading:
    """How to read data that does not say it itself.

    >>> Reading(columns="xy").columns
    'xy'
    """

    columns: Annotated[str, tyro.conf.arg(metavar="COLUMNS")] = ""
    """CSV: what the columns are, such as xyz, xy, 2:xyz (two columns first), xyz- (each fourth left out) or
    x..y..z.. (all x first); or a file of lines COLUMN,JOINT,AXIS."""
    edges: Annotated[str, tyro.conf.arg(metavar="FILE")] = ""
    """CSV of bones: two joints a line, by number or by name."""
    layout: Annotated[str, tyro.conf.arg(metavar="LAYOUT")] = ""
    """Which known skeleton the joints are, in its order: hand, mediapipe-hand, coco, … (docs/data.md); `same`
    if their order is that of the model."""


AS_IT_SAYS = Reading()
"""Nothing is said: the data speaks for itself."""
