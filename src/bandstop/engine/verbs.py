"""What a training loop may tell any method, and most methods do not need to know."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from bandstop.engine.planned import PlannedBudget

__all__ = ["Verbs"]


class Verbs:
    """Base of the pruner and of all rivals: verbs with nothing to do unless a method says otherwise.

    A loop can call them without asking which method it trains.
    """

    def bind(self, optimiser: torch.optim.Optimizer) -> None:
        """Call once with the optimiser, for methods that reset its momentum."""

    def prepare(self, loss_fn: Callable[[], Tensor]) -> None:
        """Call once before training, for methods that prune then; ``loss_fn()`` is the loss of one batch."""

    def lr_progress(self, progress: float) -> float:
        """Where in the learning-rate schedule a moment of training stands.

        >>> Verbs().lr_progress(0.25)
        0.25
        """
        return progress

    def planned(self) -> PlannedBudget | None:
        """How many connections each layer will keep, of methods that know it before training."""
        return None

    def asked_rate(self) -> float | None:
        """The rate that a schedule asks for at present, of methods that have one, for the log."""
        return None

    def kl(self) -> float | None:
        """``KL(P‖Q)`` for the log, of methods that have a prior."""
        return None
