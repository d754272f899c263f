"""The map of several layers in one call is that of one after the other."""

from array import array

import pytest
import torch

from bandstop.method.priors import Gaussian
from bandstop.method.transport import CELLS, mean_magnitude, rank_quantiles, transport_

COUNTS = (9001, 64, 20_000)


def _called(layers: list[torch.Tensor], levels: torch.Tensor, fraction: float) -> int:
    pytest.importorskip("numba")
    from bandstop.method.hold_numba import hold_layers

    prior, at, numbers = Gaussian(1.0), array("q"), array("d")
    tables = [rank_quantiles(prior, values.numel()) for values in layers]
    for values, table, level in zip(layers, tables, levels, strict=True):
        at.extend((values.data_ptr(), table.data_ptr(), level.data_ptr(), level.data_ptr() + 4, 0, 0, 0, 0))
        numbers.extend((prior.magnitude_quantile(0.9), 1.0, 0.0, 0.0, 0.0, 0.0))
    counts, room = array("q", [values.numel() for values in layers]), torch.empty(4 * CELLS + 4)
    below, ends = room.data_ptr(), room.data_ptr() + 8 * (CELLS + 1)
    places = [a.buffer_info()[0] for a in (at, at, counts, numbers)]
    work = (below, ends, ends + 8 * CELLS, ends + 8 * CELLS)
    found: int = hold_layers(*places, len(layers), fraction, mean_magnitude(prior), CELLS, 0, *work)
    return found


def test_each_layer_has_its_own_scale_and_threshold() -> None:
    generator = torch.Generator().manual_seed(0)
    layers = [torch.rand(n, generator=generator) * (k + 1) - 0.3 for k, n in enumerate(COUNTS)]
    expected = [values.clone() for values in layers]
    levels = torch.ones(3, 2)
    levels[1, 1] = 2.0
    assert _called(layers, levels, 0.5) == 1  # the one whose stretch is not its gain
    for values, other, level in zip(layers, expected, levels, strict=True):
        scale = transport_(other, Gaussian(1.0), 0.5)
        assert torch.allclose(values, other, rtol=2e-4, atol=2e-4)
        assert float(level[0]) == pytest.approx(
            float(scale) * Gaussian(1.0).magnitude_quantile(0.9), rel=1e-4
        )


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, 0.0])
def test_nothing_is_touched_if_one_has_no_finite_scale(bad: float) -> None:
    layers = [torch.rand(n) for n in COUNTS]
    layers[2].fill_(bad)
    before = [values.clone() for values in layers]
    assert _called(layers, torch.ones(3, 2), 0.5) == -1
    assert all(torch.allclose(a, b, equal_nan=True) for a, b in zip(layers, before, strict=True))
