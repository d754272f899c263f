"""A state dict on disk that is as small as its zeros allow, loaded back bit for bit into the plain module.

A safetensors file. A tensor with enough zeros is stored as ``name`` (its non-zero values, in order) and
``name:gaps`` (the Rice-coded gaps between their indices); the metadata hold its shape and the code's
parameter. Others are stored as they are. No mask is kept and nothing is unpickled.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from bandstop.deploy.packed.rice import best_parameter, rice_decode, rice_encode
from bandstop.errors import DataError, ExportError, MissingExtra
from bandstop.files import atomic_write

__all__ = ["load_sparse", "save_sparse"]

FORMAT = "bandstop sparse state 1"
GAPS = ":gaps"


def save_sparse(state: Mapping[str, Tensor], path: str | os.PathLike[str]) -> int:
    """Write ``state`` (a ``state_dict()``) and return the file's size in bytes.

    >>> import tempfile
    >>> layer = torch.nn.Linear(100, 50)
    >>> _ = layer.weight.data.mul_(torch.rand(50, 100) < 0.02)
    >>> file = Path(tempfile.mkdtemp()) / "layer.safetensors"
    >>> save_sparse(layer.state_dict(), file) < 1_200
    True
    >>> torch.equal(load_sparse(file)["weight"], layer.weight)
    True
    """
    try:
        from safetensors.torch import save
    except ImportError:
        raise MissingExtra("safetensors", extra="app") from None
    stored: dict[str, Tensor] = {}
    packed: dict[str, list[int]] = {}
    for name, tensor in state.items():
        if name.endswith(GAPS):
            raise ExportError(
                f"names of tensors must not end with {GAPS!r}, found {name!r}: rename the parameter"
            )
        value = tensor.detach().cpu().contiguous()
        if value.ndim < 2 or not value.is_floating_point():
            stored[name] = value.clone()
            continue
        flat = value.reshape(-1)
        index = flat.nonzero().reshape(-1)
        gaps = (index.diff(prepend=torch.tensor([-1])) - 1).tolist()
        k = best_parameter(gaps)
        code = rice_encode(gaps, k)
        if len(index) * flat.element_size() + len(code) >= flat.numel() * flat.element_size():
            stored[name] = value.clone()
            continue
        stored[name] = flat[index].clone()
        stored[name + GAPS] = (
            torch.frombuffer(bytearray(code), dtype=torch.uint8)
            if code
            else torch.empty(0, dtype=torch.uint8)
        )
        packed[name] = [k, *value.shape]
    metadata = {"format": FORMAT, "packed": json.dumps(packed, separators=(",", ":"))}
    with atomic_write(path) as part:
        part.write_bytes(save(stored, metadata))  # save_file would leave a file behind when it is killed
    return Path(path).stat().st_size


def load_sparse(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    """What ``save_sparse`` wrote, dense again: give it to ``load_state_dict`` of the plain network."""
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError:
        raise MissingExtra("safetensors", extra="app") from None
    if not Path(path).is_file():
        raise DataError("there is no such file", path=path)
    try:
        with safe_open(path, framework="pt") as file:
            metadata = dict(file.metadata() or {})
            stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
    except (SafetensorError, OSError, ValueError) as error:
        raise DataError(f"not a readable safetensors file ({error})", path=path) from None
    if metadata.get("format") != FORMAT:
        raise DataError(
            "this file was not written by save_sparse: load it with safetensors itself", path=path
        )
    packed = json.loads(metadata["packed"])
    return {
        name: _unpacked(name, stored, packed[name], path) if name in packed else value
        for name, value in stored.items()
        if not name.endswith(GAPS)
    }


def _unpacked(name: str, stored: Mapping[str, Tensor], row: list[int], path: object) -> Tensor:
    k, *shape = row
    values, code = stored[name], bytes(stored[name + GAPS].tolist())
    dense = torch.zeros(shape, dtype=values.dtype)
    gaps, _ = rice_decode(code, len(values), k)
    index = (torch.tensor(gaps, dtype=torch.long) + 1).cumsum(0) - 1
    if len(index) and int(index[-1]) >= dense.numel():
        raise DataError(f"is damaged in {name}: a value lies outside of it", path=path)
    dense.view(-1)[index] = values
    return dense
