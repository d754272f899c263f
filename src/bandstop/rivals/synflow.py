"""SynFlow: prune before training and without data, conserving the flow of synaptic strengths."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import torch
from torch import Tensor

from bandstop.errors import ConfigError
from bandstop.rivals.masked import MaskedMethod
from bandstop.rivals.settings import Settings, number

__all__ = ["SynFlow", "SynFlowSettings"]


@dataclass(frozen=True)
class SynFlowSettings(Settings):
    """Tanaka et al. 2020."""

    rounds: int = number(100, 1)
    """Rounds of scoring and pruning; the kept share falls by equal ratios."""


class SynFlow(MaskedMethod[SynFlowSettings]):
    """Scores ``θ · ∂R/∂θ`` with ``R = 1ᵀ·f_|θ|(1)``: an input of ones through the net of absolute weights.

    The scores of a layer add up to the same for every layer, so a small layer's weights score high and,
    pruning little at a time (``K_k = n·(K/n)^{k/rounds}``), none is emptied.
    """

    def begin(self) -> None:
        """Score and prune, round by round."""
        if self.example is None:
            raise ConfigError("synflow sends ones of the input's shape through the net: give example=…")
        for round_ in range(1, self.settings.rounds + 1):
            with torch.enable_grad():
                scores = self.scores()
            self.impose(self.select(scores, self._ramp(round_ / self.settings.rounds)))
        self.freeze({layer.name: self.band(layer).mask.clone() for layer in self.layers})

    def _ramp(self, progress: float) -> float:
        """How much of the pruning applies when ``n·(K/n)^progress`` weights are left; 1 at the end."""
        if progress >= 1:
            return 1.0
        n, final = self.bound.prunable, self.remaining(1.0)
        return (n - float(n * (final / n) ** progress)) / max(n - final, 1)

    def scores(self) -> dict[str, Tensor]:
        """Synaptic flow through every weight, in float64 on a copy of the net."""
        net, layers = copy.deepcopy((self.net, self.layers))
        net.double().eval()
        with torch.no_grad():
            for tensor in (*net.parameters(), *net.buffers()):
                if tensor.is_floating_point():
                    tensor.abs_()
        ones = torch.ones_like(torch.as_tensor(self.example)[:1], dtype=torch.float64)
        latents = [layer.latent for layer in layers]
        flow_total = net(ones).sum()
        flows = torch.autograd.grad(flow_total / flow_total.detach(), latents, allow_unused=True)
        return {
            layer.name: torch.zeros_like(layer.latent)
            if flow is None
            else (flow * layer.latent).detach().abs()
            for layer, flow in zip(layers, flows, strict=True)
        }
