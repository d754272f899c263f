"""Checkpoints: one safetensors file (tensors, and a JSON description in its metadata), written atomically, never a pickle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from torch import Tensor

from bandstop.errors import DataError
from bandstop.files import atomic_write

__all__ = ["load_checkpoint", "load_tensors", "save_checkpoint", "save_tensors"]


def save_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str]) -> None:
    """Write a safetensors file atomically."""
    from safetensors.torch import save_file

    with atomic_write(path) as part:
        save_file({k: v.detach().contiguous().clone() for k, v in tensors.items()}, part, metadata=metadata)


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read a safetensors file; a broken one is refused with a sentence."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise DataError("there is no such file; is this a finished run folder?", path=path)
    try:
        with safe_open(path, framework="pt") as stored:
            return {k: stored.get_tensor(k) for k in stored.keys()}, dict(stored.metadata() or {})  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise DataError(f"not a readable safetensors file ({error})", path=path) from None


def _flatten(value: Any, tensors: dict[str, Tensor], name: str) -> Any:
    """Replace every tensor in nested dicts and lists by a reference into ``tensors``."""
    if isinstance(value, Tensor):
        tensors[name] = value
        return {"tensor": name}
    if isinstance(value, dict):
        return {"dict": [[k, _flatten(v, tensors, f"{name}.{k}")] for k, v in value.items()]}
    if isinstance(value, list | tuple):
        return {"list": [_flatten(v, tensors, f"{name}.{i}") for i, v in enumerate(value)]}
    return {"value": value}


def _restore(value: Any, tensors: dict[str, Tensor]) -> Any:
    if "tensor" in value:
        return tensors[value["tensor"]]
    if "dict" in value:
        return {k: _restore(v, tensors) for k, v in value["dict"]}
    if "list" in value:
        return [_restore(v, tensors) for v in value["list"]]
    return value["value"]


def save_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Save nested dicts and lists of tensors, numbers and strings."""
    tensors: dict[str, Tensor] = {}
    description = json.dumps(_flatten(state, tensors, "state"))
    save_tensors(path, tensors, {"state": description})


def load_checkpoint(path: Path) -> dict[str, Any]:
    """What ``save_checkpoint`` saved."""
    tensors, metadata = load_tensors(path)
    try:
        restored: dict[str, Any] = _restore(json.loads(metadata["state"]), tensors)
    except (KeyError, TypeError, json.JSONDecodeError):
        raise DataError(
            "this file is not a checkpoint of bandstop; remove it to start afresh", path=path
        ) from None
    return restored
