"""The training loop: one object holds all that changes, so that it can be saved and resumed bit for bit."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bandstop.errors import DivergenceError, TrainingError
from bandstop.training.config import RunConfig
from bandstop.training.data import TrainingData
from bandstop.training.distil import Teacher, distillation, soft_target
from bandstop.training.lr import PaperRule, cosine
from bandstop.training.measure import accuracy, predict
from bandstop.training.method import Layers, StepResult, make_method

__all__ = ["Trainer"]

MOMENTS = 50
"""How often a validation part is judged during training, at most."""


class Trainer:
    """Trains ``net`` on ``data`` as ``config`` says, an epoch at a time."""

    def __init__(
        self,
        config: RunConfig,
        net: nn.Module,
        data: TrainingData,
        teachers: Sequence[Teacher] = (),
    ) -> None:
        self.config, self.net, self.data, self.teachers = config, net, data, teachers
        self.batches = max(1, round(len(data.table) / config.optim.batch))
        self.method = make_method(config, net, config.epochs * self.batches, data.judge_signals[:1])
        optim = config.optim
        groups = self.method.parameter_groups(
            optim.lr, latent_lr=optim.latent_lr, weight_decay=optim.weight_decay
        )
        for group in groups:
            group["top_lr"] = group["lr"]
        kind = torch.optim.AdamW if optim.kind == "adamw" else torch.optim.Adam
        self.optimiser = kind(groups, lr=optim.lr, betas=(0.9, 0.999), fused=True)
        self.method.bind(self.optimiser)
        self.rule = PaperRule(optim.rule) if optim.rule.startswith("paper") else None
        self.generator = torch.Generator().manual_seed(config.seed * 1_000_003 + 17)
        self.epoch, self.seconds = 0, 0.0
        self.average: dict[str, Tensor] = {}

    @property
    def finished(self) -> bool:
        """Whether all epochs are done."""
        return self.epoch >= self.config.epochs

    def run_epoch(self) -> dict[str, Any]:
        """One pass over the training set; returns what the log keeps of it."""
        began = time.perf_counter()
        self.net.train()
        signals, labels = self.data.epoch(self.config.augment, self.generator)
        totals = torch.zeros(3)
        batches = list(
            zip(signals.tensor_split(self.batches), labels.tensor_split(self.batches), strict=True)
        )
        if self.epoch == 0:
            first, first_labels = batches[0]
            self.method.prepare(lambda: F.cross_entropy(self.net(first), first_labels))
        for place, (part, truth) in enumerate(batches):
            factor = self._learning_rate(self.epoch + place / self.batches)
            totals += torch.stack(list(self._step(part, truth)))
        loss, penalty = totals[:2].div(self.batches).tolist()
        if not (math.isfinite(loss) and all(bool(p.isfinite().all()) for p in self.net.parameters())):
            raise self._diverged("the loss or a weight is not a number")
        if self.rule is not None:
            self.rule(loss)
        self.epoch += 1
        self.seconds += time.perf_counter() - began
        return {
            "epoch": self.epoch,
            "loss": round(loss, 6),
            "penalty": round(penalty, 6),
            "train_accuracy": round(float(totals[2]) / len(labels) * 100, 3),
            "validation_accuracy": self._validation_accuracy(),
            "kl": self.method.kl(),
            "asked": self.method.asked_rate(),
            "rate": round(self.method.rate, 6),
            "kept": self.method.kept,
            "lr": self.config.optim.lr * factor,
            "seconds": round(self.seconds, 3),
        }

    def _diverged(self, what: str) -> TrainingError:
        return TrainingError(
            f"{what} in epoch {self.epoch + 1}; the last good checkpoint is kept: start again in another "
            "folder with a lower learning rate (--optim.lr, --optim.latent-lr)"
        )

    def _validation_accuracy(self) -> float | None:
        """In per cent, some dozens of times in a training with a validation part."""
        every = max(1, self.config.epochs // MOMENTS)
        if not self.config.validation or self.epoch % every:
            return None
        return accuracy(self.data.judge_labels, predict(self.net, self.data.judge_signals))

    def _learning_rate(self, epoch: float) -> float:
        if self.rule is not None:
            factor = self.rule.value
        elif self.config.optim.rule == "cosine":
            done = (epoch + 1 / self.batches) / self.config.epochs
            factor = cosine(
                self.method.lr_progress(done), self.config.optim.warmup, 0.005, self.config.optim.hold or 0.0
            )
        else:
            factor = 1.0
        for group in self.optimiser.param_groups:
            group["lr"] = group["top_lr"] * factor
        return factor

    def _step(self, signals: Tensor, labels: Tensor) -> StepResult:
        self.optimiser.zero_grad(set_to_none=True)
        result = self.method.backward(
            lambda: self.net(signals), lambda scores: self._fit(scores, signals, labels), labels
        )
        self.optimiser.step()
        try:
            self.method.step()
        except DivergenceError as error:  # found when the mask is fixed, before the epoch's own check
            raise self._diverged(error.found) from None
        if self.config.optim.average and self.method.settled:
            self._track_average()
        return result

    def _fit(self, scores: Tensor, signals: Tensor, labels: Tensor) -> Tensor:
        """Cross-entropy, and the divergence from the teachers where there are some."""
        fit = F.cross_entropy(scores, labels, label_smoothing=self.config.optim.smoothing)
        if not self.teachers:
            return fit
        soft, share = self.config.distill.temperature, self.config.distill.share
        target = soft_target(self.teachers, signals, soft)
        return (1 - share) * fit + share * distillation(scores, target, soft)

    @torch.no_grad()
    def _track_average(self) -> None:
        state = {k: v for k, v in self.net.state_dict().items() if v.is_floating_point()}
        if not self.average:
            self.average = {k: v.clone() for k, v in state.items()}
        else:
            names = list(state)
            torch._foreach_lerp_(
                [self.average[k] for k in names], [state[k] for k in names], 1 - self.config.optim.average
            )

    def finish(self) -> tuple[nn.Module, Layers]:
        """The finished plain network, and what is known of its layers."""
        if self.average:
            self.net.load_state_dict({**self.net.state_dict(), **self.average})
        return self.method.finish(self.data.calibration(self.config.augment))

    def state_dict(self) -> dict[str, Any]:
        """Everything that a resumed run needs to go on bit for bit."""
        return {
            "epoch": self.epoch,
            "seconds": self.seconds,
            "method": self.method.state_dict(),
            "net": dict(self.net.state_dict()),
            "optimiser": self.optimiser.state_dict()["state"],
            "average": self.average,
            "rule": self.rule.state_dict() if self.rule else {},
            "generator": self.generator.get_state(),
            "global_generator": torch.get_rng_state(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up a saved state."""
        self.epoch, self.seconds = int(state["epoch"]), float(state["seconds"])
        self.method.load_state_dict(state["method"])
        self.net.load_state_dict(state["net"])
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": state["optimiser"], "param_groups": groups})
        self.average = dict(state["average"])
        if self.rule:
            self.rule.load_state_dict(state["rule"])
        self.generator.set_state(state["generator"])
        torch.set_rng_state(state["global_generator"])
