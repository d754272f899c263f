"""A little training loop for the rivals: the one of the package without its data, logs and files."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from bandstop import rivals
from bandstop.training.lr import cosine

Loss = Callable[[], Tensor]


def mlp(*sizes: int, bias: bool = True) -> nn.Sequential:
    """Linear layers with ReLU between them."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [nn.Linear(inputs, outputs, bias=bias), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class NoiseLoss:
    """Cross-entropy of random inputs against random labels, new ones at each call."""

    def __init__(self, net: nn.Module, *shape: int, seed: int = 0) -> None:
        self.net, self.shape, self.generator = net, shape, torch.Generator().manual_seed(seed)

    def __call__(self) -> Tensor:
        scores: Tensor = self.net(torch.randn(self.shape, generator=self.generator))
        labels = torch.randint(scores.shape[1], self.shape[:1], generator=self.generator)
        return nn.functional.cross_entropy(scores, labels)


class Training:
    """A rival at work, step by step."""

    def __init__(self, name: str, net: nn.Module, budget: Any, loss: Loss, steps: int, **more: Any) -> None:
        kind = more.pop("optimiser", torch.optim.AdamW)
        self.lr, self.warmup, decay = (
            more.pop("lr", 1e-2),
            more.pop("warmup", 0.0),
            more.pop("weight_decay", 1e-2),
        )
        self.method = rivals.make(name, net, budget, steps=steps, **more)
        self.net, self.loss, self.steps = net, loss, steps
        self.optimiser = kind(
            self.method.parameter_groups(self.lr, latent_lr=None, weight_decay=decay), lr=self.lr
        )
        self.tops = [group["lr"] for group in self.optimiser.param_groups]
        self.method.bind(self.optimiser)
        prepare = getattr(self.method, "prepare", None)
        if prepare:
            prepare(loss)

    def step(self) -> None:
        """One optimiser step."""
        factor = cosine(self.method.lr_progress((self.method.taken + 1) / self.steps), self.warmup, 0.005)
        for group, top in zip(self.optimiser.param_groups, self.tops, strict=True):
            group["lr"] = top * factor
        loss = self.loss() + self.method.penalty()
        assert math.isfinite(float(loss.detach()))
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.optimiser.step()
        self.method.step()

    def run(self, steps: int | None = None) -> Training:
        """So many steps, or all."""
        for _ in range(self.steps if steps is None else steps):
            self.step()
        return self

    def masks(self) -> dict[str, Tensor]:
        """The masks in use."""
        return {layer.name: self.method.band(layer).mask.clone() for layer in self.method.layers}

    def latents(self) -> dict[str, Tensor]:
        """The latents as they are."""
        return {layer.name: layer.latent.detach().clone() for layer in self.method.layers}


def kept_weights(net: nn.Module) -> int:
    """Non-zero weights of two or more dimensions, each parameter counted once."""
    return sum(int(p.count_nonzero()) for p in net.parameters() if p.ndim >= 2)
