"""Which recogniser, as settings: no torch, so that a help text can read them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from bandstop.errors import ConfigError
from bandstop.record.fields import check_fields, number

__all__ = ["Adjacency", "Combine", "NetConfig"]

Adjacency = Literal["skeleton", "free", "fixed"]
Combine = Literal["sum", "concat"]

OWN = {
    "gcn": ("channels", "heads", "filters", "combine", "dense", "adjacency"),
    "lstm": ("hidden", "layers"),
    "tcn": ("widths", "kernels", "strides"),
}
"""Settings that only one kind of network reads."""


@dataclass(frozen=True)
class NetConfig:
    """Which recogniser, and its sizes.

    >>> NetConfig(kind="gcn", heads=0)
    Traceback (most recent call last):
        ...
    bandstop.errors.ConfigError: net.heads must be at least 1, found 0

    A setting that this kind of network would not read is refused, not passed over.

    >>> NetConfig(heads=4)
    Traceback (most recent call last):
        ...
    bandstop.errors.ConfigError: net.heads is for net.kind gcn, found tcn: leave it out, or choose gcn
    """

    kind: Literal["gcn", "lstm", "tcn"] = "tcn"
    """Convolutions over time, graph convolution (the paper's), or an LSTM over poses."""
    channels: int = number(16, 1)
    """GCN: channels of the node encoder."""
    heads: int = number(8, 1)
    """GCN: adjacency ("attention") heads."""
    filters: int = number(32, 1)
    """GCN: filters of each head."""
    combine: Combine = "concat"
    """GCN: heads concatenated (251 k weights on FPHA) or summed (39 k)."""
    dense: int = number(0, 0)
    """GCN: width of a dense layer before the classifier; 0 for none."""
    adjacency: Adjacency = "skeleton"
    """GCN: learned from the skeleton, learned from noise (free), or fixed handcrafted."""
    hidden: int = number(100, 1)
    """LSTM: hidden units."""
    layers: int = number(1, 1)
    """LSTM: stacked layers."""
    widths: tuple[int, ...] = (96, 160, 192)
    """TCN: channels of each convolution over time."""
    kernels: tuple[int, ...] = (1, 5, 5)
    """TCN: how many moments each convolution sees at once."""
    strides: tuple[int, ...] = (1, 2, 1)
    """TCN: by how many moments each convolution moves on."""
    dropout: float | None = None
    """Dropout before each dense layer, 0 to below 1. Unless given: 0.3 in a dense training; 0.2 in a
    pruned one up to 98 %, none beyond; none with a rival."""

    def __post_init__(self) -> None:
        check_fields(self, "net.")
        self._require_own()
        if self.dropout is not None and not 0 <= self.dropout < 1:
            raise ConfigError(f"net.dropout must be in [0, 1), found {self.dropout}")
        for name in ("widths", "kernels", "strides"):
            sizes = getattr(self, name)
            if not sizes or min(sizes) < 1:
                raise ConfigError(f"net.{name} must hold numbers of at least 1, found {list(sizes)}")
            if len(sizes) != len(self.widths):
                raise ConfigError(
                    f"net.widths and net.{name} must hold as many numbers, found {len(self.widths)} and "
                    f"{len(sizes)}"
                )

    def _require_own(self) -> None:
        defaults = {field.name: field.default for field in fields(self)}
        foreign = [(kind, name) for kind, names in OWN.items() for name in names if kind != self.kind]
        for kind, name in foreign:
            if getattr(self, name) != defaults[name]:
                found = f"net.{name} is for net.kind {kind}, found {self.kind}"
                raise ConfigError(f"{found}: leave it out, or choose {kind}")
