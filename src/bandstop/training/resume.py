"""The settings that a run folder holds, and whether other settings mean the same run."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from bandstop.errors import ConfigError, DataError
from bandstop.record.folder import CONFIG
from bandstop.training.config import RunConfig

__all__ = ["refuse_other_run", "stored_config"]


def stored_config(run: Path) -> RunConfig:
    """The config that a run folder holds."""
    try:
        return RunConfig.from_json((run / CONFIG).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise ConfigError(f"{run} holds no run to resume: leave out --resume to begin one") from None
    except (UnicodeDecodeError, ConfigError) as error:
        raise DataError(f"not a config of a run ({error})", path=run / CONFIG) from None


def refuse_other_run(asked: RunConfig, stored: RunConfig, run: Path) -> None:
    """Refuse to resume a run with other settings than it was begun with.

    >>> refuse_other_run(RunConfig(rate=0.9), RunConfig(rate=0.98), Path("runs/a"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    bandstop.errors.ConfigError: runs/a was begun with rate 0.98, found rate 0.9: leave that out, or ...
    """
    changed = [
        (name, old, new) for name, old, new in _differences(stored, asked) if not _derived(name, asked)
    ]
    if changed:
        before = ", ".join(f"{name} {_shown(old)}" for name, old, _ in changed)
        now = ", ".join(f"{name} {_shown(new)}" for name, _, new in changed)
        raise ConfigError(
            f"{run} was begun with {before}, found {now}: leave that out, or choose another --out for a "
            "new run"
        )


def _derived(name: str, config: RunConfig) -> bool:
    """The sizes of a small dense net are found from the budget when the run begins."""
    return config.method == "small-dense" and name.startswith("net.")


def _differences(before: Any, after: Any, prefix: str = "") -> list[tuple[str, Any, Any]]:
    found: list[tuple[str, Any, Any]] = []
    for field in dataclasses.fields(before):
        old, new = getattr(before, field.name), getattr(after, field.name)
        if dataclasses.is_dataclass(old):
            found += _differences(old, new, f"{prefix}{field.name}.")
        elif old != new:
            found.append((f"{prefix}{field.name}", old, new))
    return found


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)
