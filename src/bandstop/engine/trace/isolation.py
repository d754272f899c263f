"""Run a model and leave it as it was found: training flags, attributes, buffers, random numbers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn
from torch.nn.utils import parametrize

__all__ = ["untouched"]

_REGISTRIES = ("_parameters", "_buffers", "_modules")


@contextmanager
def untouched(model: nn.Module) -> Iterator[None]:
    """Inside, ``model`` is in evaluation mode and parametrised tensors are computed once; then all is undone.

    Attributes that a forward pass sets are put back, also after an exception. Tensors that it writes to are
    the business of :meth:`bandstop.engine.trace.tracer.Tracer.restore`.

    >>> layer = nn.Dropout().train()
    >>> with untouched(layer):
    ...     layer.training = False; layer.seen = True
    >>> layer.training, hasattr(layer, "seen")
    (True, False)
    """
    modules = list(model.modules())
    attributes = [dict(vars(module)) for module in modules]
    registries = [[dict(vars(module)[name]) for name in _REGISTRIES] for module in modules]
    in_use = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    devices = list(range(torch.cuda.device_count())) if in_use else []
    state, cache = random.getstate(), parametrize._cache
    parametrize._cache = {}  # a surrounding parametrize.cached() must not find values that were computed here
    try:
        for module in modules:
            module.training = False
        with torch.random.fork_rng(devices), parametrize.cached():
            yield
    finally:
        for module, saved, contents in zip(modules, attributes, registries, strict=True):
            vars(module).clear()
            vars(module).update(saved)
            for name, content in zip(_REGISTRIES, contents, strict=True):
                registry = saved[name]
                registry.clear()
                registry.update(content)
        parametrize._cache = cache
        random.setstate(state)
