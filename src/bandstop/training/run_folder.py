"""A run's folder over its life: begun or resumed, checkpointed while it is trained, finished."""

from __future__ import annotations

import dataclasses
import platform
from contextlib import suppress
from pathlib import Path

import torch
from torch import Tensor, nn

from bandstop.errors import ConfigError, DataError
from bandstop.files import remove_leftovers, write_text
from bandstop.record.folder import CHECKPOINT, CONFIG, LATENTS, LOG, METRICS, MODEL, REPORT, read_metrics
from bandstop.record.metrics import Metrics, Mistake
from bandstop.training.config import RunConfig
from bandstop.training.data import TrainingData
from bandstop.training.loop import Trainer
from bandstop.training.measure import predict, quality, size
from bandstop.training.method import Layers, describe_method
from bandstop.training.model_file import Recogniser, load_checkpoint, save_checkpoint, save_recogniser
from bandstop.training.resume import refuse_other_run, stored_config

__all__ = ["RunFolder"]

_WRITTEN = (CONFIG, LOG, CHECKPOINT, LATENTS, MODEL, METRICS, REPORT)


@dataclasses.dataclass(frozen=True)
class RunFolder:
    """The folder of one run, and the run's steps on disk in their order."""

    path: Path

    def begin(self, config: RunConfig, *, resumable: bool = True) -> RunConfig:
        """The config of a new run; the folder must be new or empty, and stays so until `write_config`.

        ``resumable``: whether the caller's verb has `--resume`.
        """
        self._clean()
        if self.path.is_dir() and any(self.path.iterdir()):
            begun = resumable and (self.path / CONFIG).is_file()
            remedy = "add --resume to continue it, or " if begun else ""
            raise ConfigError(f"{self.path} is not empty: {remedy}choose another --out")
        # As a resumed run reads it, where 0 is 0.0: both write the same bytes.
        return RunConfig.from_json(config.resolved().to_json())

    def resume(self, asked: RunConfig) -> RunConfig:
        """The config of the run that the folder holds; ``asked`` must be the same run."""
        self._clean()
        stored = stored_config(self.path)
        refuse_other_run(asked.resolved(), stored, self.path)
        return stored

    def _clean(self) -> None:
        """Remove what a killed process was writing."""
        if self.path.exists() and not self.path.is_dir():
            raise ConfigError(f"{self.path} is a file: --out must name a folder")
        for name in _WRITTEN:
            remove_leftovers(self.path / name)

    @property
    def begun(self) -> bool:
        """Whether there is a run to resume."""
        return (self.path / CONFIG).is_file()

    @property
    def finished(self) -> Metrics | None:
        """The metrics of a finished run; none while it is not finished."""
        return read_metrics(self.path) if (self.path / METRICS).is_file() else None

    def write_config(self, config: RunConfig) -> None:
        """From here on the folder holds a run."""
        write_text(self.path / CONFIG, config.to_json())

    def save(self, trainer: Trainer, digest: str) -> None:
        """A checkpoint: everything that changes, and which data it belongs to."""
        save_checkpoint(self.path / CHECKPOINT, {"data": digest, **trainer.state_dict()})

    def restore(self, trainer: Trainer, digest: str) -> None:
        """Go on from the checkpoint of this run, data and network, or write the first one."""
        path = self.path / CHECKPOINT
        if not path.is_file():
            self.save(trainer, digest)
        else:
            _load(trainer, path, digest)
        self._cut_log(trainer.epoch)

    def _cut_log(self, epoch: int) -> None:
        """Forget the epochs after the checkpoint: they are done again."""
        log = self.path / LOG
        try:
            lines = log.read_text(encoding="utf-8").splitlines()[:epoch] if log.is_file() else []
        except UnicodeDecodeError:
            hint = "remove it to go on without what it says"
            raise DataError("must be UTF-8 text and is not", path=log, hint=hint) from None
        write_text(log, "".join(line + "\n" for line in lines))

    def finish(self, config: RunConfig, trainer: Trainer, data: TrainingData) -> Metrics:
        """Write what a trained run leaves behind; the metrics come last, then the checkpoint goes."""
        net, layers = trainer.finish()
        latents = trainer.method.latent_state()
        if latents is not None:
            save_checkpoint(self.path / LATENTS, {"data": data.frames_digest(), **latents})
        metrics = self.write_result(config, net, data, layers, seconds=trainer.seconds)
        self.drop_checkpoint()
        return metrics

    def drop_checkpoint(self) -> None:
        """A finished run needs none; one that was killed right after its metrics still has it."""
        with suppress(FileNotFoundError):
            (self.path / CHECKPOINT).unlink()

    def write_result(
        self, config: RunConfig, net: nn.Module, data: TrainingData, layers: Layers, *, seconds: float
    ) -> Metrics:
        """Write model and metrics of a plain, finished ``net``."""
        source, pose = data.source, tuple(map(tuple, data.pose.tolist()))
        names = source.class_names, source.joint_names
        recogniser = Recogniser(net, data.normaliser, *names, config, pose)
        metrics = _metrics(config, net, data, layers, seconds)
        save_recogniser(recogniser, self.path / MODEL)
        write_text(self.path / METRICS, metrics.to_json())
        return metrics


def _load(trainer: Trainer, path: Path, digest: str) -> None:
    state = load_checkpoint(path)
    remedy = "restore the data of the first start, or begin again in another folder"
    if state.get("data") != digest:
        raise DataError("the data has changed since this run was begun", path=path, hint=remedy)
    try:
        trainer.load_state_dict(state)
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        problem = str(error).splitlines()[0]
        raise DataError(f"the checkpoint does not fit this run ({problem})", path=path, hint=remedy) from None


def _metrics(
    config: RunConfig, net: nn.Module, data: TrainingData, layers: Layers, seconds: float
) -> Metrics:
    measured, budget = size(net, data.judge_signals[:1], layers), config.budget
    threads, scores = f"{config.threads} thread(s)", predict(net, data.judge_signals)
    return Metrics(
        **vars(quality(data.judge_labels, scores)),
        **vars(measured),
        split=data.judged_on,
        class_names=data.source.class_names,
        mistakes=_mistakes(data, scores),
        dropped=data.dropped,
        rate_asked=budget.amount if budget is not None and budget.kind == "rate" else None,
        rate_observed=1 - measured.weights_kept / measured.weights_total,
        budget=None if config.dense else budget,
        method="dense" if config.dense else config.method,
        method_description=describe_method(config),
        prior=None if config.dense else config.prior,
        distilled_from=config.distill.teachers,
        rates=config.rates,
        extracted_from=config.extracted_from,
        joined_from=config.joined_from,
        seed=config.seed,
        epochs=config.epochs,
        seconds=round(seconds, 2),
        machine=f"{platform.machine()} {platform.system()}, torch {torch.__version__}, {threads}",
    )


def _mistakes(data: TrainingData, scores: Tensor) -> tuple[Mistake, ...]:
    names, found = data.source.class_names, scores.argmax(1).tolist()
    judged = zip(data.judge_ids, data.judge_labels.tolist(), found, strict=True)
    return tuple(
        Mistake(recording=name, truth=names[truth], found=names[taken])
        for name, truth, taken in judged
        if truth != taken
    )
