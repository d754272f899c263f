"""How a network starts on its way to the budget: chosen by whether it was trained before, and said why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torch import nn

from bandstop.engine.attach.parametrisation import PrunedLayer
from bandstop.engine.attach.trained import was_trained
from bandstop.engine.recipe import Recipe

__all__ = ["choose_start", "with_start"]


def choose_start(
    recipe: Recipe | None, model: nn.Module, layers: Sequence[PrunedLayer]
) -> tuple[Recipe, str]:
    """The recipe with its start chosen, and the sentence that says why; no sentence if a start was given.

    A network that was trained keeps its function when the pruner is attached: its latents are its weights,
    ``Ŵ = W / g``, in the prior's scale (``start="scale"``). Any other starts with the prior's quantiles in
    the order of its weights (``start="rank"``).

    >>> from bandstop.engine.attach.parametrisation import prunable_layers
    >>> net = nn.Linear(30, 30)
    >>> recipe, why = choose_start(None, net, prunable_layers(net))
    >>> recipe.start, why.split(":")[0]
    ('rank', 'started as a new network (start="rank")')
    >>> choose_start(Recipe(start="scale"), net, prunable_layers(net))[1]
    ''
    """
    asked = Recipe.of(recipe)
    if asked.start != "auto":
        return asked, ""
    found = was_trained(model, layers)
    kind, start = ("trained", "scale") if found.trained else ("new", "rank")
    return with_start(asked, start), f'started as a {kind} network (start="{start}"): {found.why}'


def with_start(recipe: Recipe, start: str) -> Recipe:
    """A recipe whose start was left open, with this one; the default recipe takes its schedule from it too.

    >>> with_start(Recipe(), "scale") == Recipe.finetune(), with_start(Recipe(freeze=0.9), "scale").freeze
    (True, 0.9)
    """
    if start == "scale" and recipe == Recipe.default(recipe.prior):
        return Recipe.finetune(recipe.prior)
    return replace(recipe, start=start)  # type: ignore[arg-type]
