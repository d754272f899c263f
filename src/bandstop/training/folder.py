"""The files of a run folder: opening it, taking up its checkpoint, reading what it holds."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from bandstop.errors import ConfigError, DataError
from bandstop.files import write_text
from bandstop.training.checkpoint import load_checkpoint
from bandstop.training.config import RunConfig
from bandstop.training.loop import Trainer
from bandstop.training.recogniser import MODEL_FILE

__all__ = ["CHECKPOINT", "CONFIG", "LOG", "METRICS", "cut_log", "open_folder", "read_metrics", "restore"]

CHECKPOINT, LOG, METRICS, CONFIG = "checkpoint.safetensors", "log.jsonl", "metrics.json", "config.json"


def open_folder(config: RunConfig, out: Path, resume: bool) -> RunConfig:
    """The config to run with: as asked for a new folder, as stored for a resumed one."""
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out} is a file: --out must name a folder")
    for name in (CHECKPOINT, LOG, METRICS, CONFIG, MODEL_FILE):
        for part in out.glob(f".{name}.*"):  # what a killed process was writing
            with suppress(FileNotFoundError):
                part.unlink()
    begun = (out / CONFIG).is_file()
    if begun and resume:
        return stored_config(out)
    if out.is_dir() and any(out.iterdir()):
        remedy = "add --resume to continue it, or choose another --out" if begun else "choose another --out"
        raise ConfigError(f"{out} is not empty: {remedy}")
    return config.resolved()


def stored_config(run: Path) -> RunConfig:
    """The config that a run folder holds."""
    try:
        return RunConfig.from_json((run / CONFIG).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, ConfigError) as error:
        raise DataError(f"not a config of a run ({error})", path=run / CONFIG) from None


def restore(trainer: Trainer, path: Path, fingerprint: str) -> None:
    """Take up a checkpoint, if it belongs to the same data and network."""
    state = load_checkpoint(path)
    remedy = "restore the data of the first start, or begin again in another folder"
    if state.get("data") != fingerprint:
        raise DataError("the data has changed since this run was begun", path=path, hint=remedy)
    try:
        trainer.load_state_dict(state)
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        problem = str(error).splitlines()[0]
        raise DataError(f"the checkpoint does not fit this run ({problem})", path=path, hint=remedy) from None


def cut_log(path: Path, epoch: int) -> None:
    """Forget the epochs after the checkpoint: they are done again."""
    kept = path.read_text(encoding="utf-8").splitlines()[:epoch] if path.is_file() else []
    write_text(path, "".join(line + "\n" for line in kept))


def read_metrics(run: Path) -> dict[str, Any]:
    """The metrics of a finished run."""
    try:
        metrics: dict[str, Any] = json.loads((run / METRICS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError("there is no metrics.json; is this a finished run folder?", path=run) from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"not valid JSON ({error})", path=run / METRICS) from None
    return metrics
