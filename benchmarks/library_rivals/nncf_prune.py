"""NNCF: nncf.prune by global magnitude, and by regularised random masks (RB)."""

from __future__ import annotations

from typing import Any

import nncf
from nncf.torch.function_hook.pruning.magnitude.schedulers import ExponentialMagnitudePruningScheduler
from nncf.torch.function_hook.pruning.rb.losses import RBLoss
from nncf.torch.function_hook.pruning.rb.schedulers import ExponentialRBPruningScheduler
from rival import RATES, Rival
from torch import Tensor, nn

# NNCF's schedules count epochs; updates as often as this spread its exponential ramp over the training.
EPOCHS = 50


class Root(nn.Module):
    """NNCF keeps its hooks as a child of the model,
    which a bare nn.Sequential would call as one of its layers.
    """

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x)


class NncfMagnitude(Rival):
    """Trials: learning rate, and the end of the exponential ramp."""

    trials = tuple({"lr": lr, "end": end} for lr in RATES for end in (0.4, 0.6, 0.8))
    package = "nncf"
    writes = "the dense state dict with zeros after nncf.strip, torch.save"
    mode = nncf.PruneMode.UNSTRUCTURED_MAGNITUDE_GLOBAL

    def attach(self) -> None:
        self.net = nncf.prune(Root(self.net), self.mode, ratio=0.0, examples_inputs=self.example)
        self.scheduler = ExponentialMagnitudePruningScheduler(self.net, mode=self.mode, **self.ramp())

    def ramp(self) -> dict[str, float]:
        """NNCF's schedule in its own words."""
        return {
            "initial_ratio": 0.0,
            "target_ratio": self.rate,
            "target_epoch": round(self.setting["end"] * EPOCHS),
        }

    def step(self) -> None:
        super().step()
        if self.taken % max(1, self.steps // EPOCHS) == 0:
            self.scheduler.step()

    def finalize(self) -> nn.Module:
        return nncf.strip(self.net, do_copy=False, strip_format=nncf.StripFormat.IN_PLACE)


class NncfRB(NncfMagnitude):
    """Trials: learning rate, and the learning rate of the masks, which start far from being cut."""

    trials = tuple({"lr": lr, "mask_lr": mask, "end": 0.6} for lr in RATES for mask in (0.03, 0.1, 0.3))
    mode = nncf.PruneMode.UNSTRUCTURED_REGULARIZATION_BASED

    def attach(self) -> None:
        self.net = nncf.prune(Root(self.net), self.mode, examples_inputs=self.example)
        self.loss = RBLoss(self.net, target_ratio=0.0)
        self.scheduler = ExponentialRBPruningScheduler(self.loss, **self.ramp())

    def groups(self) -> list[dict[str, Any]]:
        masks = {id(p): p for n, p in self.net.named_parameters() if n.endswith(".mask")}
        groups = super().groups()
        for group in groups:
            group["params"] = [p for p in group["params"] if id(p) not in masks]
        return [*groups, {"params": list(masks.values()), "lr": self.setting["mask_lr"], "weight_decay": 0.0}]

    def penalty(self) -> Tensor:
        return self.loss()
