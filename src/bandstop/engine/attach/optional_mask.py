"""A mask that is saved and moved with its module but is no buffer: EMA copies match buffers by position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

__all__ = ["OptionalMask", "rename_mask"]


class OptionalMask(nn.Module):
    """Holds ``mask``: none yet (None) or the fixed one.

    Averaged copies (``AveragedModel``, EMA) pair their buffers with the original's by position, so that a
    buffer that appears later would shift all that follow. ``mask`` is therefore saved, loaded and moved with
    the module, but is no buffer.

    >>> import torch
    >>> band = OptionalMask()
    >>> band.mask = torch.tensor([True, False])
    >>> list(band.buffers()), list(band.state_dict())
    ([], ['mask'])
    """

    mask: Tensor | None

    def __init__(self) -> None:
        super().__init__()
        self.mask = None

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> OptionalMask:
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        if self.mask is not None:
            self.mask = fn(self.mask)
        return self

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        if self.mask is not None:
            destination[f"{prefix}mask"] = self.mask

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        rename_mask(state_dict, prefix)
        arguments = (local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        super()._load_from_state_dict(state_dict, prefix, *arguments)
        key = f"{prefix}mask"
        if key not in state_dict:
            if self.mask is not None:
                missing_keys.append(key)
            return
        if key in unexpected_keys:
            unexpected_keys.remove(key)
        found: Tensor = state_dict[key]
        if self.mask is not None and self.mask.shape == found.shape:
            self.mask.copy_(found)
        else:
            self.mask = found.detach().clone().to(next(self.buffers(), found).device)


def rename_mask(state: dict[str, Any], prefix: str) -> None:
    """Checkpoints of version 0.1 call the mask ``keep``.

    >>> state = {"a.keep": 1}
    >>> rename_mask(state, "a."); state
    {'a.mask': 1}
    """
    if f"{prefix}keep" in state:
        state[f"{prefix}mask"] = state.pop(f"{prefix}keep")
