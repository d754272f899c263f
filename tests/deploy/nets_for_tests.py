"""Randomly pruned networks, sequences, models and their C for the tests."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from torch import nn

from bandstop.deploy.c.files import CFiles
from bandstop.deploy.export import ExportOptions, make_c
from bandstop.deploy.model import DeployModel
from bandstop.nets import NetConfig, build_net
from bandstop.skeleton.normalise import Normaliser

JOINTS, CHUNKS, CLASSES = 21, 32, 45


def hand_edges() -> tuple[tuple[int, int], ...]:
    chains = [[0, 1 + f, 6 + 3 * f, 7 + 3 * f, 8 + 3 * f] for f in range(5)]
    return tuple((a, b) for chain in chains for a, b in pairwise(chain))


def settle_norms(net: nn.Module) -> None:
    """Statistics as training leaves them: neither zero nor one."""
    for module in net.modules():
        if isinstance(module, nn.BatchNorm1d):
            module.running_mean.normal_(0, 0.3)
            module.running_var.uniform_(0.5, 2)
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.normal_(module.bias, 0, 0.2)


def prune(net: nn.Module, rate: float) -> None:
    """Keep the largest weights of every matrix, more of the small early ones (as trained networks do)."""
    for parameter in net.parameters():
        if parameter.ndim > 1:
            share = min(1.0, (1 - rate) * (1 if parameter.numel() > 5000 else 2))
            count = max(1, round(parameter.numel() * share))
            flat = parameter.data.flatten()
            mask = torch.zeros_like(flat)
            mask[flat.abs().topk(count).indices] = 1
            parameter.data = (flat * mask).view_as(parameter)


def make_net(
    rate: float, seed: int = 0, classes: int = CLASSES, normaliser: Normaliser | None = None, **config: object
) -> nn.Module:
    torch.manual_seed(seed)
    seen: dict[str, object] = {"signal": 3 * CHUNKS, "edges": hand_edges()}
    if normaliser is not None:
        seen |= {"signal": normaliser.values, "shared": normaliser.shared}
    net = build_net(NetConfig(**{"kind": "gcn", **config}), joints=JOINTS, classes=classes, **seen)
    settle_norms(net)
    prune(net, rate)
    return net.eval()


def normaliser() -> Normaliser:
    return Normaliser(0, hand_edges(), tuple(np.linspace(0.5, 2, JOINTS).round(3).tolist()), CHUNKS)


def make_model(rate: float, **config: object) -> DeployModel:
    net = make_net(rate, **config)
    names = tuple(f"action {i}" for i in range(net.classifier.out_features))
    joints = tuple(f"joint {i}" for i in range(JOINTS))
    return DeployModel(net, normaliser(), names, joints, "millimetres")


def c_files(model: DeployModel, inputs: np.ndarray | None = None, **options: object) -> CFiles:
    """C of a model; fixed point is scaled on ``inputs``."""
    return make_c(model, ExportOptions(**options), inputs=inputs)


def sequence(length: int, seed: int = 0) -> np.ndarray:
    """A random walk of hands some way from the camera."""
    rng = np.random.default_rng([seed, length])
    walk = rng.normal(size=(length, JOINTS, 3)).cumsum(0) * 3
    return (walk + rng.normal(size=(1, JOINTS, 3)) * 60 + 500).astype(np.float32)


def sequences() -> list[np.ndarray]:
    """Lengths on every side of the number of chunks."""
    return [sequence(length) for length in (1, 2, 7, 31, 32, 33, 63, 64, 65, 100, 257, 700)]
