"""One run of a model on surrogates, and what it says about each tracked weight."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from bandstop.engine.trace.rules import RULES, Kind, Tracer, every_tensor, map_tensors, untouched
from bandstop.engine.trace.weights import all_weights, count_kept, effective_weights
from bandstop.errors import BandstopError, ModelError

__all__ = ["Topology", "WeightTopology", "run_trace"]


@dataclass(frozen=True)
class WeightTopology:
    """One weight: its size, which of its connections are live, and how often each is multiplied.

    ``live`` and ``attachable`` are boolean, shaped as the weight: an attachable connection is not kept but
    would be live at once if it were. ``uses`` counts the multiplications of each entry in the dense network;
    ``macs_dense`` is their sum, ``macs_nominal`` that of the kept connections, ``macs_live`` only counts
    products of what varies with the input that matter for the output.
    """

    total: int
    kept: int
    live: Tensor
    attachable: Tensor
    uses: Tensor
    macs_dense: int
    macs_nominal: int
    macs_live: int

    @property
    def live_count(self) -> int:
        return count_kept(self.live)


@dataclass(frozen=True)
class Topology:
    """What a trace found, weight by weight and in total."""

    weights: dict[str, WeightTopology]

    @property
    def total(self) -> int:
        return sum(weight.total for weight in self.weights.values())

    @property
    def kept(self) -> int:
        return sum(weight.kept for weight in self.weights.values())

    @property
    def live(self) -> int:
        return sum(weight.live_count for weight in self.weights.values())

    @property
    def macs_dense(self) -> int:
        return sum(weight.macs_dense for weight in self.weights.values())

    @property
    def macs(self) -> int:
        """Multiply-accumulates of all kept connections: what a budget in MACs is about, what is printed."""
        return sum(weight.macs_nominal for weight in self.weights.values())

    @property
    def macs_live(self) -> int:
        return sum(weight.macs_live for weight in self.weights.values())


def run_trace(
    model: nn.Module, example_inputs: Any, tracked: Mapping[str, Tensor] | None, *, counting: bool
) -> Topology:
    """One trace; without ``counting`` a faster one that leaves all multiplications at zero."""
    for path, module in model.named_modules():
        if isinstance(module, torch.jit.ScriptModule):
            raise ModelError(
                f"a scripted module cannot be traced; found {path or 'the model'!r}; pass the original module"
            )
    with untouched(model), torch.inference_mode(False):
        with torch.no_grad():
            present = dict(all_weights(model))
            patterns = _patterns(model, present, tracked)
        floating = (tensor.dtype for tensor in every_tensor(example_inputs) if tensor.is_floating_point())
        tracer = Tracer(
            RULES,
            patterns,
            model=model,
            free=[tensor for tensor in present.values() if not isinstance(tensor, nn.Parameter)],
            dtype=next(floating, torch.float32),
            counting=counting,
        )
        try:
            with torch.enable_grad():
                return _measure(tracer, _run(tracer, model, example_inputs), patterns)
        finally:
            tracer.restore()


def _patterns(
    model: nn.Module, present: dict[str, Tensor], tracked: Mapping[str, Tensor] | None
) -> dict[str, tuple[Tensor, Tensor]]:
    """The model's tensor and the 0/1 pattern to use for it, by name."""
    if tracked is None:
        tracked = effective_weights(model)
    if not tracked:
        raise ModelError("a trace needs at least one weight with two or more dimensions; this model has none")
    found: dict[str, tuple[Tensor, Tensor]] = {}
    owners: dict[int, str] = {}
    buffers = dict(model.named_buffers())
    for name, pattern in tracked.items():
        tensor = present.get(name, buffers.get(name))
        if tensor is None:
            raise ModelError(
                f"no weight of the model is called {name!r}; it has {', '.join(present) or 'none'}"
            )
        if tensor.shape != pattern.shape:
            shapes = f"{list(pattern.shape)} given for {list(tensor.shape)}"
            raise ModelError(f"a pattern must have its weight's shape; found {shapes} at {name!r}")
        if id(tensor) in owners:
            raise ModelError(
                f"{owners[id(tensor)]!r} and {name!r} are one tied weight; track it under one name"
            )
        owners[id(tensor)] = name
        found[name] = (tensor, pattern.detach().to(tensor.device).ne(0))
    return found


