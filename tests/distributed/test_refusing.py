"""What is refused among ranks, in one sentence on every rank; and the bytes that a step sends."""

from tests.distributed.ranks import scenario

K, LAYERS = 100, 3
STATISTICS = 8 * (K + 2)
"""Bytes of a histogram: K sums, the tail's, and the number of weights, in double precision."""
SELECTION = 8 * (2048 + 2048 + 512)
"""Bytes of the counts that find the k-th of a layer's float32 magnitudes."""
MAP = 8 * (1 + 4096 + 1 + 1 + 1)
"""Bytes of the map to the prior: the largest magnitude, counts of cells, sums before and after, the count."""


def test_refusals_and_payload() -> None:
    ranks = scenario("refusing")
    assert ranks[0] == ranks[1]
    found = ranks[0]
    assert "before the model is sharded, found 0.0.weight" in found["sharded first"]
    assert "before the model is wrapped, found DistributedDataParallel" in found["wrapped first"]
    assert "found 1.0.weight, 3.weight whole beside 1 sharded" in found["half sharded"]
    assert "live connections cannot be traced where weights are sharded" in found["live"]
    assert "extracted from whole weights, found sharded ones" in found["many rates"]
    assert "must hold the same steps, and they differ" in found["one rank behind"]
    assert "must hold the same gains, and they differ" in found["other gain"]
    update, fixing = LAYERS * SELECTION, 2 * LAYERS * SELECTION
    for histogram, rows in (("layer", LAYERS), ("pooled", 1)):
        penalty = rows * STATISTICS
        *steps, freeze = found["sent"][histogram]
        # The KL is in the first loss of four; after the fourth step thresholds are renewed.
        assert steps == [penalty, 0, 0, update, penalty]
        assert fixing <= freeze <= fixing + LAYERS * 40  # twice a selection, and a few numbers a layer
    penalty = LAYERS * (STATISTICS + 16)  # each layer's mean magnitude is that of all ranks
    *steps, freeze = found["sent"]["held"]
    assert steps == [penalty, 0, 0, LAYERS * MAP, penalty]
    assert LAYERS * (MAP + SELECTION) <= freeze <= LAYERS * (MAP + SELECTION + 40)
