"""The machine under a trace: each torch operation is replaced by a positive surrogate that only keeps paths.

While a :class:`Tracer` is active each tensor has a :class:`~bandstop.engine.trace.kinds.Kind`. Signals and
weights hold 0 or 1: for a signal, 1 means "varies with the input"; for a weight, 1 means "is not an exact
zero". The surrogates only add and multiply such numbers, so that with R the sum of the outputs a connection w
lies on a path from the input to the output exactly if ``w · ∂R/∂w > 0``. Signals are cut back to 0 or 1 after
each operation, and so are their gradients on the way back, so that depth can neither overflow nor underflow;
and ``∂R/∂w`` then counts the multiplications of w that matter.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from bandstop.engine.trace.kinds import Binarise, Clip, Cut, Faint, Kind, is_foreign
from bandstop.engine.trace.names import ASKING, describe
from bandstop.engine.trace.nest import every_tensor, map_tensors
from bandstop.errors import ModelError

__all__ = ["Rule", "Tracer"]

Rule = Callable[["Tracer", Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]


class Tracer(TorchFunctionMode):
    """Runs a model on surrogates; ``cuts`` then say where tracked weights were used and what reached them.

    ``patterns`` maps the name of each tracked tensor to the tensor and its 0/1 pattern; ``free`` are
    parametrised weights that may not be tracked. An operation may write to the model's own tensors:
    :meth:`restore` puts them back.
    """

    def __init__(
        self,
        rules: Mapping[str, Rule],
        patterns: Mapping[str, tuple[Tensor, Tensor]],
        *,
        model: nn.Module,
        free: Iterable[Tensor] = (),
        dtype: torch.dtype = torch.float32,
        counting: bool = True,
    ) -> None:
        super().__init__()
        self.rules, self.counting, self.nominal_dtype = rules, counting, dtype
        self.dtype = torch.float64 if dtype == torch.float64 else torch.float32
        self.cuts: dict[tuple[int, bool], Cut] = {}
        self.leaves: dict[str, Tensor] = {}
        self._stand_ins: dict[int, Tensor] = {}
        self._kinds: dict[int, tuple[Kind, Tensor]] = {}  # by storage, which the tensor keeps alive
        self._shares: set[int] = set()
        self._free = {id(tensor): tensor for tensor in free}
        self._names = {id(module): name for name, module in model.named_modules()}
        self._owned = {self._key(tensor): tensor for tensor in [*model.parameters(), *model.buffers()]}
        self._saved: dict[int, tuple[Tensor, Tensor]] = {}
        self._described: dict[Callable[..., Any], tuple[str, bool]] = {}
        for name, (tensor, pattern) in patterns.items():
            leaf = torch.empty_like(tensor, dtype=self.dtype, requires_grad=False).copy_(pattern)
            self.leaves[name] = self._stand_ins[id(tensor)] = self.keep(leaf.requires_grad_(), Kind.WEIGHT)

    # kinds ------------------------------------------------------------------------------------------------
    @staticmethod
    def _key(tensor: Tensor) -> int:
        return tensor.untyped_storage()._cdata if tensor.layout == torch.strided else id(tensor)

    def kind(self, value: Any) -> Kind:
        """What ``value`` is; numbers and unknown tensors are constants."""
        if not isinstance(value, Tensor):
            return Kind.CONSTANT
        known = self._kinds.get(self._key(value))
        if known is not None:
            if is_foreign(value):
                name = type(value.grad_fn).__name__.removesuffix("Backward")
                raise self.failure(f"the custom autograd function {name!r}")
            return known[0]
        if isinstance(value, nn.Parameter) or id(value) in self._free:
            return Kind.FREE
        if value.requires_grad and value.is_leaf:
            return Kind.FREE
        if value.grad_fn is not None:
            raise self.failure("a tensor that was computed out of sight (by a scripted or compiled function)")
        return Kind.CONSTANT

    def mark_shares(self, tensor: Tensor) -> None:
        """Remember that the rows of ``tensor`` are positive shares of one, as those of a softmax."""
        self._shares.add(self._key(tensor))

    def are_shares(self, tensor: Tensor) -> bool:
        return self._key(tensor) in self._shares

    # what rules read and write ----------------------------------------------------------------------------
    def signal(self, value: Any) -> Tensor:
        """``value`` as a signal: constants do not vary, indices do, a weight is a source like the input."""
        tensor = value if isinstance(value, Tensor) else torch.as_tensor(value)
        kind = self.kind(tensor)
        if kind == Kind.SIGNAL:
            return tensor if tensor.dtype == self.dtype else tensor.to(self.dtype)
        if kind == Kind.WEIGHT:
            return self.cut(tensor, multiplies=False).leaf
        fill = 1.0 if kind == Kind.INDEX else 0.0
        return torch.full(tensor.shape, fill, dtype=self.dtype, device=tensor.device)

    def structure(self, value: Any) -> Tensor:
        """``value`` as a factor: 1 where it can differ from zero."""
        tensor = value if isinstance(value, Tensor) else torch.as_tensor(value)
        kind = self.kind(tensor)
        if kind >= Kind.WEIGHT:
            return tensor
        if kind != Kind.CONSTANT:
            return torch.ones(tensor.shape, dtype=self.dtype, device=tensor.device)
        return (tensor if tensor.layout == torch.strided else tensor.to_dense()).ne(0).to(self.dtype)

    def cut(self, weight: Tensor, *, multiplies: bool) -> Cut:
        """The stand-in for ``weight`` where it meets signals: as a factor, or as a source or an addend."""
        key = (id(weight), multiplies)
        if key not in self.cuts:
            # an addend becomes part of signals, which must not share the weight's storage
            leaf = weight.detach() if multiplies else weight.detach().clone()
            self.cuts[key] = Cut(weight, leaf.requires_grad_(), multiplies)
        return self.cuts[key]

    def emit(self, value: Tensor, kind: Kind) -> Tensor:
        """An operation's result, cut back to 0 or 1."""
        function = Binarise if kind == Kind.SIGNAL else Clip
        binary: Tensor = function.apply(value)  # type: ignore[no-untyped-call]
        return self.keep(binary, kind)

    def faint(self, weight: Tensor) -> Tensor:
        """``weight`` where it has a say in another weight without being multiplied itself, as in a norm."""
        reached: Tensor = Faint.apply(weight)  # type: ignore[no-untyped-call]
        return self.keep(reached, Kind.WEIGHT)

    def keep(self, value: Tensor, kind: Kind) -> Tensor:
        """An operation's result that holds 0 and 1 already, because values were merely moved."""
        self._kinds[self._key(value)] = (kind, value)
        return value

    def failure(self, what: str, hint: str = "write it with plain torch operations") -> ModelError:
        """The error for something that cannot be followed, with the module whose code called it."""
        frames = (frame for frame, _ in traceback.walk_stack(None))
        return ModelError(f"live connections cannot be followed through {what} {self.place(frames)}; {hint}")

    def place(self, frames: Iterable[FrameType]) -> str:
        """The first of the frames, innermost first, that runs code of one of the model's modules."""
        for frame in frames:
            owner = frame.f_locals.get("self")
            if isinstance(owner, nn.Module) and id(owner) in self._names:
                return f"in module {self._names[id(owner)] or 'the model itself'!r} ({type(owner).__name__})"
        return "outside the model's modules"

    # dispatch ---------------------------------------------------------------------------------------------
    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        described = self._described.get(func)
        if described is None:
            described = self._described[func] = describe(func)
        name, in_place = described
        if name == "set_grad_enabled":
            return None  # the trace needs gradients wherever the model says no_grad
        if name == "requires_grad":
            return args[0]
        if name in ASKING:
            return func(*args, **kwargs)
        if name[0] == "." and name not in self.rules and not in_place:
            nominal = name == ".dtype" and self.kind(args[0]) == Kind.SIGNAL
            return self.nominal_dtype if nominal and args[0].dtype == self.dtype else func(*args, **kwargs)
        args, kwargs = map_tensors(self._stand_in, args), map_tensors(self._stand_in, kwargs)
        top = max(map(self.kind, every_tensor((args, kwargs))), default=Kind.CONSTANT)
        if top <= Kind.INDEX:
            return self._compute(func, name, args, kwargs, top, in_place or "out" in kwargs)
        rule = self.rules.get(name)
        if rule is None or "out" in kwargs:
            raise self.failure(f"the operation {name!r}" + (" with out=" if rule else ""))
        result = rule(self, func, args, kwargs)
        return self.write(args[0], result) if in_place and name != "setitem" else result

    def _stand_in(self, tensor: Tensor) -> Tensor:
        leaf = self._stand_ins.get(id(tensor))
        if leaf is None and tensor._base is not None and id(tensor._base) in self._stand_ins:
            base = self._stand_ins[id(tensor._base)]
            leaf = base.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())
        return tensor if leaf is None else leaf

    def _compute(
        self, func: Callable[..., Any], name: str, args: Any, kwargs: Any, top: Kind, writes: bool
    ) -> Any:
        """An operation on real values only; what came of indices varies, what came of parameters is free."""
        if writes:
            for target in every_tensor((args[:1], kwargs.get("out"))):
                self._protect(target)
        if name == "embedding":  # without its max_norm, which would write to the table
            args, kwargs = tuple(args[:2]), {k: v for k, v in kwargs.items() if k in ("input", "weight")}
        result = func(*args, **kwargs)
        if top == Kind.CONSTANT:
            return result

        def label(tensor: Tensor) -> Tensor:
            if top == Kind.FREE or not tensor.is_floating_point():
                return self.keep(tensor, top)
            ones = tensor.detach().fill_(1) if writes else torch.ones_like(tensor, dtype=self.dtype)
            self.keep(ones, Kind.SIGNAL)
            return tensor if writes else ones

        return map_tensors(label, result)

    # writing in place -------------------------------------------------------------------------------------
    def write(self, target: Tensor, result: Tensor) -> Tensor:
        """Put the result of an operation in place into its target."""
        self.adopt(target)
        if result is not target:
            target.copy_(result)
        return target

    def adopt(self, target: Tensor) -> None:
        """Make ``target`` a signal that can be written to; what a constant held before does not vary."""
        kind = self.kind(target)
        if kind == Kind.WEIGHT or self._key(target) in self._owned:
            raise self.failure("writing in place to a weight or a buffer", "write to a new tensor")
        if kind != Kind.SIGNAL:
            (target if target._base is None else target._base).detach().zero_()
            self.keep(target, Kind.SIGNAL)

    def _protect(self, target: Tensor) -> None:
        owner = self._owned.get(self._key(target))
        if owner is not None:
            self._saved.setdefault(id(owner), (owner, owner.detach().clone()))

    def restore(self) -> None:
        """Give the model's tensors back the values they had."""
        for owner, value in self._saved.values():
            owner.data.copy_(value)
