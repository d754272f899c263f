"""Trainings with references that are convolutions: the MLP as convolutions of size 1."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from bandstop.rivals import published

from .digits import DECAY, LR, STEPS, Batches, Ours, adamw, descend, digits, fresh


class Unfolded(nn.Module):
    """The MLP as 1×1 convolutions of the reference's kind, with the same first weights."""

    def __init__(self, kind: Callable[..., nn.Module], seed: int) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList()
        for module in fresh(seed):
            if isinstance(module, nn.Linear):
                made: Any = kind(module.in_features, module.out_features, 1)
                made.weight.data.copy_(module.weight.data[:, :, None, None])
                made.bias.data.copy_(module.bias.data)
                self.convolutions.append(made)

    def forward(self, x: Tensor) -> Tensor:
        x = x[:, :, None, None]
        for i, convolution in enumerate(self.convolutions):
            x = convolution(x if i == 0 else x.relu())
        return x.flatten(1)


def folded(net: Unfolded, effective: Callable[[Any], Tensor]) -> nn.Module:
    """A plain MLP with the effective weights."""
    plain = fresh(0)
    linear = [module for module in plain if isinstance(module, nn.Linear)]
    for module, made in zip(linear, net.convolutions, strict=True):
        module.weight.data.copy_(effective(made).detach()[:, :, 0, 0])
        module.bias.data.copy_(made.bias.data)  # type: ignore[union-attr, arg-type]
    return plain


def soft_threshold(modules: list[ModuleType], seed: int) -> nn.Module:
    """Their layer with e^s, s from −10 and a decay of 5:
    a little more of it and nothing is left in so few steps.
    """
    layer = modules[0]
    net = Unfolded(layer.STRConv, seed)
    convolutions: list[Any] = list(net.convolutions)
    for made in convolutions:
        made.f = torch.exp
    optimiser = torch.optim.AdamW(
        [
            {"params": [made.weight for made in convolutions], "weight_decay": DECAY},
            {"params": [made.bias for made in convolutions], "weight_decay": 0.0},
            {"params": [made.sparseThreshold for made in convolutions], "weight_decay": 5.0},
        ],
        lr=LR,
    )
    descend(optimiser, Batches(net, seed, digits()))
    return folded(
        net, lambda made: layer.sparseFunction(made.weight, made.sparseThreshold, torch.relu, torch.exp)
    )


def straight_through(modules: list[ModuleType], seed: int) -> nn.Module:
    """Their choice of edges with our counts of layers; the schedule is ours, theirs is constant."""
    ours: Any = Ours("ste", seed)
    net = Unfolded(modules[0].DNWConv, seed)
    convolutions: list[Any] = list(net.convolutions)

    def before(step: int) -> None:
        ours.method.taken = step
        scores = {
            layer.name: made.weight.detach().abs().flatten(1)
            for layer, made in zip(ours.method.layers, convolutions, strict=True)
        }
        counts = ours.method.counts(scores, 1.0 if step >= STEPS else ours.method.ramp())
        for made, count in zip(convolutions, counts.values(), strict=True):
            made.prune_rate = 1 - (count - 0.5) / made.weight.numel()

    descend(adamw(net), Batches(net, seed, digits()), before=before)
    before(STEPS)
    return folded(net, lambda made: modules[0].ChooseEdges.apply(made.weight, made.prune_rate))


def probability(modules: list[ModuleType], seed: int) -> nn.Module:
    """Their layers, projection and two samples a step; at the end their sampled mask,
    best of ten in training.
    """
    conv_type, net_utils = modules
    arguments, settings = conv_type.parser_args, published("probmask")
    rate: Any = max(settings.score_lr, settings.travel / STEPS)  # type: ignore[attr-defined]
    torch.manual_seed(seed)
    net = Unfolded(conv_type.ProbMaskConv, seed)
    convolutions: list[Any] = list(net.convolutions)
    freeze, begin, end = int(0.94 * STEPS), 0.16, 0.60
    optimiser = torch.optim.AdamW(
        [
            {"params": [made.weight for made in convolutions], "weight_decay": DECAY},
            {"params": [made.bias for made in convolutions], "weight_decay": 0.0},
            {"params": [made.scores for made in convolutions], "weight_decay": 0.0, "lr": rate},
        ],
        lr=LR,
    )
    batches = Batches(net, seed, digits())
    x, y, _, _ = digits()

    def loss() -> Tensor:
        images, labels = batches.draw()
        samples = 1 if convolutions[0].train_weights else 2
        losses = [nn.functional.cross_entropy(net(images), labels) for _ in range(samples)]
        return torch.stack(losses).mean()

    def before(step: int) -> None:
        progress = step / STEPS
        passed = min(max((progress - begin) / (end - begin), 0.0), 1.0)
        arguments.prune_rate = 0.05 + 0.95 * (1 - passed) ** 3
        arguments.T = 1 / (0.97 * (1 - progress) + 0.03)
        if step == freeze:
            trials = []
            for _ in range(10):
                net_utils.fix_model_subnet(net)
                with torch.no_grad():
                    right = float((net(x).argmax(1) == y).float().mean())
                trials.append((right, [made.subnet.clone() for made in convolutions]))
            for made, mask in zip(convolutions, max(trials, key=lambda trial: trial[0])[1], strict=True):
                made.subnet = mask

    def after(step: int) -> None:
        if step <= freeze:
            with torch.no_grad():
                net_utils.constrainScoreByWhole(net)

    descend(optimiser, loss, before=before, after=after)
    return folded(net, lambda made: made.weight * made.subnet)
