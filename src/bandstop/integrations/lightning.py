"""A Lightning callback: attach at the start of fit, add the penalty, step, finalize at the end.

```python
class Net(lightning.LightningModule):
    def configure_optimizers(self):
        return torch.optim.AdamW(parameter_groups(self, lr=3e-3))  # one plain group without the callback

Trainer(max_epochs=30, callbacks=[PruningCallback(0.98)]).fit(net, loader)
net  # plain again: exactly the asked connections, exact zeros elsewhere
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor, nn

from bandstop.engine.pruner import Pruner
from bandstop.engine.recipe import Recipe
from bandstop.engine.remarks import check_groups
from bandstop.errors import ConfigError, MissingExtra
from bandstop.integrations.groups import parameter_groups, remember
from bandstop.method.budget import Budget

try:
    from lightning.pytorch import Callback, LightningModule, Trainer
except ImportError:
    raise MissingExtra("lightning", extra="lightning") from None

__all__ = ["PruningCallback", "parameter_groups"]


class PruningCallback(Callback):
    """Trains the module to ``budget`` within one ``fit``.

    The schedules span the optimiser steps that the trainer will take; give ``steps`` where it cannot know
    them (manual optimisation, training without an end). Checkpoints written during ``fit`` hold the latents
    and resume in mid-schedule; after ``fit`` the module is plain, and so is what is saved of it.
    """

    def __init__(
        self,
        budget: Budget | float,
        *,
        steps: int | None = None,
        recipe: Recipe | None = None,
        layers: Iterable[str] | Callable[[str, nn.Parameter], bool] | None = None,
        example: Any = None,
    ) -> None:
        self.budget, self.steps, self.recipe = budget, steps, recipe
        self.layers, self.example = layers, example
        self.pruner: Pruner | None = None

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Attach before the optimiser is configured and before a checkpoint is loaded."""
        if stage != "fit" or self.pruner is not None:
            return
        choice = {"recipe": self.recipe, "layers": self.layers, "example": self.example}
        # How many steps there will be is known only once the data are there: on_train_start.
        self.pruner = Pruner(pl_module, self.budget, steps=self.steps or 1, **choice)
        remember(pl_module, self.pruner)
        if pl_module.automatic_optimization:
            plain_step = pl_module.training_step

            def training_step(*args: Any, **kwargs: Any) -> Any:
                return self._with_penalty(plain_step(*args, **kwargs))

            pl_module.training_step = training_step  # type: ignore[method-assign]

    def _with_penalty(self, output: Any) -> Any:
        """The loss plus ``λ·KL``, so that scaling, accumulation and clipping treat them alike."""
        if self.pruner is None or output is None:
            return output
        penalty = self.pruner.penalty()
        if isinstance(output, Tensor):
            return output + penalty
        return {**output, "loss": output["loss"] + penalty}

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Fit the schedules to the length of training."""
        pruner = self._attached()
        if self.steps is None:
            expected = trainer.estimated_stepping_batches
            if expected in (float("inf"), -1):
                raise ConfigError(
                    "a budget needs a training with an end: give the trainer max_epochs, or steps=… here"
                )
            pruner.steps = int(expected)
        for optimiser in trainer.optimizers:
            check_groups(pruner, optimiser)

    def on_train_batch_end(self, trainer: Trainer, pl_module: LightningModule, *_: Any) -> None:
        """Move on by as many optimiser steps as were taken: none while gradients accumulate."""
        pruner = self._attached()
        while pruner.taken < trainer.global_step // max(1, len(trainer.optimizers)):
            pruner.step()
        pl_module.log_dict({"kept": float(pruner.kept), "kl_weight": pruner.kl_weight}, batch_size=1)

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Give the plain module back, at exactly the budget, however early training ended."""
        self._attached().finalize()
        pl_module.__dict__.pop("training_step", None)
        self.pruner = None

    def state_dict(self) -> dict[str, Any]:
        """Where the schedules stand; the rest is in the module's own state."""
        return {} if self.pruner is None else {"pruner": self.pruner.state_dict()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take up a checkpoint."""
        if "pruner" in state_dict and self.pruner is not None:
            self.pruner.load_state_dict(state_dict["pruner"])

    def _attached(self) -> Pruner:
        if self.pruner is None:
            raise ConfigError("this callback's training is over: make a new PruningCallback for another fit")
        return self.pruner
