"""One thread: two are slower for nets this small, and the tests run side by side."""

import torch

from tests.skipped import pytest_sessionfinish

__all__ = ["pytest_sessionfinish"]

torch.set_num_threads(1)
