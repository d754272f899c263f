"""DDP and FSDP2 trainings equal the one-process training on the joined batch,
and end with the same exact masks everywhere.
"""

import pytest

from tests.distributed.ranks import scenario
from tests.distributed.small import SIZES


@pytest.mark.parametrize(("world", "ways"), [(2, "ddp,fsdp"), (4, "fsdp")])
def test_training_on_many_ranks(world: int, ways: str) -> None:
    ranks = scenario("trainings", str(world), ways)
    each = [rank.pop("fixed") for rank in ranks]
    assert len(ranks[0]) == 7 * len(ways.split(","))
    for run, found in ranks[0].items():
        for other in ranks[1:]:  # to the bit
            assert other[run]["thresholds"] == found["thresholds"], run
            assert other[run]["masks"] == found["masks"] == found["again"], run
        assert found["masks"] == found["masks_alone"], run
        assert found["threshold_off"] < 1e-4, run
        assert found["threshold_off_own_weights"] == 0, run
        assert found["kept"] == found["asked"] == found["reported"] == round(0.2 * sum(SIZES)), run
        assert found["plain_off"] < 1e-4, run
        assert found["jump"] < 1e-5, run
        assert found["snapshot"] == (
            ["layers"] if run.startswith(("empirical", "learned", "held")) else found["snapshot"]
        )
        assert found["log_off"] < 1e-4, run
    for fixed in zip(*each, strict=True):
        assert sum(rank["values"] + rank["gradients"] for rank in fixed) == 0
        assert sum(rank["moments"] for rank in fixed) > 0  # momentum pulls at the zeros, in vain
        assert fixed[0]["kept"] == round(0.1 * sum(SIZES))
