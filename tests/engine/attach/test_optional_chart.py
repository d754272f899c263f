"""The levels of a charted band are the same whether the host may read the numbers or not."""

import pytest
import torch

from bandstop.engine.attach.parametrisation import BandStop
from bandstop.method.gate import Soft
from bandstop.method.priors import Laplace


@pytest.mark.parametrize("threshold", [0.0, 0.7, 2.0, 50.0, torch.inf])
@pytest.mark.parametrize("spread", [0.0, 0.5, 2.0])
def test_a_device_finds_the_levels_that_the_host_finds(threshold: float, spread: float) -> None:
    bands = [BandStop(Soft(), torch.tensor(1.0)) for _ in range(2)]
    for band in bands:
        band.make_chart(Laplace(1.0), 1000)
        band.set_levels(torch.tensor(threshold), 1.0, None)
    bands[0].set_chart(spread, 1.5 * spread, 1000)
    bands[1].set_chart(torch.tensor(spread), torch.tensor(1.5 * spread), 1000)
    for name in ("cells", "scale", "level"):
        assert torch.allclose(getattr(bands[0], name), getattr(bands[1], name), rtol=1e-5), name
