"""Surrogates of operations that move values without computing: reshape, join, index, write, look up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from bandstop.engine.trace.kinds import Kind
from bandstop.engine.trace.nest import every_tensor, map_tensors, words
from bandstop.engine.trace.tracer import Rule, Tracer

__all__ = ["RULES"]

_MOVES = words("""
    view view_as contiguous
    reshape reshape_as flatten ravel unflatten squeeze unsqueeze permute transpose swapaxes
    swapdims movedim moveaxis t adjoint .T .mT .H .mH .real expand expand_as broadcast_to
    broadcast_tensors repeat tile repeat_interleave cat concat concatenate stack hstack vstack dstack
    column_stack row_stack split split_with_sizes tensor_split hsplit vsplit dsplit chunk unsafe_chunk
    unsafe_split unbind narrow select index_select gather take take_along_dim masked_select diagonal diag
    diag_embed block_diag tril triu roll flip fliplr flipud rot90 unfold as_strided atleast_1d atleast_2d
    atleast_3d pixel_shuffle pixel_unshuffle channel_shuffle native_channel_shuffle meshgrid slice_scatter
    select_scatter diagonal_scatter index_copy pack_padded_sequence pad_packed_sequence cartesian_prod
""")
_SUMMING = words("""
    cumsum cumprod logcumsumexp fold index_add scatter_add trace unfold_backward
""")


def _move(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The operation itself on surrogates; integers are places, so they stay as they are."""
    kind = max(map(tr.kind, every_tensor((args, kwargs))))
    read = tr.signal if kind == Kind.SIGNAL else tr.structure

    def surrogate(tensor: Tensor) -> Tensor:
        return read(tensor) if tensor.is_floating_point() else tensor

    args, kwargs = map_tensors(surrogate, args), map_tensors(surrogate, kwargs)
    try:
        moved = func(*args, **kwargs)
    except RuntimeError:
        if getattr(func, "__name__", "") not in ("view", "view_as"):
            raise
        # a surrogate can be laid out otherwise in memory than what it stands for
        moved = args[0].reshape(*args[1:]) if func is Tensor.view else args[0].reshape_as(*args[1:])
    return map_tensors(lambda tensor: tr.keep(tensor, kind) if tensor.is_floating_point() else tensor, moved)


def _sum(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    if getattr(func, "__name__", "") in ("cumprod", "logcumsumexp"):
        func = torch.cumsum
    moved: Tensor = _move(tr, func, args, kwargs)
    return tr.emit(moved, tr.kind(moved))


def _iterate(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return iter(_move(tr, torch.unbind, args, kwargs))


def _pad(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    amounts = args[1] if len(args) > 1 else kwargs["pad"]
    mode = kwargs.get("mode", args[2] if len(args) > 2 else "constant")
    return tr.keep(F.pad(args[0], amounts, mode), tr.kind(args[0]))


def _getitem(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    table, place = args
    kinds = [tr.kind(tensor) for tensor in every_tensor(place)]
    if Kind.SIGNAL in kinds or Kind.WEIGHT in kinds:
        raise tr.failure("an index that is computed from the data", "multiply by a mask instead")
    if tr.kind(table) == Kind.WEIGHT and Kind.INDEX in kinds:
        if not isinstance(place, Tensor) or place.dtype == torch.bool:
            raise tr.failure("indexing a weight with several indices from the input", "use an embedding")
        return _look_up(tr, place, table)
    return _move(tr, func, args, kwargs)


def _look_up(tr: Tracer, places: Tensor, table: Tensor) -> Tensor:
    """Any row may be picked by some input, so that a feature stands for its column; nothing is multiplied."""
    column = tr.emit(tr.cut(table, multiplies=False).leaf.sum(0), Kind.SIGNAL)
    return tr.keep(column.expand(*places.shape, *column.shape).clone(), Kind.SIGNAL)


def _embedding(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    names = dict(zip(("input", "weight"), args, strict=False)) | kwargs
    places, table = names["input"], names["weight"]
    if tr.kind(places) >= Kind.WEIGHT:
        raise tr.failure("an index that is computed from the data", "multiply by a mask instead")
    if tr.kind(places) == Kind.INDEX and tr.kind(table) == Kind.WEIGHT:
        return _look_up(tr, places, table)
    return tr.keep(F.embedding(places, table), tr.kind(table))


def _embedding_bag(
    tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Tensor:
    """Sums, means or maxima of rows: a bag's feature stands for its column, too."""
    names = dict(zip(("input", "weight", "offsets"), args, strict=False)) | kwargs
    places, table, offsets = names["input"], names["weight"], names.get("offsets")
    if tr.kind(places) != Kind.INDEX or tr.kind(table) != Kind.WEIGHT:
        raise tr.failure(
            "'embedding_bag' of an index that is not part of the input", "use an embedding and a sum"
        )
    bags = (
        places[:, 0] if offsets is None else offsets[: len(offsets) - bool(names.get("include_last_offset"))]
    )
    return _look_up(tr, bags, table)


def _setitem(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    target, place, value = args
    if any(tr.kind(tensor) >= Kind.WEIGHT for tensor in every_tensor(place)):
        raise tr.failure("an index that is computed from the data", "multiply by a mask instead")
    value = tr.signal(value).to(target.device)
    tr.adopt(target)
    target[place] = value.to(target.dtype)


def _copy(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    return tr.keep(tr.signal(args[1]).expand(args[0].shape).clone(), Kind.SIGNAL)


def _clear(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """A signal overwritten by a number does not vary any more."""
    return tr.keep(torch.zeros_like(tr.signal(args[0])), Kind.SIGNAL)


def _index_fill(
    tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Tensor:
    target, dim, place = args[:3]
    return tr.keep(tr.signal(target).index_fill(dim, place, 0), Kind.SIGNAL)


def _scatter(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """Scattered values replace or, with a reduction, join what was there."""
    target, dim, place = args[:3]
    source = args[3] if len(args) > 3 else kwargs.get("src", kwargs.get("value"))
    joins = len(args) > 4 or "reduce" in kwargs
    value = tr.signal(source).expand(place.shape) if not isinstance(source, Tensor) else tr.signal(source)
    method = torch.scatter_add if joins else torch.scatter
    return tr.emit(method(tr.signal(target), dim, place, value), Kind.SIGNAL)


RULES: dict[str, Rule] = {
    **dict.fromkeys(_MOVES, _move),
    **dict.fromkeys(_SUMMING, _sum),
    **dict.fromkeys(["scatter", "scatter_reduce"], _scatter),
    **dict.fromkeys(["fill", "zero"], _clear),
    "iter": _iterate,
    "pad": _pad,
    "getitem": _getitem,
    "setitem": _setitem,
    "embedding": _embedding,
    "embedding_bag": _embedding_bag,
    "copy": _copy,
    "index_fill": _index_fill,
}
