"""Held over shards: latents go where they go in one process, with the same bits of scales on every rank."""

import pytest

from tests.distributed.ranks import scenario


@pytest.mark.parametrize("world", [2, 4])
def test_shards_are_moved_as_one_process_moves_them(world: int) -> None:
    ranks = scenario("mapping", str(world))
    assert [line for line in ranks[0] if not line.startswith("bits")] == []
    assert all(rank == ranks[0] for rank in ranks[1:])
    assert len(ranks[0]) == 6 * 5 * (1 if world == 2 else 3)
