"""Small parameters that follow the rate: ``p(t) = p + t·s``, t from −1 (least pruned) to 1 (most).

Weights are shared by all rates, but a layer that keeps a hundredth of its connections wants another scale,
and a bias another level, than one that keeps half of them. Each such parameter gets a slope s, which starts
at zero and is trained with it.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from bandstop.engine.attach.parametrisation import BandStop, PrunedLayer
from bandstop.method.gate import Gate

__all__ = ["RateShift", "RatedBandStop", "attach_shifts", "move_to"]

Owner = tuple[nn.Module, str]


class RateShift(nn.Module):
    """``p + t·s`` of one parameter.

    >>> shift = RateShift(torch.tensor([1.0, 2.0]))
    >>> _ = shift.slope.data.fill_(0.5), shift.position.fill_(1.0)
    >>> shift(torch.tensor([1.0, 2.0])).tolist()
    [1.5, 2.5]
    """

    position: Tensor

    def __init__(self, parameter: Tensor) -> None:
        super().__init__()
        self.slope = nn.Parameter(torch.zeros_like(parameter))
        self.register_buffer("position", parameter.new_zeros(()))

    def forward(self, parameter: Tensor) -> Tensor:
        return torch.addcmul(parameter, self.slope, self.position)


class RatedBandStop(BandStop):
    """A band-stop layer whose gain follows the rate: ``g(t) = exp(ln g + t·s)``."""

    position: Tensor

    def __init__(self, gate: Gate, gain: Tensor, *, learn_gain: bool = True) -> None:
        super().__init__(gate, gain, learn_gain=learn_gain)
        self.slope = nn.Parameter(torch.zeros_like(gain))
        self.register_buffer("position", torch.zeros_like(gain))

    @property
    def gain(self) -> Tensor:
        """The layer's scale at the present rate."""
        return torch.addcmul(self.log_gain, self.slope, self.position).exp() * self.stretch


def attach_shifts(model: nn.Module) -> list[Owner]:
    """Make every plain parameter of fewer than two dimensions follow the rate; tied ones are left alone."""
    owners: dict[int, list[Owner]] = {}
    for module in model.modules():
        if isinstance(
            module, BandStop | nn.RNNBase
        ):  # recurrent layers read their biases from a list of their own
            continue
        for name, parameter in module.named_parameters(recurse=False):
            if parameter.ndim < 2 and parameter.is_floating_point() and parameter.requires_grad:
                owners.setdefault(id(parameter), []).append((module, name))
    alone = [found[0] for found in owners.values() if len(found) == 1]
    for module, name in alone:
        parametrize.register_parametrization(module, name, RateShift(getattr(module, name).detach()))
    return alone


@torch.no_grad()
def move_to(layers: list[PrunedLayer], shifts: list[Owner], position: float) -> None:
    """Set gains and shifts to ``position``."""
    for layer in layers:
        if isinstance(layer.band, RatedBandStop):
            layer.band.position.fill_(position)
    for module, name in shifts:
        shift = module.parametrizations[name][0]  # type: ignore[index]
        assert isinstance(shift, RateShift)
        shift.position.fill_(position)
