"""Which connections of a pruned network are live, and how many multiply-accumulates it does.

A connection is an entry of a tracked weight that is not an exact zero. It is *live* if it lies on a path of
connections from the input to the output. All others are dead: what they add does not depend on the input, so
that it is nothing or folds into a constant. A trace runs the model once on surrogates (see
:mod:`bandstop.engine.trace.rules`), so that any ``nn.Module`` made of ordinary torch operations can be
counted.

Conventions
- A unit that is fed by biases only is constant: what leaves it is dead. Normalisation is an affine map of
  each entry.
- A product of two signals varies with either; attention mixes values with shares of one. In doubt a
  connection counts as live.
- Parameters that are not tracked count as nowhere zero, constants and buffers as what they are.
- A tracked weight that is looked up (an embedding) or added (a position code) is live if it reaches the
  output; neither is a multiplication. Every row of a table that is looked up with the input may be used by
  some input.
- Multiply-accumulates are those of tracked weights with signals, per example input: give a batch of one.
  Products with the zeros of a convolution's padding are not counted. The network is taken in evaluation mode.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from bandstop.engine.trace.measure import Topology, WeightTopology, run_trace
from bandstop.engine.trace.weights import count_kept, effective_weights, kept

__all__ = [
    "Topology",
    "WeightTopology",
    "count_kept",
    "effective_weights",
    "kept",
    "trace",
]


def trace(model: nn.Module, example_inputs: Any, tracked: Mapping[str, Tensor] | None = None) -> Topology:
    """Live connections and multiply-accumulates of ``model``, which is left exactly as it was.

    ``example_inputs`` is a tensor, a tuple of positional or a dict of keyword arguments, with a batch of one;
    only shapes and integers matter. ``tracked`` maps names of weights to tensors of their shape whose
    non-zeros are the connections: the weights themselves (all :func:`effective_weights` by default) or masks
    to be tried in their place.

    >>> import torch
    >>> net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    >>> _ = net[0].weight.data.copy_(torch.tensor([[1.0, 1.0], [0.0, 0.0]]))
    >>> found = trace(net, torch.ones(1, 2))
    >>> found.total, found.kept, found.live, found.weights["2.weight"].live.tolist()
    (6, 4, 3, [[True, False]])
    >>> found.macs_dense, found.macs, found.macs_live
    (6, 4, 3)
    """
    return run_trace(model, example_inputs, tracked, counting=True)
