"""Thresholds and masks over shards are those of one process, to the bit and to the weight."""

import pytest

from tests.distributed.ranks import scenario


@pytest.mark.parametrize("world", [2, 4])
def test_shards_give_what_one_process_gives(world: int) -> None:
    assert scenario("arithmetic", str(world)) == [[]] * world
