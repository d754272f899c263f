"""What is exported: a finished network and what a device must know to use it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from bandstop.record.rejection import Rejection
from bandstop.skeleton.normalise import Normaliser

__all__ = ["AS_TRAINED", "DeployModel", "kept_connections"]

AS_TRAINED = "as in the training data"


@dataclass(frozen=True)
class DeployModel:
    """A finished network (plain modules, pruned weights exactly zero) with what goes beside it on a device.

    >>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2)).eval()
    >>> model = DeployModel(net, normaliser=None, class_names=("left", "right"), input_shape=(2,))
    >>> model.shape, model.kept
    ((2,), 12)
    """

    net: nn.Module
    """The network, in evaluation mode."""
    normaliser: Normaliser | None
    """How raw joints become the network's input; None for a network that takes its input as it is."""
    class_names: tuple[str, ...]
    """One name per output of the network."""
    joint_names: tuple[str, ...] = ()
    """Names of the joints, in the order in which a device gives them."""
    units: str = AS_TRAINED
    """Units of raw joints, said in the header."""
    macs: int | None = None
    """Multiply-accumulates of the kept connections, as `bandstop.trace` counts them; None: not counted."""
    input_shape: tuple[int, ...] = ()
    """Shape of one input without the batch; only needed where there is no normaliser."""
    rejection: Rejection | None = None
    """How it says "none of these"; None: it always names a class."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one input, without the batch."""
        if self.normaliser is None:
            return self.input_shape
        return len(self.normaliser.node_scale), self.normaliser.values

    @property
    def example(self) -> Tensor:
        """An input of zeros, with its batch dimension."""
        return torch.zeros(1, *self.shape)

    @property
    def kept(self) -> int:
        """Kept connections of the network; see `kept_connections`."""
        return kept_connections(self.net)

    @property
    def size_text(self) -> str:
        """The network's size in words; a program of it may store more or fewer weights."""
        macs = "" if self.macs is None else f", {self.macs} multiply-accumulates"
        return f"{self.kept} kept connections{macs}"


def kept_connections(net: nn.Module) -> int:
    """Entries of the weight matrices that are not exactly zero; biases and normalisations do not count.

    >>> kept_connections(nn.Linear(3, 2))
    6
    """
    return sum(int(torch.count_nonzero(p)) for p in net.parameters() if p.ndim > 1)
