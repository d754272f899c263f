"""How weights become latents: order and signs stay, the scale goes to the gain."""

import pytest
import torch
from torch import nn

from bandstop.engine.attach.latents import first_latent
from bandstop.engine.attach.parametrisation import prunable_layers
from bandstop.errors import ModelError
from bandstop.method.priors import Gaussian, Laplace, prior_magnitudes


@pytest.mark.parametrize("prior", [Laplace(1.0), Gaussian(0.3)])
def test_scale_keeps_the_weights_and_rank_their_order(prior: Laplace | Gaussian) -> None:
    module = nn.Linear(30, 20)
    (layer,) = prunable_layers(module)
    weight = module.weight.detach()
    gain, latent = first_latent(layer, prior, "scale")
    torch.testing.assert_close(gain * latent, weight)
    torch.testing.assert_close(gain, weight.square().mean().sqrt() / prior.std)
    same, ranked = first_latent(layer, prior, "rank")
    assert torch.equal(same, gain)
    torch.testing.assert_close(
        ranked.abs().flatten().sort().values, prior_magnitudes(prior, 600).float(), rtol=1e-6, atol=1e-6
    )
    assert torch.equal(ranked.abs().flatten().argsort(), weight.abs().flatten().argsort())
    assert torch.equal(ranked.sign(), weight.sign())


@pytest.mark.parametrize("row", [0, 2, 4])
def test_a_padding_row_has_latents_of_zero_and_does_not_count_for_the_scale(row: int) -> None:
    table = nn.Embedding(5, 3, padding_idx=row)
    (layer,) = prunable_layers(table)
    gain, latent = first_latent(layer, Laplace(1.0), "scale")
    assert latent.shape == (5, 3) and int(latent[row].count_nonzero()) == 0
    torch.testing.assert_close(gain * latent, table.weight.detach())


def test_a_layer_of_zeros_takes_the_scale_of_its_fan_in() -> None:
    module = nn.Linear(16, 4)
    nn.init.zeros_(module.weight)
    (layer,) = prunable_layers(module)
    gain, _ = first_latent(layer, Laplace(1.0), "rank")
    assert float(gain) == pytest.approx((1 / 16) ** 0.5 / 2**0.5)


def test_values_that_are_not_finite_are_refused() -> None:
    module = nn.Linear(3, 3)
    module.weight.data[1, 1] = torch.nan
    (layer,) = prunable_layers(module)
    with pytest.raises(ModelError, match="layer weight holds values that are not finite"):
        first_latent(layer, Laplace(1.0), "rank")
