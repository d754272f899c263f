"""Thresholds, gains and charts of all layers renewed at a moment of training."""

from __future__ import annotations

from bandstop.engine.attach.layers import PrunedLayers
from bandstop.engine.hold_at_once import HoldAtOnce
from bandstop.engine.hold_prior import pull_to_prior
from bandstop.engine.recipe import Recipe
from bandstop.engine.thresholds import Thresholds

__all__ = ["Renewal"]


class Renewal:
    """Renews what the bands of ``layers`` hold; latents that are held to a prior move with it."""

    def __init__(self, layers: PrunedLayers, thresholds: Thresholds) -> None:
        self.layers, self.thresholds = layers, thresholds
        held = thresholds.recipe.rule == "held"
        self.at_once = HoldAtOnce(layers, thresholds.recipe.trained_prior) if held else None

    def __call__(self, recipe: Recipe, progress: float) -> dict[str, int] | None:
        """Returns how many connections pass in each layer, None if that is not known without counting."""
        ramp, temperature, scales = recipe.ramp(progress), recipe.temperature(progress), None
        if recipe.rule == "held":
            fraction = recipe.hold(progress)
            if self.at_once is not None and self.at_once.usable():
                aims = self.thresholds.aims(ramp, self.layers.free_latents)
                if self.at_once(fraction, temperature, aims):
                    return None
            scales = pull_to_prior(self.layers, recipe.trained_prior, fraction)
        levels = self.thresholds.at(ramp, self.layers.free_latents(), scales)
        for layer in self.layers:
            assert layer.band is not None
            stretch = (levels.gains or {}).get(layer.name)
            layer.band.set_levels(levels.thresholds[layer.name], temperature, stretch)
            if layer.band.charted:
                spread, scale = self.thresholds.chart(layer.name)
                layer.band.set_chart(spread, scale, self.thresholds.bound.sizes[layer.name])
        return levels.counts
