"""Which code form for which operation: costs are compared here, nothing is printed."""

__all__ = ["LANES"]

LANES = 8
"""Values of a vector."""
