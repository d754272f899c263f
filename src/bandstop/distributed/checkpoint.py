"""Checkpoints of a pruned training (``torch.distributed.checkpoint``), resumed on any number of ranks.

    folder/step-00000400/     each rank's part of latents, masks, thresholds, gains, the optimiser's state
    folder/step-00000800/     …

A checkpoint is written beside its final name and moved there when all ranks are done: what has a name is
whole. Numbers and names go into it as JSON; nothing of ours is pickled.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, distributed, nn

from bandstop.distributed.agreement import require_agreement
from bandstop.engine.pruner import Pruner
from bandstop.engine.shards.tensor import reshard
from bandstop.errors import ConfigError, DataError

if TYPE_CHECKING:
    from torch.optim import Optimizer

__all__ = ["last_checkpoint", "load_checkpoint", "save_checkpoint"]

_NOTES = "notes"


def save_checkpoint(
    folder: str | Path,
    pruner: Pruner,
    optimiser: Optimizer,
    *,
    extra: dict[str, Any] | None = None,
    keep: int = 2,
) -> Path:
    """Save model, pruner and optimiser after ``pruner.taken`` steps; the ``keep`` newest checkpoints stay.

    ``extra`` holds whatever else resuming needs, in JSON's types. Every rank must call it. Ranks whose masks
    or thresholds differ are refused.
    """
    from torch.distributed.checkpoint.state_dict_saver import save

    if keep < 1:
        raise ConfigError(f"at least one checkpoint must be kept, found keep={keep}")
    require_agreement(pruner)
    reshard(pruner.model)
    final = Path(folder) / f"step-{pruner.taken:08d}"
    part = final.with_suffix(".part")
    names: dict[Tensor, str] = {parameter: name for name, parameter in pruner.model.named_parameters()}
    tensors, notes = _tensors(pruner.model, optimiser, names)
    notes.update(pruner=pruner.state_dict(), extra=extra or {})
    tensors[_NOTES] = _as_bytes(notes)
    if _first():
        final.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(part, ignore_errors=True)
    _barrier()
    save(tensors, checkpoint_id=part)
    if _first():
        shutil.rmtree(final, ignore_errors=True)
        part.rename(final)
        for old in _checkpoints(Path(folder))[:-keep]:
            shutil.rmtree(old, ignore_errors=True)
    _barrier()
    return final


def load_checkpoint(folder: str | Path, pruner: Pruner, optimiser: Optimizer) -> dict[str, Any] | None:
    """Continue from the newest checkpoint in ``folder``; returns its ``extra``, or None if there is none.

    Build model, pruner, wrapping and optimiser as for a new run, then load. The number of ranks may be
    another one.
    """
    from torch.distributed.checkpoint.filesystem import FileSystemReader
    from torch.distributed.checkpoint.state_dict_loader import load

    path = last_checkpoint(folder, device=pruner.layers[0].latent.device)
    if path is None:
        return None
    reshard(pruner.model)
    try:
        stored = FileSystemReader(path).read_metadata().state_dict_metadata
    except (OSError, EOFError, ValueError) as error:
        raise DataError(f"not a readable checkpoint ({error})", path=path) from None
    buffer = {_NOTES: torch.zeros(_size(stored, _NOTES, path), dtype=torch.uint8)}
    load(buffer, checkpoint_id=path)
    notes = json.loads(bytes(buffer[_NOTES].tolist()))
    if list(notes["pruner"]["counts"]) != [layer.name for layer in pruner.layers]:
        raise DataError(
            f"the checkpoint prunes {', '.join(notes['pruner']['counts'])}, this pruner "
            f"{', '.join(layer.name for layer in pruner.layers)}",
            path=path,
            hint="build the same model and pruner as before",
        )
    pruner.load_state_dict(notes["pruner"])
    parameters = dict(pruner.model.named_parameters())
    _make_room(optimiser, parameters, stored, path)
    names: dict[Tensor, str] = {parameter: name for name, parameter in parameters.items()}
    tensors, _ = _tensors(pruner.model, optimiser, names)
    for name, tensor in tensors.items():
        if _size(stored, name, path) != tensor.shape:
            raise DataError(
                f"{name} has the shape {tuple(_size(stored, name, path))} in the checkpoint and "
                f"{tuple(tensor.shape)} here",
                path=path,
                hint="build the same model and pruner as before",
            )
    load(tensors, checkpoint_id=path)
    _restore_settings(optimiser, notes, names, path)
    for layer in (
        pruner.layers
    ):  # whole latents are masked where they are used, sharded ones hold the zeros themselves
        layer.hold()
    extra: dict[str, Any] = notes["extra"]
    return extra


def last_checkpoint(folder: str | Path, device: torch.device | None = None) -> Path | None:
    """The newest checkpoint in ``folder`` as the first rank sees it, or none."""
    found = _checkpoints(Path(folder))
    step = torch.tensor(int(found[-1].name.removeprefix("step-")) if found else -1, device=device)
    if distributed.is_available() and distributed.is_initialized():
        distributed.broadcast(step, src=0)
    return Path(folder) / f"step-{int(step):08d}" if int(step) >= 0 else None


def _checkpoints(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("step-*") if re.fullmatch(r"step-\d{8,}", path.name))


def _tensors(
    model: nn.Module, optimiser: Optimizer, names: Mapping[Tensor, str]
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Every tensor of the training's state by name (the memory itself), and the optimiser's settings."""
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    numbers: dict[str, dict[str, Any]] = {}
    for parameter, state in optimiser.state.items():
        for key, value in state.items():
            if isinstance(value, Tensor):
                tensors[f"optimiser.{names[parameter]}.{key}"] = value
            elif value is not None:
                numbers.setdefault(names[parameter], {})[key] = value
    groups = [
        {key: float(value) if isinstance(value, Tensor) else value for key, value in group.items()}
        | {"params": [names[parameter] for parameter in group["params"]]}
        for group in optimiser.param_groups
    ]
    return tensors, {"groups": groups, "numbers": numbers}


