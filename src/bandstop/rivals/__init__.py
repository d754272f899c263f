"""The methods that bandstop stands against, each written from its paper behind the pruner's verbs
(docs/rivals.md).
"""

from bandstop.rivals.registry import NAMES, make, published
from bandstop.rivals.small_dense import small_dense_sizes

__all__ = ["NAMES", "make", "published", "small_dense_sizes"]
