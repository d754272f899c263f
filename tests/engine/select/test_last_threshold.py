"""A threshold that is looked for near the last one is the exact one."""

from collections import defaultdict

import pytest
import torch

from bandstop.engine.select.last_threshold import LastThreshold
from bandstop.engine.select.topk import thresholds_for

pytest.importorskip("numba")


@pytest.mark.parametrize("jump", [0.0, 3.0])
def test_thresholds_of_a_training_are_exact(jump: float) -> None:
    draw = torch.Generator().manual_seed(0)
    latents = {"large": torch.randn(9000, generator=draw), "small": torch.randn(300, generator=draw)}
    latents["large"][5] = torch.nan
    last: defaultdict[str, LastThreshold] = defaultdict(LastThreshold)
    found = 0
    for step in range(60):
        for latent in latents.values():
            latent.add_(torch.randn(latent.shape, generator=draw), alpha=0.01)
            if step == 30:
                latent.mul_(1 + jump)
        counts = {name: round(n.numel() * (1 - 0.98 * step / 59)) for name, n in latents.items()}
        if last["large"].value is not None:
            found += last["large"].next(latents["large"], 9000 - counts["large"]) is not None
        assert thresholds_for(latents, counts, last) == thresholds_for(latents, counts)
    assert found > 45


def test_ties_are_found_and_crowds_left_to_the_plain_search() -> None:
    values = (torch.randn(20_000, generator=torch.Generator().manual_seed(0)) * 3).round()
    for rank in (1, 10_000, 19_000, 19_990):
        expected, last = values.abs().kthvalue(rank).values, LastThreshold()
        last.note(expected)
        crowded = int((values.abs() == expected).sum()) > 20_000 // 16 + 64
        near = last.next(values, rank)
        assert near is None if crowded else near == expected


def test_other_numbers_are_left_to_the_plain_search() -> None:
    last = LastThreshold(value=1.0, width=5.0)
    values = torch.randn(9000, dtype=torch.float64)
    assert last.next(values, 10) is None and last.next(values.float().view(90, 100).T, 10) is None