def _make_room(
    optimiser: Optimizer, parameters: dict[str, nn.Parameter], stored: dict[str, Any], path: Path
) -> None:
    """Tensors for the state that the optimiser of the checkpoint had, sharded like their parameters."""
    optimiser.state.clear()
    for full in stored:
        name, _, key = full.removeprefix("optimiser.").rpartition(".")
        if not full.startswith("optimiser."):
            continue
        if name not in parameters:
            raise DataError(
                f"the checkpoint has an optimiser's state for {name}, which is no parameter here",
                path=path,
                hint="build the same model and pruner as before",
            )
        parameter, size = parameters[name], _size(stored, full, path)
        dtype = stored[full].properties.dtype
        state = optimiser.state[parameter]
        if size == parameter.shape and key != "step":
            state[key] = torch.zeros_like(parameter, dtype=dtype, requires_grad=False)
        else:
            state[key] = torch.zeros(size, dtype=dtype)


def _restore_settings(
    optimiser: Optimizer, notes: dict[str, Any], names: Mapping[Tensor, str], path: Path
) -> None:
    groups = [[names[parameter] for parameter in group["params"]] for group in optimiser.param_groups]
    if [group["params"] for group in notes["groups"]] != groups:
        raise DataError(
            "the optimiser of the checkpoint has other parameter groups than this one",
            path=path,
            hint="build the optimiser as before",
        )
    for group, saved in zip(optimiser.param_groups, notes["groups"], strict=True):
        for key, value in saved.items():
            if key == "params":
                continue
            if isinstance(group.get(key), Tensor):
                group[key].fill_(value)
            else:
                group[key] = tuple(value) if isinstance(value, list) else value
    parameters = {name: parameter for parameter, name in names.items()}
    for name, state in notes["numbers"].items():
        optimiser.state[parameters[name]].update(state)


def _as_bytes(notes: dict[str, Any]) -> Tensor:
    try:
        text = json.dumps(notes)
    except TypeError as error:
        raise ConfigError(
            "extra and the optimiser's settings must be of JSON's types (numbers, strings, lists, dicts): "
            f"{error}"
        ) from None
    return torch.tensor(list(text.encode()), dtype=torch.uint8)


def _size(stored: dict[str, Any], name: str, path: Path) -> torch.Size:
    if name not in stored:
        raise DataError(
            f"the checkpoint does not hold {name}", path=path, hint="build the same model as before"
        )
    size: torch.Size = stored[name].size
    return size


def _first() -> bool:
    return not (distributed.is_available() and distributed.is_initialized()) or distributed.get_rank() == 0


def _barrier() -> None:
    if distributed.is_available() and distributed.is_initialized():
        distributed.barrier()
