"""One layer on its own: attach, freeze, hold."""

import copy
import itertools

import pytest
import torch
from torch import nn

from bandstop.engine.attach.hold import hold_zeros
from bandstop.engine.attach.layers import PrunedLayers
from bandstop.engine.attach.parametrisation import BandStop, PrunedLayer, nonzero, prunable_layers
from bandstop.method.gate import Hard, Soft


def attached(module: nn.Module) -> PrunedLayer:
    (layer,) = prunable_layers(module)
    band = BandStop(Soft(), torch.tensor(0.5))
    layer.attach(band, torch.linspace(-2, 2, layer.latent.numel()).reshape(layer.latent.shape))
    return layer


def test_the_weight_is_the_gated_latent_and_the_parameter_object_stays() -> None:
    module = nn.Linear(4, 2)
    parameter = module.weight
    layer = attached(module)
    assert layer.latent is parameter
    assert layer.band is not None
    layer.band.set_levels(torch.tensor(1.0), 1.0, 3.0)
    expected = 1.5 * Soft().effective(layer.latent.detach(), 1.0)
    torch.testing.assert_close(module.weight.detach(), expected)


def test_freezing_does_not_move_the_function_of_what_is_kept() -> None:
    module = nn.Linear(4, 2)
    layer = attached(module)
    assert layer.band is not None
    layer.band.set_levels(torch.tensor(1.0), 1.0, None)
    before = module.weight.detach().clone()
    layer.freeze(before != 0)
    torch.testing.assert_close(module.weight.detach(), before)
    with torch.no_grad():
        layer.latent.add_(0.25)  # what momentum may do
    layer.hold()
    assert torch.equal(layer.latent != 0, before != 0)


def test_a_kept_weight_of_zero_becomes_negligible_not_zero() -> None:
    mask = torch.tensor([True, True, False])
    made = nonzero(torch.tensor([0.0, -4.0, 5.0]), mask)
    assert torch.equal(made != 0, mask) and 0 < float(made[0]) < 1e-5
    assert float(nonzero(torch.zeros(1), torch.tensor([True]))) > 0


def test_zeros_are_put_back() -> None:
    latent = nn.Parameter(torch.ones(3))
    hold_zeros(latent, None)
    assert latent.tolist() == [1, 1, 1]
    hold_zeros(latent, torch.tensor([False, True, False]))
    assert latent.tolist() == [0, 1, 0]


@pytest.mark.parametrize("padding", [None, 0, 3])
def test_layers_together_know_sizes_padding_and_thresholds(padding: int | None) -> None:
    net = nn.Sequential(nn.Embedding(6, 2, padding_idx=padding), nn.Linear(2, 3))
    layers = PrunedLayers(net, prunable_layers(net))
    assert layers.padding() == ({} if padding is None else {"0.weight": padding})
    assert layers.sizes() == {"0.weight": 12 if padding is None else 10, "1.weight": 6}
    assert {name: latent.numel() for name, latent in layers.free_latents().items()} == layers.sizes()
    assert layers.thresholds() == {}
    for layer in layers:
        layer.attach(BandStop(Hard(), torch.tensor(1.0)), layer.latent.detach().clone())
    assert list(layers.thresholds()) == ["0.weight", "1.weight"]


def test_a_copy_does_not_take_a_gain_that_was_known_for_the_gain_it_has() -> None:
    """The counters of changes begin anew in copied tensors, and may come to the number that was noted."""
    for noted, changes in itertools.product(range(4), range(1, 5)):
        band = BandStop(Soft(), torch.tensor(2.0), learn_gain=False)
        band.load_state_dict(band.state_dict())
        for _ in range(noted):
            band.stretch.fill_(1.0)
        assert float(band.gain) == 2.0
        other = copy.deepcopy(band)
        for _ in range(changes):
            other.stretch.fill_(3.0)
        assert float(other.gain) == 6.0
