"""Layers and operations let paths through."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bandstop.engine.trace import trace

torch.set_num_threads(1)


POOLED = [
    nn.MaxPool2d(2),
    nn.MaxPool2d(3, 2, 1, ceil_mode=True),
    nn.MaxPool2d(2, 1, dilation=2),
    nn.AvgPool2d(2, count_include_pad=False, padding=1),
    nn.AdaptiveAvgPool2d(3),
    nn.AdaptiveMaxPool2d((2, 1)),
    nn.LPPool2d(2, 2),
    nn.Upsample(scale_factor=2),
    nn.Upsample(scale_factor=1.5, mode="bilinear"),
    nn.ZeroPad2d(1),
    nn.ConstantPad2d(1, 3.0),
    nn.ReflectionPad2d(1),
    nn.PixelShuffle(2),
    nn.GroupNorm(2, 4),
    nn.InstanceNorm2d(4, affine=True),
    nn.ChannelShuffle(2),
    nn.Unfold(2),
    nn.Softmax2d(),
    nn.PReLU(),
    nn.GLU(1),
    *[
        getattr(nn, name)()
        for name in ("ReLU", "GELU", "Sigmoid", "Softplus", "Hardswish", "LogSigmoid", "Softshrink")
    ],
]


@pytest.mark.parametrize("layer", POOLED, ids=lambda layer: type(layer).__name__)
def test_layers_between_convolutions(layer: nn.Module) -> None:
    """All is live when nothing is pruned, and a layer lets a plane through exactly where it is said to."""
    net = nn.Sequential(nn.Conv2d(1, 4, 3), layer, nn.Flatten(), nn.LazyLinear(2))
    net(torch.randn(1, 1, 10, 10))
    found = trace(net, torch.randn(1, 1, 10, 10))
    assert found.weights["0.weight"].live.all()
    assert (
        trace(
            net, torch.randn(1, 1, 10, 10), {"0.weight": torch.zeros(4, 1, 3, 3), "3.weight": net[3].weight}
        ).live
        == 0
    )
    mixes = isinstance(layer, (nn.ZeroPad2d, nn.ConstantPad2d))  # what is padded with numbers does not vary
    assert found.weights["3.weight"].live.all() != mixes


OPERATIONS = {
    "sub": lambda x, y: 1 - (x - y),
    "maximum": torch.maximum,
    "gate": lambda x, y: torch.sigmoid(x) * y,
    "divide": lambda x, y: x / (1 + y.abs()) ** 2,
    "where": lambda x, y: torch.where(x > 0, y, 0.0),
    "cat": lambda x, y: torch.cat([x, y, torch.zeros(1, 2)], -1)[..., [0, 3]],
    "stack": lambda x, y: torch.stack((x, y)).amax(0),
    "max": lambda x, y: torch.stack((x, y)).max(0).values,
    "norm": lambda x, y: x.norm(dim=-1, keepdim=True) + y.std(-1, keepdim=True),
    "sort": lambda x, y: torch.cat([x, y], -1).sort(-1)[0],
    "topk": lambda x, y: torch.cat([x, y], -1).topk(2).values,
    "scatter": lambda x, y: (
        torch.zeros(1, 2).scatter_add_(1, torch.tensor([[0, 1]]), x).index_add(1, torch.tensor([0, 1]), y)
    ),
    "cumsum": lambda x, y: torch.cat([x, y], -1).cumsum(-1),
    "outer": lambda x, y: torch.outer(x[0], y[0]).reshape(1, 4),
    "bmm": lambda x, y: torch.bmm(x[:, :, None], y[:, None]).flatten(1),
    "addcmul": lambda x, y: torch.addcmul(torch.zeros(1, 2), x, y, value=2.0),
    "cosine": lambda x, y: F.cosine_similarity(x, y)[:, None],
    "loop": lambda x, y: sum(row for row in torch.cat([x, y]))[None],
    "lerp": lambda x, y: x.lerp(y, 0.5).double().to("cpu", torch.float16),
    "argmax": lambda x, y: torch.cat([x, y], -1).argmax(-1, keepdim=True),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_both_sides_of_an_operation_reach_the_output(name: str) -> None:
    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(3, 2), nn.Linear(3, 2)

        def forward(self, x: Tensor) -> Tensor:
            return OPERATIONS[name](self.a(x), self.b(x))

    found = trace(Two(), torch.randn(1, 3))
    for weight in found.weights.values():
        assert weight.live.any(0).all()
