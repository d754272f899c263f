"""Every way to a plain network: the model itself, copies of it, replicas with other weights."""

import copy

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize

from bandstop.engine.attach.module_class import flat_weights
from bandstop.engine.attach.parametrisation import BandStop, PrunedLayer, prunable_layers
from bandstop.engine.attach.plain import (
    make_copy_plain,
    make_plain,
    make_replica_plain,
    refresh_recurrent,
    take_off,
)
from bandstop.errors import ModelError
from bandstop.method.gate import Hard


def gated(net: nn.Module) -> list[PrunedLayer]:
    layers = prunable_layers(net)
    for layer in layers:
        layer.attach(BandStop(Hard(), torch.tensor(2.0)), layer.latent.detach().clone())
    return layers


def test_the_model_is_of_its_own_class_again_with_exact_zeros() -> None:
    net = nn.Sequential(nn.Linear(4, 3), nn.LSTM(3, 2))
    kinds, names = [type(module) for module in net.modules()], sorted(net.state_dict())
    layers = gated(net)
    for layer in layers:
        layer.freeze(layer.latent.detach() > 0)
    masks = [layer.latent.detach() > 0 for layer in layers]
    made = make_plain(net, layers)
    assert made is net and [type(module) for module in net.modules()] == kinds
    assert sorted(net.state_dict()) == names
    weights = [net[0].weight, net[1].weight_ih_l0, net[1].weight_hh_l0]
    assert all(torch.equal(weight != 0, mask) for weight, mask in zip(weights, masks, strict=True))
    assert net[1]._flat_weights[0] is net[1].weight_ih_l0
    net(torch.ones(5, 1, 4))


def test_tied_weights_are_taken_off_all_their_owners() -> None:
    first, second = nn.Linear(3, 3), nn.Linear(3, 3)
    second.weight = first.weight
    (layer,) = gated(nn.Sequential(first, second))
    take_off(layer, torch.eye(3))
    assert first.weight is second.weight and torch.equal(first.weight, torch.eye(3))
    assert not parametrize.is_parametrized(first) and not parametrize.is_parametrized(second)


def test_a_copy_is_made_plain_once_and_the_original_stays() -> None:
    net = nn.Sequential(nn.Linear(4, 3))
    (layer,) = gated(net)
    mask = layer.latent.detach() > 0
    replica = copy.deepcopy(net)
    plain = make_copy_plain(replica, {"0.weight": mask})
    assert torch.equal(plain[0].weight != 0, mask)  # type: ignore[index]
    assert parametrize.is_parametrized(net[0])
    with pytest.raises(ModelError, match="only once"):
        make_copy_plain(replica, {"0.weight": mask})
    with pytest.raises(ModelError, match="not one of the pruner's: other"):
        make_copy_plain(copy.deepcopy(net), {"other": mask})


def test_a_replica_loses_foreign_parametrisations_too_and_keeps_their_values() -> None:
    net = nn.Sequential(nn.Linear(4, 3), parametrizations.weight_norm(nn.Linear(3, 2)))
    layer = PrunedLayer("0.weight", ((net[0], "weight"),))
    layer.attach(BandStop(Hard(), torch.tensor(1.0)), layer.latent.detach().clone())
    replica, twin = copy.deepcopy((net, layer))
    value = net[1].weight.detach().clone()
    # Of several originals the first is kept under the weight's name.
    del replica[1]
    make_replica_plain(replica, {id(twin.latent): torch.zeros(3, 4)})
    assert torch.equal(replica[0].weight, torch.zeros(3, 4))
    assert torch.equal(net[1].weight, value) and parametrize.is_parametrized(net[0])


def test_a_recurrent_layer_gets_its_list_of_weights_anew() -> None:
    cell = nn.GRU(2, 2)
    cell.weight_ih_l0 = nn.Parameter(torch.zeros(6, 2))
    refresh_recurrent(cell)
    assert cell._flat_weights[0] is cell.weight_ih_l0 is flat_weights(cell)[0]
