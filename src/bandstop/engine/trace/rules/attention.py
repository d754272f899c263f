"""Surrogates of attention: the output varies where the values do, and scores matter where values vary."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from bandstop.engine.trace.kinds import Kind
from bandstop.engine.trace.rules.algebra import add
from bandstop.engine.trace.rules.products import linear
from bandstop.engine.trace.tracer import Rule, Tracer

__all__ = ["RULES"]


def _attend(
    tr: Tracer, query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None
) -> tuple[Tensor, Tensor]:
    """``softmax(q kᵀ) v`` on ``[…, L, E]``: shares of one mix the values, scores alone make nothing vary."""
    scores = tr.emit(query.sum(-1, keepdim=True) + key.sum(-1).unsqueeze(-2), Kind.SIGNAL)
    shares = scores + (1 - scores).detach()
    if allowed is not None:
        shares = shares * allowed
    return tr.emit(shares @ value, Kind.SIGNAL), scores


def _allowed(tr: Tracer, mask: Tensor | None, *, true_means_allowed: bool) -> Tensor | None:
    """1 where a fixed mask lets attention through; one that depends on the input may let anything through."""
    if mask is None or tr.kind(mask) >= Kind.INDEX:
        return None
    if mask.dtype == torch.bool:
        return (mask if true_means_allowed else ~mask).to(tr.dtype)
    return torch.gt(mask, torch.finfo(mask.dtype).min).to(tr.dtype)


def _scaled_dot_product(
    tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Tensor:
    names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa")
    given = dict(zip(names, args, strict=False)) | kwargs
    query, key, value = (tr.signal(given[name]) for name in names[:3])
    if given.get("enable_gqa"):
        repeats = query.shape[-3] // key.shape[-3]
        key, value = key.repeat_interleave(repeats, -3), value.repeat_interleave(repeats, -3)
    allowed = _allowed(tr, given.get("attn_mask"), true_means_allowed=True)
    if given.get("is_causal"):
        allowed = torch.ones(query.shape[-2], key.shape[-2], dtype=tr.dtype, device=query.device).tril()
    return _attend(tr, query, key, value, allowed)[0]


_SIGNATURE = inspect.signature(F.multi_head_attention_forward)


def _multi_head(
    tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Tensor, Any]:
    """``nn.MultiheadAttention``: project, attend per head, project back; sequence first, batched or not."""
    bound = _SIGNATURE.bind(*args, **kwargs)
    bound.apply_defaults()
    given = bound.arguments
    if given["static_k"] is not None or given["static_v"] is not None:
        raise tr.failure("attention with static keys or values")
    batched = given["query"].ndim == 3
    sides = [given[name] if batched else given[name].unsqueeze(1) for name in ("query", "key", "value")]
    if given["use_separate_proj_weight"]:
        weights = [given[f"{side}_proj_weight"] for side in "qkv"]
    else:
        kind = tr.kind(given["in_proj_weight"])
        weights = [tr.keep(part, kind) for part in given["in_proj_weight"].chunk(3)]
    tracked_bias = tr.kind(given["in_proj_bias"]) == Kind.WEIGHT
    biases = given["in_proj_bias"].chunk(3) if tracked_bias else [None] * 3
    query, key, value = (tr.signal(linear(tr, *parts)) for parts in zip(sides, weights, biases, strict=True))
    if given["bias_k"] is not None:
        batch = key.shape[1]
        key = torch.cat([key, tr.signal(given["bias_k"]).expand(1, batch, -1)])
        value = torch.cat([value, tr.signal(given["bias_v"]).expand(1, batch, -1)])
    if given["add_zero_attn"]:
        key, value = (F.pad(side, (0, 0, 0, 0, 0, 1)) for side in (key, value))

    def heads(side: Tensor) -> Tensor:  # [position, batch, features] → [batch, head, position, feature]
        return side.reshape(*side.shape[:-1], given["num_heads"], -1).permute(1, 2, 0, 3)

    allowed = _masks(tr, given, batch=key.shape[1], extra=key.shape[0])
    mixed, scores = _attend(tr, heads(query), heads(key), heads(value), allowed)
    joined = tr.keep(mixed.permute(2, 0, 1, 3).flatten(-2), Kind.SIGNAL)
    output = linear(tr, joined, given["out_proj_weight"], given["out_proj_bias"])
    shares = None
    if given["need_weights"]:
        shares = tr.emit(scores.sum(1), Kind.SIGNAL) if given["average_attn_weights"] else scores
        shares = shares if batched else shares[0]
    return (output if batched else tr.keep(output.squeeze(1), Kind.SIGNAL)), shares


def _masks(tr: Tracer, given: dict[str, Any], *, batch: int, extra: int) -> Tensor | None:
    """Both masks of ``nn.MultiheadAttention`` as ``[batch, head, query, key]``; appended keys are allowed."""
    total: Tensor | None = None
    for name in ("attn_mask", "key_padding_mask"):
        allowed = _allowed(tr, given[name], true_means_allowed=False)
        if allowed is None:
            continue
        allowed = F.pad(allowed, (0, extra - allowed.shape[-1]), value=1.0)
        if name == "key_padding_mask":
            allowed = allowed.reshape(batch, 1, 1, -1)
        elif allowed.ndim == 3:
            allowed = allowed.reshape(batch, -1, *allowed.shape[1:])
        total = allowed if total is None else total * allowed
    return total


def _glimpse(tr: Tracer, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """``cosine_similarity`` and distances vary with either side."""
    left, right = args[:2]
    return tr.emit(add(tr, left, right).sum(kwargs.get("dim", args[2] if len(args) > 2 else 1)), Kind.SIGNAL)


RULES: dict[str, Rule] = {
    "scaled_dot_product_attention": _scaled_dot_product,
    "multi_head_attention_forward": _multi_head,
    "cosine_similarity": _glimpse,
}
