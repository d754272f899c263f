"""Tiny networks with fixed weights, whose C is kept: `python -m tests.deploy.golden_nets` renews ``golden/``.

A change of the emitted program shows in review as a change of these files.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import nn

from bandstop.deploy import DeployModel, ExportOptions, make_c
from bandstop.nets import NetConfig, build_net
from bandstop.skeleton.normalise import Normaliser

FOLDER = Path(__file__).with_name("golden")
NORMALISER = Normaliser(0, ((0, 1), (1, 2)), (1.0, 0.5, 2.0), 2)
EXPORTS = {
    "gcn_speed": ("gcn", {}),
    "gcn_size": ("gcn", {"aim": "size", "open_ended": True}),
    "gcn_int8": ("gcn", {"number": "int8"}),
    "lstm_speed": ("lstm", {}),
    "lstm_size": ("lstm", {"aim": "size"}),
    "stack_speed": ("stack", {}),
    "stack_size": ("stack", {"aim": "size"}),
    "stack_int8": ("stack", {"number": "int8"}),
}
"""Name of the files, the network, and how it is exported (an LSTM cannot be in fixed point)."""


def fixed_weights(net: nn.Module) -> nn.Module:
    """Weights in eighths, two in five of them zero; normalisations whose factors are exact."""
    with torch.no_grad():
        for parameter in net.parameters():
            count = torch.arange(parameter.numel())
            values = (count * 7 % 11 - 5) / 8.0 * (count % 5 < 3)
            parameter.copy_(values.reshape(parameter.shape))
        for module in net.modules():
            if isinstance(module, nn.BatchNorm1d):
                module.eps = 0.0
                module.running_mean.fill_(0.25)
                module.running_var.fill_(4.0)
                module.weight.fill_(1.0)
                module.bias.fill_(0.5)
    return net.eval()


def golden_model(kind: str) -> DeployModel:
    """The network called ``kind`` and what goes with it."""
    if kind == "stack":
        layers = [nn.Conv1d(2, 3, 3, padding=1), nn.BatchNorm1d(3), nn.ReLU(), nn.Flatten(), nn.Linear(12, 2)]
        return DeployModel(fixed_weights(nn.Sequential(*layers)), None, ("no", "yes"), input_shape=(2, 4))
    small = (
        NetConfig(kind="lstm", hidden=2)
        if kind == "lstm"
        else NetConfig(kind="gcn", channels=2, heads=2, filters=2)
    )
    net = build_net(small, joints=3, signal=6, classes=2, edges=NORMALISER.edges)
    return DeployModel(fixed_weights(net), NORMALISER, ("no", "yes"), ("wrist", "knuckle", "tip"), "metres")


def golden_files(name: str) -> dict[str, str]:
    """The exported files of one golden name, as the code is now."""
    kind, options = EXPORTS[name]
    model = golden_model(kind)
    count = int(np.prod(model.shape))
    inputs = (np.arange(4 * count) % 9 - 4).astype(np.float32).reshape(4, *model.shape) / 4
    return make_c(model, ExportOptions(name=name, **options), inputs=inputs).texts


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    for golden in EXPORTS:
        for file, text in golden_files(golden).items():
            (FOLDER / file).write_text(text, encoding="utf-8")
