"""The weight of a gated module, found on the short way or on torch's, is the same; who listens is heard."""

from __future__ import annotations

import copy

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook
from torch.nn.utils import parametrize

from bandstop import Pruner


def gated() -> nn.Linear:
    torch.manual_seed(0)
    net = nn.Linear(6, 4)
    Pruner(net, 0.5, steps=9)
    return net


def test_the_short_way_gives_what_the_list_of_parametrisations_gives() -> None:
    net = gated()
    assert torch.equal(net.weight, net.parametrizations.weight())


def test_a_copy_has_its_own_weight() -> None:
    net = gated()
    replica = copy.deepcopy(net)
    with torch.no_grad():
        replica.parametrizations.weight.original.mul_(2)
    assert not torch.equal(net.weight, replica.weight)
    assert torch.equal(replica.weight, replica.parametrizations.weight())


def test_hooks_on_the_list_on_the_band_and_on_all_modules_are_called() -> None:
    net, seen = gated(), []
    made = net.parametrizations.weight
    handles = [
        made.register_forward_hook(lambda *_: seen.append("list")),
        made[0].register_forward_hook(lambda *_: seen.append("band")),
    ]
    _ = net.weight
    assert seen == ["band", "list"]
    for handle in handles:
        handle.remove()
    _ = net.weight
    assert len(seen) == 2
    everywhere = register_module_forward_hook(lambda module, *_: seen.append(type(module).__name__))
    try:
        _ = net.weight
    finally:
        everywhere.remove()
    assert seen[2:] == ["BandStop", "OneBand"]


def test_a_cached_weight_is_made_once() -> None:
    net = gated()
    with parametrize.cached():
        assert net.weight is net.weight
    assert net.weight is not net.weight


def test_a_second_parametrisation_is_applied() -> None:
    class Doubled(nn.Module):
        def forward(self, weight: torch.Tensor) -> torch.Tensor:
            return 2 * weight

    net = gated()
    before = net.weight.detach().clone()
    parametrize.register_parametrization(net, "weight", Doubled())
    assert torch.equal(net.weight, 2 * before)
