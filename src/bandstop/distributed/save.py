"""One plain state dict of a model whose weights may be sharded."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, distributed, nn

from bandstop.engine.shards.tensor import reshard, whole
from bandstop.errors import MissingExtra
from bandstop.files import atomic_write

__all__ = ["full_state_dict", "save_plain"]


def full_state_dict(model: nn.Module) -> dict[str, Tensor]:
    """The whole state of ``model`` in main memory on the first rank, {} on the others; all must call it.

    Weights are gathered one at a time, so that no rank but the first ever holds more than one of them whole.

    >>> list(full_state_dict(nn.Linear(2, 1)))
    ['weight', 'bias']
    """
    inner = model.module if isinstance(model, nn.parallel.DistributedDataParallel) else model
    reshard(inner)
    state = {}
    for name, tensor in inner.state_dict().items():
        full = whole(tensor.detach())
        if _first():
            state[name] = full.to("cpu", copy=True).contiguous()
    return state


def save_plain(model: nn.Module, path: str | Path) -> None:
    """Write the whole state to one file for a plain model: safetensors by its suffix, else torch's.

    Every rank must call it; the first one writes, and all return when the file is whole.
    """
    path = Path(path)
    state = full_state_dict(model)
    if _first():
        with atomic_write(path) as part:
            if path.suffix == ".safetensors":
                _save_safetensors(state, part)
            else:
                torch.save(state, part)
    if distributed.is_available() and distributed.is_initialized():
        distributed.barrier()


def _save_safetensors(state: dict[str, Tensor], path: Path) -> None:
    try:
        from safetensors.torch import save
    except ImportError:
        raise MissingExtra("safetensors", extra="app") from None
    path.write_bytes(save(state))  # save_file would leave a file behind when it is killed


def _first() -> bool:
    return not (distributed.is_available() and distributed.is_initialized()) or distributed.get_rank() == 0
