"""bandstop with free latents, which was its default recipe when the libraries were compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rival import RATES, WEIGHT_DECAY, Rival
from torch import Tensor, nn

from bandstop import Pruner, Recipe
from bandstop.deploy import save_sparse


class Bandstop(Rival):
    """Trials: learning rates of the plain parameters and of the latents."""

    trials = tuple({"lr": lr, "latent_lr": latent} for lr in RATES for latent in (0.05, 0.1, 0.2))
    package = "bandstop"
    writes = "kept values (float32) and coded places, safetensors"

    def attach(self) -> None:
        recipe = Recipe.empirical()
        self.pruner = Pruner(self.net, self.rate, steps=self.steps, recipe=recipe, example=self.example)

    def groups(self) -> list[dict[str, Any]]:
        return self.pruner.parameter_groups(
            self.setting["lr"], latent_lr=self.setting["latent_lr"], weight_decay=WEIGHT_DECAY
        )

    def penalty(self) -> Tensor:
        return self.pruner.penalty()

    def step(self) -> None:
        self.pruner.step()

    def finalize(self) -> nn.Module:
        return self.pruner.finalize()

    def save(self, net: nn.Module, path: Path) -> None:
        save_sparse(net.state_dict(), path)
