"""torchao's PAT (prototype): proximal maps inside the optimiser, with a global rate or with a lasso."""

from __future__ import annotations

import torch
from rival import RATES, Rival
from torchao.prototype.pat import PruneOptimizer


class PatRate(Rival):
    """GlobalMinSparsityConstraint on single weights, cubic ramp, then healing. Trials: learning rate,
    start of healing.
    """

    trials = tuple({"lr": lr, "healing": healing} for lr in RATES for healing in (0.5, 0.65, 0.8))
    package = "torchao"
    writes = "the dense state dict with zeros, torch.save"
    prox = "GlobalMinSparsityConstraint"

    def optimiser(self) -> torch.optim.Optimizer:
        groups = self.groups()
        groups[0] |= {
            "prox_type": self.prox,
            "group_type": "ElemGrouper",
            "min_sparsity": self.rate,
            "min_sparsity_schedule": True,
        }
        base = torch.optim.AdamW(groups, lr=self.setting["lr"])
        healing = round(self.setting["healing"] * self.steps)
        return PruneOptimizer(base, warmup_steps=round(0.1 * self.steps), healing_start_step=healing)


class PatLasso(Rival):
    """ProxLasso on single weights. It has no rate: the trials are six strengths,
    and each rate takes the nearest one.
    """

    trials = tuple({"lr": 3e-3, "strength": s} for s in (0.02, 0.04, 0.08, 0.16, 0.32, 0.64))
    package = "torchao"
    writes = "the dense state dict with zeros, torch.save"
    by_rate = True

    def optimiser(self) -> torch.optim.Optimizer:
        groups = self.groups()
        groups[0] |= {"prox_type": "ProxLasso", "group_type": "ElemGrouper"}
        base = torch.optim.AdamW(groups, lr=self.setting["lr"])
        return PruneOptimizer(
            base,
            warmup_steps=round(0.1 * self.steps),
            healing_start_step=round(0.8 * self.steps),
            reg_lambda=self.setting["strength"],
        )
