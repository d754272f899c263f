"""The methods that bandstop stands against, written from their papers (docs/rivals.md).

Names and descriptions are here without torch; making a rival imports its module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bandstop.rivals.registry import NAMES, make, published

if TYPE_CHECKING:
    from bandstop.rivals.small_dense import small_dense_sizes

__all__ = ["NAMES", "make", "published", "small_dense_sizes"]


def __getattr__(name: str) -> Any:
    if name == "small_dense_sizes":
        from bandstop.rivals.small_dense import small_dense_sizes

        return small_dense_sizes
    raise AttributeError(f"module 'bandstop.rivals' has no attribute {name!r}")
