"""The gate ψ and the effective weight ŵ·ψ(ŵ), as the run's settings and log say they were."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from bandstop.errors import ConfigError
from bandstop.method.gate import GATES, Gate, gate
from bandstop.report.canvas import BAND, MUTED, PASS, PRIOR, STOP, figure, plain_axes
from bandstop.report.runfolder import Epoch

__all__ = ["GateShape", "find_gate", "gate_panels", "gate_shapes"]

_COLOURS = (MUTED, PRIOR, STOP, PASS)


@dataclass(frozen=True)
class GateShape:
    """The gate at one moment."""

    label: str
    threshold: float
    temperature: float


def find_gate(config: object) -> tuple[str, Gate] | None:
    """The gate that a config names anywhere: ``gate: soft`` beside its settings or ``gate: {name: soft}``.

    >>> find_gate({"pruning": {"gate": "soft", "leak": 0.1}})
    ('soft', Soft(leak=0.1))
    """
    if not isinstance(config, dict):
        return None
    found = config.get("gate")
    if isinstance(found, str) and found in GATES:
        return found, _built(found, config)
    if isinstance(found, dict):
        name = next((value for key in ("name", "kind") if isinstance(value := found.get(key), str)), "")
        if name in GATES:
            return name, _built(name, found)
    return next((inner for value in config.values() if (inner := find_gate(value)) is not None), None)


def _built(name: str, settings: dict[str, Any]) -> Gate:
    known = {
        key: float(settings[key])
        for key in inspect.signature(GATES[name]).parameters
        if isinstance(settings.get(key), int | float)
    }
    try:
        return gate(name, **known)
    except ConfigError:
        return gate(name)


def gate_shapes(log: Sequence[Epoch], most: int = 4) -> list[GateShape]:
    """Up to ``most`` moments: falling temperatures at the final threshold or else rising thresholds."""
    marked = [epoch for epoch in log if epoch.threshold is not None and epoch.threshold > 0]
    if not marked:
        return []
    final = marked[-1].threshold or 0.0
    heats = sorted({epoch.temperature for epoch in marked if epoch.temperature}, reverse=True)
    if len(heats) > 1:
        levels = np.geomspace(heats[0], heats[-1], most).tolist()
        return [GateShape(f"τ = {level:.2g}", final, level) for level in levels]
    heat = heats[0] if heats else 1.0
    places = np.unique(np.linspace(0, len(marked) - 1, most).round().astype(int)).tolist()
    steps: dict[str, GateShape] = {}
    for epoch in (marked[place] for place in places):
        label = f"a = {epoch.threshold:.3g}"
        steps[label] = GateShape(label, epoch.threshold or 0.0, heat)
    return list(steps.values())


def gate_panels(shape_of: Gate, moments: Sequence[GateShape]) -> tuple[Figure, Figure]:
    """Two pictures, ψ(ŵ) and ŵ·ψ(ŵ), with one curve a moment and the final stop band behind."""
    reach = 2.4 * moments[-1].threshold
    latent = torch.linspace(-reach, reach, 481, dtype=torch.float64)
    panels = figure(430, 250), figure(430, 250)
    for panel, weighted in zip(panels, (False, True), strict=True):
        axes = panel.add_subplot()
        axes.axvspan(-moments[-1].threshold, moments[-1].threshold, color=BAND, linewidth=0)
        if weighted:
            axes.plot([-reach, reach], [-reach, reach], color=MUTED, linewidth=1, linestyle=(0, (1, 2)))
        for moment, colour in zip(moments, _COLOURS[-len(moments) :], strict=True):
            psi = shape_of.psi(latent, moment.threshold, moment.temperature)
            values = (latent * psi if weighted else psi).numpy()
            last = moment is moments[-1]
            axes.plot(
                latent.numpy(), values, color=colour, linewidth=2.2 if last else 1.3, label=moment.label
            )
        axes.set_xlim(-reach, reach)
        axes.set_xlabel("latent weight ŵ")
        axes.set_title("effective weight ŵ·ψ(ŵ)" if weighted else "gate ψ(ŵ)")
        axes.xaxis.set_major_locator(MaxNLocator(5))
        if not weighted:
            axes.set_ylim(-0.03, 1.05)
            axes.set_yticks([0, 0.5, 1])
        else:
            axes.yaxis.set_major_locator(MaxNLocator(5))
            axes.legend(frameon=False, fontsize=10, loc="upper left", handlelength=1.2, borderpad=0)
        plain_axes(axes)
    return panels
