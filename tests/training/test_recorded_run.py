"""Training and export give the same bits as recorded: a change that moves code must not move a weight."""

import platform

import pytest

from tests.training.recorded_run import made_now, recorded


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the bits were recorded on x86-64")
def test_training_and_exports_give_the_recorded_bits():
    assert made_now() == recorded()
