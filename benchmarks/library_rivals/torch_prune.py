"""torch.nn.utils.prune: train dense, cut once by global magnitude,
fine-tune with a learning-rate schedule of its own.
"""

from __future__ import annotations

from rival import RATES, Rival
from torch import nn
from torch.nn.utils import prune


class TorchPrune(Rival):
    """Trials: learning rate, and the share of training before the cut."""

    trials = tuple({"lr": lr, "dense": share} for lr in RATES for share in (0.3, 0.5, 0.7))
    writes = "the dense state dict with zeros after prune.remove, torch.save"

    def attach(self) -> None:
        self.places = [
            (module, "weight")
            for module in self.net.modules()
            if getattr(module, "weight", None) is not None and module.weight.ndim >= 2
        ]
        self.cut = round(self.setting["dense"] * self.steps)

    def step(self) -> None:
        super().step()
        if self.taken == self.cut:
            prune.global_unstructured(self.places, pruning_method=prune.L1Unstructured, amount=self.rate)

    def lr_progress(self, progress: float) -> float:
        share = self.cut / self.steps
        return progress / share if progress <= share else (progress - share) / (1 - share)

    def finalize(self) -> nn.Module:
        for module, name in self.places:
            prune.remove(module, name)
        return self.net
