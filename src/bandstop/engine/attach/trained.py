"""Was a network trained before? Told from its parameters alone, with the reason in words.

The rule: **a network was trained if a normalisation in it has shifts that differ from channel to channel, or,
without trainable normalisations, if a quarter of its weights cannot be a draw of an initialisation.**

Every fresh normalisation shifts all channels alike, whatever draws the weights, and every training moves its
channels apart. Without one, weights must speak for themselves. An initialisation draws all entries of a layer
independently from one law (uniform, normal, or normal truncated at two standard deviations) or makes an
orthogonal matrix, at some scale. Training leaves rows or columns of unequal energy, or values of another law.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from bandstop.engine.attach.parametrisation import PrunedLayer

__all__ = ["Verdict", "drawn", "was_trained"]

CHANCE = 5.0
"""How many standard deviations a statistic of a fresh layer may be off."""
DISTANCE = 0.006
"""Distances of two distributions below this are rounding (bfloat16), not training."""
UNEVEN = 1.25
"""Energies of rows may vary by this factor more than those of normal numbers."""
SHARE = 0.25
"""Share of the weights, in layers that were not drawn, from which on a network counts as trained."""
ENTRIES = 1 << 20
"""Of a larger layer, about as many entries are compared with the laws, and four times as many in rows."""


@dataclass(frozen=True)
class Verdict:
    """Whether a network was trained, and what shows it."""

    trained: bool
    why: str


@torch.no_grad()
def was_trained(model: nn.Module, layers: Sequence[PrunedLayer]) -> Verdict:
    """The rule of this module, for a ``model`` whose ``layers`` are to be pruned.

    >>> from bandstop.engine.attach.parametrisation import prunable_layers
    >>> _ = torch.manual_seed(0)
    >>> net = nn.Sequential(nn.Linear(20, 30), nn.LayerNorm(30), nn.Linear(30, 4))
    >>> was_trained(net, prunable_layers(net)).why
    'none of its 1 normalisations shifts one channel differently from another'
    >>> optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
    >>> net(torch.randn(8, 20)).square().sum().backward()
    >>> optimiser.step()
    >>> was_trained(net, prunable_layers(net))
    Verdict(trained=True, why='1 of its 1 normalisations shift channels differently')
    """
    shifts = list(_shifts(model))
    moved = sum(bool((shift != shift.reshape(-1)[0]).any()) for shift in shifts)
    if moved:
        return Verdict(True, f"{moved} of its {len(shifts)} normalisations shift channels differently")
    learning = sum(shift.requires_grad for shift in shifts)
    if learning:
        return Verdict(
            False, f"none of its {learning} normalisations shifts one channel differently from another"
        )
    weights = {layer.name: layer.free(layer.latent.detach()) for layer in layers}
    total = sum(weight.numel() for weight in weights.values())
    learned = sum(weight.numel() for weight in weights.values() if not drawn(weight))
    if learned >= SHARE * total:
        why = f"{learned / total:.0%} of its weights lie in layers that no usual initialisation draws"
        return Verdict(True, why)
    why = f"{1 - learned / total:.0%} of its weights lie in layers as a usual initialisation draws them"
    return Verdict(False, why)


def _shifts(model: nn.Module) -> Iterator[nn.Parameter]:
    """The shift of each normalisation; of one without shifts, its factors."""
    for module in model.modules():
        if "norm" in type(module).__name__.lower():
            own = dict(module.named_parameters(recurse=False))
            found = own.get("bias", own.get("weight"))
            if found is not None and found.numel() > 1 and found.device.type != "meta":
                yield found


def drawn(weight: Tensor) -> bool:
    """Whether ``weight`` can be what an initialisation draws, at any scale.

    Three statistics are compared with what chance allows. With ``e_i`` the mean square of row i of width m,
    independent normal entries have ``var(e)/mean(e)² = 2/m``, uniform and orthogonal ones less; so have
    columns. And the Kolmogorov–Smirnov distance ``max|G − F|`` of the standardised entries to the nearest law
    is of order ``1/√n``. Entries that are exactly zero, as sparse and identity initialisations have them, are
    left out of it.

    >>> _ = torch.manual_seed(0)
    >>> uniform, orthogonal = nn.Linear(64, 64).weight, nn.init.orthogonal_(torch.empty(64, 64))
    >>> drawn(uniform), drawn(orthogonal), drawn(torch.randn(64, 64) * torch.rand(64, 1))
    (True, True, False)
    """
    matrix = weight.detach().flatten(1) if weight.ndim > 1 else weight.detach()[None]
    matrix = matrix[:: -(-matrix.numel() // (4 * ENTRIES)) or 1].double()
    values = matrix[matrix != 0]
    if values.numel() < 16 or bool((values.abs() == values[0].abs()).all()):
        return True  # too few to tell; or constants, as for zeros, ones and the identity
    if values.numel() == matrix.numel() and (_uneven(matrix) or _uneven(matrix.T)):
        return False
    if values.numel() > ENTRIES:
        values = values[:: -(-values.numel() // ENTRIES)]
    distance = min(_distances(values / values.square().mean().sqrt()))
    return distance <= max(DISTANCE, 2.3 / math.sqrt(values.numel()))


def _uneven(matrix: Tensor) -> bool:
    """Whether the rows' energies differ more than those of independent normal numbers."""
    rows, width = matrix.shape
    if rows < 8 or width < 4:
        return False
    energies = matrix.square().mean(1)
    excess = float(energies.var() / energies.mean().square()) * width / 2
    return excess > UNEVEN + CHANCE * math.sqrt(2 / (rows - 1))


def _distances(values: Tensor) -> Iterator[float]:
    """Kolmogorov–Smirnov distances to the laws, of entries with mean square one."""
    ordered = values.flatten().sort().values
    steps = torch.arange(len(ordered) + 1, dtype=torch.float64, device=ordered.device) / len(ordered)
    inside = torch.special.ndtr(torch.tensor(2.0, dtype=torch.float64))
    spread = 0.8796  # standard deviation of the normal law truncated at two of its own
    cut = torch.special.ndtr((ordered * spread).clamp(-2, 2))
    for law in (
        ((ordered / 3**0.5 + 1) / 2).clamp(0, 1),
        torch.special.ndtr(ordered),
        (cut - (1 - inside)) / (2 * inside - 1),
    ):
        yield float(torch.maximum((law - steps[:-1]).abs().max(), (steps[1:] - law).abs().max()))
