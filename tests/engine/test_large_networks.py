"""What large networks need: thresholds and shares without sorting, copying or listing all weights."""

import pytest
import torch

from bandstop.engine.select import topk as magnitude
from bandstop.engine.select.allocation import PooledOrder, lamp_scores
from bandstop.engine.select.lamp_order import LampOrder
from bandstop.engine.select.topk import cut_value, prior_magnitudes
from bandstop.method import gate_in_cache
from bandstop.method.gate import Soft
from bandstop.method.gate_in_cache import shrunk_in_cache
from bandstop.method.priors import prior

SIZES = [1536, 3528, 4096, 1000, 1000, 37, 3, 24192]


@pytest.mark.parametrize("name", ["laplace", "gaussian", "uniform", "student"])
@pytest.mark.parametrize("floor", [0, 1, 5])
def test_shares_by_lamp_are_those_of_the_whole_order(name: str, floor: int) -> None:
    shape = prior(name, 1.0)
    whole = PooledOrder([lamp_scores(prior_magnitudes(shape, n)) for n in SIZES], floor)
    brief = LampOrder(shape, SIZES, floor)
    least = sum(min(floor, n) for n in SIZES)
    for total in (least, least + 1, least + 7, 50, 101, 999, 5000, 20_000, sum(SIZES) - 1, sum(SIZES)):
        assert brief.counts(total) == whole.counts(total)


def test_layers_of_one_size_share_their_scores() -> None:
    assert len(LampOrder(prior("laplace", 1.0), [5000] * 40 + [70], 1).scores) == 2


@pytest.mark.parametrize("values", ["laplace", "ties", "zeros", "tiny"])
def test_the_fused_quantile_is_exact(values: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    generator = torch.Generator().manual_seed(0)
    latent = prior("laplace", 1.0).sample((5003,), generator=generator)
    latent = {
        "laplace": latent,
        "ties": (latent * 3).round() / 3,
        "zeros": torch.where(latent > 0, latent, 0),
        "tiny": latent * 1e-39,  # below the smallest normal number
    }[values]
    counts = (0, 1, 50, 2501, 5002)
    found = [cut_value(latent, count) for count in counts]
    monkeypatch.setattr(magnitude, "_quantile_kernel", lambda: None)
    assert found == [cut_value(latent, count) for count in counts]


def test_a_large_gate_is_the_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    latent = torch.randn(300, 250, generator=torch.Generator().manual_seed(0))
    latent[3, 3] = torch.nan
    gain, threshold = torch.tensor(0.37), torch.tensor(1.1)
    assert shrunk_in_cache(latent, gain, threshold) is not None
    results = []
    for large in (True, False):
        if not large:
            monkeypatch.setattr(gate_in_cache, "PART", latent.numel())
        inputs = latent.clone().requires_grad_(), gain.clone().requires_grad_()
        weight = Soft().scaled(*inputs, threshold, torch.tensor(1.0))
        weight.nan_to_num().square().sum().backward()
        results.append((weight.detach().nan_to_num(7.0), inputs[0].grad))
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))
    several = torch.func.vmap(lambda x: Soft().scaled(x, gain, threshold, torch.tensor(1.0)))(
        latent.expand(2, 300, 250)
    )
    assert several.shape == (2, 300, 250)
