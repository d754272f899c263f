"""A Hugging Face Trainer callback: attach, give the optimiser its groups, finalize at the end.

```python
callback = PruningCallback(model, 0.98)
optimizers = (callback.optimiser(args), None)
trainer = Trainer(model, args, train_dataset=data, callbacks=[callback], optimizers=optimizers)
trainer.train()
trainer.save_model()  # plain: exactly the asked connections, exact zeros elsewhere
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

import torch
from torch import nn

from bandstop.engine.pruner import Pruner
from bandstop.engine.recipe import Recipe
from bandstop.engine.remarks import check_groups
from bandstop.errors import ConfigError, MissingExtra
from bandstop.method.budget import Budget

try:
    from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments
except ImportError:
    raise MissingExtra("transformers", extra="transformers") from None

__all__ = ["PruningCallback"]

_STATE = "bandstop"


class PruningCallback(TrainerCallback):
    """Trains ``model`` to ``budget`` within one ``train()``; attached as soon as it is made.

    The penalty's gradient is put in place once before the first part of every batch, so that the optimiser
    sees ``∇(mean loss + λ·KL)`` whatever the number of parts, and clipping sees both. Checkpoints written
    during training hold the latents and resume in mid-schedule; after ``train()`` the model is plain.
    """

    def __init__(
        self,
        model: nn.Module,
        budget: Budget | float,
        *,
        recipe: Recipe | None = None,
        layers: Iterable[str] | Callable[[str, nn.Parameter], bool] | None = None,
        example: Any = None,
    ) -> None:
        # The trainer knows how many steps there will be when it begins: on_train_begin.
        self.pruner = Pruner(model, budget, steps=1, recipe=recipe, layers=layers, example=example)
        self._declared = getattr(model, "_tied_weights_keys", None)
        # Saving refuses shared tensors that are not declared: latents of tied weights are shared under new
        # names.
        self._declare(model, {**(self._declared or {}), **_tied_latents(model, self.pruner)})

    def optimiser(self, args: TrainingArguments, *, latent_lr: float | None = None) -> torch.optim.AdamW:
        """AdamW with the pruner's groups and the arguments' learning rate, decay, betas and epsilon."""
        groups = self.pruner.parameter_groups(
            args.learning_rate, latent_lr=latent_lr, weight_decay=args.weight_decay
        )
        betas = (args.adam_beta1, args.adam_beta2)
        return torch.optim.AdamW(groups, lr=args.learning_rate, betas=betas, eps=args.adam_epsilon)

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Fit the schedules to the length of training, and take up a checkpoint's place in them."""
        if args.load_best_model_at_end:
            raise ConfigError(
                "the best checkpoint may be from before the budget was reached: set "
                "load_best_model_at_end=False"
            )
        if args.fp16 and any(self.pruner.recipe.kl(p / 100) for p in range(100)):
            raise ConfigError(
                "the KL penalty does not know fp16's loss scale: train in bf16, or with kl=Window(0.0)"
            )
        self.pruner.steps = state.max_steps
        if _STATE in (kept := _kept_by(state)):
            self.pruner.load_state_dict(kept[_STATE])
        check_groups(self.pruner, kwargs["optimizer"])

    def on_step_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Add the penalty's gradient, not through ``backward``, which would start a distributed exchange."""
        penalty = self.pruner.penalty()
        if not penalty.requires_grad:  # no KL in the loss of this step
            return
        latents = [layer.latent for layer in self.pruner.layers]
        for latent, slope in zip(latents, torch.autograd.grad(penalty, latents), strict=True):
            latent.grad = slope if latent.grad is None else latent.grad + slope

    def on_optimizer_step(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Move the schedules on, and leave word of it in the state that checkpoints keep."""
        self.pruner.step()
        _kept_by(state)[_STATE] = self.pruner.state_dict()

    def on_log(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Add what is kept to the log."""
        if state.log_history:
            state.log_history[-1] |= {"kept": self.pruner.kept, "kl_weight": self.pruner.kl_weight}

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Give the plain model back, at exactly the budget, however early training ended."""
        model = self.pruner.finalize()
        self._declare(model, self._declared)
        _kept_by(state).pop(_STATE, None)

    @staticmethod
    def _declare(model: Any, keys: Any) -> None:
        model._tied_weights_keys = keys


def _kept_by(state: TrainerState) -> dict[str, Any]:
    """What the trainer's checkpoints keep for callbacks (declared as a list, used as a dict)."""
    return cast("dict[str, Any]", state.stateful_callbacks)


def _tied_latents(model: nn.Module, pruner: Pruner) -> dict[str, str]:
    """Names (as patterns) of the second and later owners of each tied latent, with that of the first."""
    names = {id(module): name for name, module in model.named_modules()}
    found: dict[str, str] = {}
    for layer in pruner.layers:
        first, *others = (f"{names[id(m)]}.parametrizations.{attribute}" for m, attribute in layer.owners)
        found |= dict.fromkeys(others, first)
    return found
