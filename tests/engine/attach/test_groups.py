"""Optimiser groups: every parameter once, vectors not decayed."""

import torch
from torch import nn

from bandstop import Pruner
from bandstop.engine.attach.groups import optimiser_groups


def test_every_parameter_is_in_one_group() -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    pruner = Pruner(net, 0.5, steps=2, layers="0.weight")
    groups = pruner.parameter_groups(lr=1e-3, weight_decay=0.1)
    members = [id(parameter) for group in groups for parameter in group["params"]]
    assert sorted(members) == sorted(id(parameter) for parameter in net.parameters())
    assert [(g["lr"], g["weight_decay"]) for g in groups] == [(1e-2, 0.0), (1e-3, 0.0), (1e-3, 0.1)]
    torch.optim.AdamW(groups)


def test_empty_groups_are_left_out() -> None:
    assert len(optimiser_groups(nn.Linear(2, 2, bias=False), [], lr=0.1, weight_decay=0.0)) == 1
