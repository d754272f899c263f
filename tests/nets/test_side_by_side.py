"""Networks side by side: the mean of their scores, whatever channels each reads."""

import pytest
import torch

from bandstop.errors import ConfigError
from bandstop.nets.side_by_side import side_by_side
from bandstop.nets.tcn import TCN

SHAPE = {"chunks": 8, "kernels": (1, 3), "strides": (1, 2)}


def test_each_reads_its_own_channels() -> None:
    torch.manual_seed(0)
    small, large = TCN(2, 24, 3, widths=(4, 5), **SHAPE), TCN(2, 48, 3, widths=(6, 7), **SHAPE)
    for net in (small, large):  # statistics of normalisations that are not those of a new one
        net.train()(torch.randn(20, 2, 24 if net is small else 48))
        net.eval()
    wide = TCN(2, 48, 3, widths=(10, 12), **SHAPE).eval()
    reads = [0, 1, 2, 6, 7, 8]  # the first three of the six values of each joint
    side_by_side([small, large], [reads, range(12)], wide)
    signals = torch.randn(5, 2, 48)
    first = signals.reshape(5, 2, 8, 6)[..., :3].flatten(2)
    assert torch.allclose(wide(signals), (small(first) + large(signals)) / 2, atol=1e-5)
    kept = [sum(int(p.count_nonzero()) for p in n.parameters() if p.ndim > 1) for n in (small, large, wide)]
    assert kept[0] + kept[1] == kept[2]


def test_other_kernels_are_refused() -> None:
    nets = [TCN(2, 24, 3, widths=(4, 5), chunks=8, kernels=(k, 3), strides=(1, 1)) for k in (1, 3)]
    into = TCN(2, 24, 3, widths=(8, 10), chunks=8, kernels=(1, 3), strides=(1, 1))
    with pytest.raises(ConfigError, match="the same kernels and strides"):
        side_by_side(nets, [range(6)] * 2, into)
