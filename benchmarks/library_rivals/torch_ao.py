"""torch.ao.pruning: WeightNormSparsifier with single weights as blocks and CubicSL;
every layer at the same rate.

Its masks have two dimensions, so that convolutions cannot be pruned (they are left dense).
"""

from __future__ import annotations

from rival import RATES, Rival
from torch import nn
from torch.ao.pruning import CubicSL, WeightNormSparsifier


class TorchAO(Rival):
    """Trials: learning rate, and the end of the cubic ramp."""

    trials = tuple({"lr": lr, "end": end} for lr in RATES for end in (0.4, 0.6, 0.8))
    writes = "the dense state dict with zeros after squash_mask, torch.save"
    every = 10

    def attach(self) -> None:
        self.sparsifier = WeightNormSparsifier(sparsity_level=self.rate, sparse_block_shape=(1, 1))
        names = [{"tensor_fqn": n} for n, p in self.net.named_parameters() if p.ndim == 2]
        self.sparsifier.prepare(self.net, config=names)
        updates = round(self.setting["end"] * self.steps / self.every)
        self.scheduler = CubicSL(self.sparsifier, init_sl=0.0, init_t=0, delta_t=1, total_t=updates)

    def step(self) -> None:
        super().step()
        if self.taken % self.every == 0 and self.taken <= self.setting["end"] * self.steps + self.every:
            self.scheduler.step()
            self.sparsifier.step()

    def finalize(self) -> nn.Module:
        self.sparsifier.squash_mask()
        return self.net
