"""The histogram's two implementations, to be compared: loops compiled by numba, or plain torch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest

from bandstop.method.histogram import soft

BACKENDS = ["torch", "fused"]


@contextmanager
def using(backend: str) -> Iterator[None]:
    """Inside, histograms are counted by ``backend``."""
    if backend == "torch":
        with patch.object(soft, "_fused_passes", lambda: None):
            yield
    else:
        pytest.importorskip("numba")
        yield