def _run(tracer: Tracer, model: nn.Module, example_inputs: Any) -> Tensor:
    """The sum of all outputs that vary, with the model run on surrogates."""

    def surrogate(tensor: Tensor) -> Tensor:
        if tensor.dtype == torch.bool:
            return tensor
        if not tensor.is_floating_point():
            return tracer.keep(tensor.clone(), Kind.INDEX)
        # a gradient from the start gives away what is computed out of the trace's sight
        ones = torch.ones(tensor.shape, dtype=tracer.dtype, device=tensor.device, requires_grad=True)
        return tracer.keep(ones.clone(), Kind.SIGNAL)

    inputs = map_tensors(surrogate, example_inputs)
    positional = () if isinstance(inputs, dict) else inputs if isinstance(inputs, tuple) else (inputs,)
    keywords = inputs if isinstance(inputs, dict) else {}
    forward = getattr(model, "_orig_mod", model)  # torch.compile's wrapper
    try:
        with tracer:
            outputs = forward(*positional, **keywords)
        varying = [tensor for tensor in every_tensor(outputs) if tracer.kind(tensor) == Kind.SIGNAL]
    except BandstopError:
        raise
    except Exception as error:
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        problem = f"{type(error).__name__}: {error}".strip().splitlines()[0]
        raise ModelError(
            "live connections are found by running the model on the example input, which failed "
            f"{tracer.place(reversed(frames))}: {problem}; check the example's shape and type"
        ) from error
    if not varying:
        raise ModelError("the model's output does not depend on its input; return a tensor computed from it")
    return torch.stack([tensor.sum() for tensor in varying]).sum()


def _measure(tracer: Tracer, total: Tensor, patterns: dict[str, tuple[Tensor, Tensor]]) -> Topology:
    """Collect at each weight what arrived at the places where it is used."""
    cuts = [cut for cut in tracer.cuts.values() if cut.source.requires_grad]
    grads = torch.autograd.grad(total, [cut.leaf for cut in cuts], allow_unused=True) if cuts else ()
    reached = [(cut, grad.round()) for cut, grad in zip(cuts, grads, strict=True) if grad is not None]
    multiplied = _at_weights(tracer, [(cut.source, grad) for cut, grad in reached if cut.multiplies])
    added = [(cut.source, grad) for cut, grad in reached if not cut.multiplies]
    touched = _at_weights(tracer, added)
    counts = [(cut.source, cut.dense) for cut in cuts if cut.dense is not None]
    dense = _at_weights(tracer, [(w, torch.as_tensor(n, device=w.device).expand(w.shape)) for w, n in counts])
    found = {}
    for i, (name, (_, pattern)) in enumerate(patterns.items()):
        reach = (multiplied[i] > 0) | (touched[i] > 0) if added else multiplied[i] > 0
        uses = dense[i].round() if tracer.counting else dense[i]
        found[name] = WeightTopology(
            total=pattern.numel(),
            kept=count_kept(pattern),
            live=reach & pattern,
            attachable=reach & ~pattern,
            uses=uses.int() if tracer.counting else _zeros_like(uses),
            macs_dense=_whole(uses) if tracer.counting else 0,
            macs_nominal=_whole(uses * pattern) if tracer.counting else 0,
            macs_live=_whole(multiplied[i].round() * pattern) if tracer.counting else 0,
        )
    return Topology(found)


def _at_weights(tracer: Tracer, arrivals: list[tuple[Tensor, Tensor]]) -> list[Tensor]:
    """Gradients at derived weights (reshaped, indexed, …) carried back to the tracked weights themselves."""
    leaves = list(tracer.leaves.values())
    sources, grads = [source for source, _ in arrivals], [grad.to(source.dtype) for source, grad in arrivals]
    carried: Iterable[Tensor | None] = [None] * len(leaves)
    if arrivals:
        carried = torch.autograd.grad(sources, leaves, grads, retain_graph=True, allow_unused=True)
    return [
        _zeros_like(leaf, leaf.dtype) if grad is None else grad
        for leaf, grad in zip(leaves, carried, strict=True)
    ]


def _zeros_like(tensor: Tensor, dtype: torch.dtype = torch.int32) -> Tensor:
    """Zeros that take no memory."""
    return torch.zeros((), dtype=dtype, device=tensor.device).expand(tensor.shape)


def _whole(counts: Tensor) -> int:
    return round(counts.sum(dtype=torch.float64).item())
