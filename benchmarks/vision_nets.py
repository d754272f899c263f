"""ResNet-18 and ViT-tiny as plain modules: two common networks to measure the pruner on."""

from __future__ import annotations

from torch import Tensor, cat, nn, zeros

__all__ = ["ResNet18", "ViTTiny"]


class Residual(nn.Module):
    """Two 3 × 3 convolutions beside a shortcut, which is a 1 × 1 convolution where the shape changes."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)])
        self.shortcut: nn.Module = nn.Identity()
        if stride > 1 or inputs != outputs:
            shorter = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
            self.shortcut = nn.Sequential(shorter, nn.BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        inner = self.norms[0](self.first(x)).relu()
        return (self.norms[1](self.second(inner)) + self.shortcut(x)).relu()


class ResNet18(nn.Module):
    """He et al., 2016: 11.7 million parameters, images of 224 × 224 in 1,000 classes."""

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU())
        self.pool = nn.MaxPool2d(3, 2, 1)
        widths = [(64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)]
        blocks = [(Residual(a, b, s), Residual(b, b, 1)) for a, b, s in widths]
        self.blocks = nn.Sequential(*[block for pair in blocks for block in pair])
        self.head = nn.Linear(512, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.blocks(self.pool(self.stem(x))).mean((2, 3)))


class ViTTiny(nn.Module):
    """Touvron et al., 2021 (DeiT-tiny): 5.7 million parameters, 196 patches of 16 × 16."""

    def __init__(self, classes: int = 1000, width: int = 192, heads: int = 3, depth: int = 12) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 16, 16)
        self.summary = nn.Parameter(zeros(1, 1, width))
        self.places = nn.Parameter(zeros(1, 197, width))
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(
            layer, depth, norm=nn.LayerNorm(width), enable_nested_tensor=False
        )
        self.head = nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        tokens = self.patches(x).flatten(2).transpose(1, 2)
        tokens = cat([self.summary.expand(len(x), -1, -1), tokens], 1) + self.places
        return self.head(self.encoder(tokens)[:, 0])
