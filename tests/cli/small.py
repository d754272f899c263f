"""Flags of a network and a training that take a moment."""

from __future__ import annotations

__all__ = ["QUIET", "SMALL"]

SMALL = ["--chunks", 8, "--net.kind", "gcn", "--net.channels", 4, "--net.heads", 2, "--net.filters", 6]
QUIET = ["--no-report", "--quiet"]
