"""A mask that appears in mid-training, kept where it belongs: in checkpoints and on the right device, but not among the buffers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

__all__ = ["LateMask"]


class LateMask(nn.Module):
    """Holds ``keep``: no mask yet (None) or the fixed one.

    Averaged copies (``AveragedModel``, EMA) pair their buffers with the original's by place, so that a buffer that appears later
    would shift all that follow. ``keep`` is therefore saved, loaded and moved with the module, but is no buffer.

    >>> import torch
    >>> band = LateMask()
    >>> band.keep = torch.tensor([True, False])
    >>> list(band.buffers()), list(band.state_dict())
    ([], ['keep'])
    """

    keep: Tensor | None

    def __init__(self) -> None:
        super().__init__()
        self.keep = None

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> LateMask:
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        if self.keep is not None:
            self.keep = fn(self.keep)
        return self

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        if self.keep is not None:
            destination[f"{prefix}keep"] = self.keep

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
        arguments = (local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        super()._load_from_state_dict(state_dict, prefix, *arguments)
        key = f"{prefix}keep"
        if key not in state_dict:
            if self.keep is not None:
                missing_keys.append(key)
            return
        if key in unexpected_keys:
            unexpected_keys.remove(key)
        found: Tensor = state_dict[key]
        if self.keep is not None and self.keep.shape == found.shape:
            self.keep.copy_(found)
        else:
            self.keep = found.detach().clone().to(next(self.buffers(), found).device)
