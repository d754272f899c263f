"""Shared settings of the deploy tests."""

from __future__ import annotations

import pytest
import torch

from tests.needs import COMPILERS, needs_compiler, needs_sanitizers


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)


@pytest.fixture(params=COMPILERS)
def compiler(request) -> str:
    """Each C compiler that builds programs here."""
    needs_compiler(request.param)
    return request.param


@pytest.fixture(params=COMPILERS)
def sanitizer(request) -> str:
    """Each C compiler that builds programs under sanitizers here."""
    needs_sanitizers(request.param)
    return request.param
