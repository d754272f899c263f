"""The defining computation of each rival beside its reference, on the same tensors: scores,
masks, schedules.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import ModuleType

import torch
import yaml
from torch import Tensor, nn

from bandstop.engine.select.allocation import allocate, lamp_scores, pooled_counts
from bandstop.engine.select.topk import select
from bandstop.method.schedules import Ramp
from bandstop.rivals import make
from bandstop.rivals.ac_dc import AcDcSettings
from bandstop.rivals.synflow import SynFlow, SynFlowSettings

from . import gates, sources
from .common import RATES, Row, float64, gap, row, trained
from .digits import Batches, digits, fresh, weights


def magnitude_rows(pruners: ModuleType) -> list[Row]:
    """LAMP scores; masks by LAMP and by global magnitude; counts by ERK."""
    net = trained()
    with float64():
        values = [w.detach().double() for w in weights(net)]
        scores = [gap(lamp_scores(w.abs()), pruners._normalize_scores(w**2)) for w in values]
    found = [row("mp-lamp", "LAMP scores", 11900, max(scores), "relative")]
    for method, rule, prune in (
        ("mp-lamp", "lamp", pruners.prune_weights_lamp),
        ("mp", "learned", pruners.prune_weights_global),
    ):
        differ = 0
        for rate in RATES:
            theirs = trained()
            pruners.prune_weights_reparam(theirs)
            prune(theirs, rate)
            named = {str(i): w.detach().abs() for i, w in enumerate(weights(net))}
            counts = allocate(rule, round(11900 * (1 - rate)), named, floor=0)
            masks = [module.weight_mask.bool() for module in theirs if hasattr(module, "weight_mask")]
            differ += sum(
                int((select(named[str(i)], counts[str(i)]) ^ mask).sum()) for i, mask in enumerate(masks)
            )
        found.append(row(method, "masks at 90, 95 and 98 %", 3 * 11900, differ, "connections"))
    largest = 0.0
    for rate in RATES:
        theirs = fresh(0)
        pruners.prune_weights_reparam(theirs)
        amounts = pruners._compute_erk_amounts(theirs, rate)
        named = {str(i): w.detach() for i, w in enumerate(weights(net))}
        ours = allocate("erk", round(11900 * (1 - rate)), named, floor=0)
        asked = [(1 - float(a)) * w.numel() for a, w in zip(amounts, named.values(), strict=True)]
        largest = max(largest, *(abs(c - a) for c, a in zip(ours.values(), asked, strict=True)))
    found.append(
        row(
            "random-erk",
            "counts of layers at 90, 95 and 98 % (they round)",
            9,
            round(largest, 2),
            "connections",
        )
    )
    return found


def phase_rows(pruners: ModuleType, recyclers: ModuleType, masking: ModuleType, root: Path) -> list[Row]:
    """AC/DC's phases of each epoch by their configuration; the cubic law of gradual pruning."""
    place = root / "configs" / "neurips" / "iht_imagenet_resnet50_insta_cosinelr_s98_ep100.yaml"
    config = yaml.safe_load(place.read_text())
    net = masking.get_wrapped_model(fresh(0))
    names = ["0", "2", "4"]
    cuts = [
        pruners.build_pruner_from_config(net, {**c, "modules": names}) for c in config["pruners"].values()
    ]
    returns = [
        recyclers.build_recycler_from_config(net, {**c, "modules": names})
        for c in config["recyclers"].values()
    ]
    sparse, differ = False, 0
    for epoch in range(100):
        if any(not cut._pruner_not_active(epoch) for cut in cuts):
            sparse = True
        if any(not back._recycler_not_active(epoch) for back in returns):
            sparse = False
        differ += sparse != AcDcSettings().compressed((epoch + 0.5) / 100)
    gradual = {
        "epochs": [20, 1, 79],
        "weight_only": True,
        "initial_sparsity": 0.0,
        "target_sparsity": 0.98,
        "modules": names,
    }
    cubic = pruners.UnstructuredMagnitudePruner(net, **gradual)
    ramp = Ramp(0.0, 1.0, begin=0.20, end=0.79, power=3.0)
    curve = max(abs(cubic._required_sparsity(e) - 0.98 * ramp(e / 100)) for e in range(20, 80))
    return [
        row("ac-dc", "phase of each epoch of their ImageNet configuration", 100, differ, "epochs"),
        row("gmp", "cubic schedule", 60, curve, "absolute"),
    ]


class CountedSynFlow(SynFlow):
    """Ours, with the rounding of the reference: every round drops a whole number, rounded down."""

    def select(self, scores: Mapping[str, Tensor], ramp: float = 1.0) -> dict[str, Tensor]:
        dropped = int(ramp * (self.bound.prunable - self.remaining(1.0)) + 1e-6)
        counts = pooled_counts(list(scores.values()), self.bound.prunable - dropped, 0)
        return {name: select(score, n) for (name, score), n in zip(scores.items(), counts, strict=True)}


def before_training_rows(
    pruners: ModuleType, pruning: ModuleType, layers: ModuleType, generator: ModuleType
) -> list[Row]:
    """SNIP's and SynFlow's masks before training."""
    differ = {"snip": 0, "synflow": 0}
    for rate in RATES:
        for seed in range(3):
            net, example = fresh(seed).double(), digits()[0][:1].double()
            snip = make("snip", net, rate, steps=1, settings={"floor": 0})
            batch, labels = Batches(net, seed, digits()).draw()
            scores = net(batch.double())
            snip.prepare(partial(nn.functional.cross_entropy, scores, labels))  # type: ignore[attr-defined]
            flow = CountedSynFlow(
                fresh(seed).double(), rate, steps=1, settings=SynFlowSettings(floor=0), example=example
            )
            for name, method in {"snip": snip, "synflow": flow}.items():
                with float64():
                    masks = masks_before_training(name, rate, seed, pruners, pruning, layers, generator)
                ours = [method.band(layer).mask for layer in method.layers]
                differ[name] += sum(int((o ^ t).sum()) for o, t in zip(ours, masks, strict=True))
    what = "masks at 90, 95 and 98 %, 3 seeds"
    more = ", 100 rounds with their rounding of counts"
    return [
        row(name, what + (more if name == "synflow" else ""), 9 * 11900, n, "connections")
        for name, n in differ.items()
    ]


def masks_before_training(
    name: str,
    rate: float,
    seed: int,
    pruners: ModuleType,
    pruning: ModuleType,
    layers: ModuleType,
    generator: ModuleType,
) -> list[Tensor]:
    """The reference's masks for the net of a seed."""
    plain = fresh(seed).to(torch.get_default_dtype())
    net = nn.Sequential(
        *(
            layers.Linear(m.in_features, m.out_features) if isinstance(m, nn.Linear) else nn.ReLU()
            for m in plain
        )
    )
    net.load_state_dict(plain.state_dict(), strict=False)
    batch, labels = Batches(net, seed, digits()).draw()
    loader = [(batch.to(torch.get_default_dtype()), labels)]
    kind = {"snip": pruners.SNIP, "synflow": pruners.SynFlow}[name]
    pruner = kind(generator.masked_parameters(net))
    rounds = 100 if name == "synflow" else 1
    pruning.tqdm = lambda steps: steps
    pruning.prune_loop(
        net,
        nn.CrossEntropyLoss(),
        pruner,
        loader,
        torch.device("cpu"),
        1 - rate,
        "exponential",
        "global",
        rounds,
    )
    return [mask.bool() for mask, _ in pruner.masked_parameters]


def rows(name: str, modules: list[ModuleType], root: Path) -> list[Row]:
    """All comparisons on tensors with one reference."""
    found: list[Row] = {
        sources.LAMP: lambda: magnitude_rows(*modules),
        sources.STR: lambda: gates.soft_threshold_rows(*modules),
        sources.ACDC: lambda: phase_rows(*modules, root),
        sources.SYNFLOW: lambda: before_training_rows(*modules),
        sources.PROBMASK: lambda: gates.probability_rows(*modules),
        sources.ASL: lambda: gates.gaussian_rows(*modules),
        sources.TOPKAST: lambda: gates.top_rows(*modules),
        sources.POWERPROP: lambda: gates.power_rows(*modules),
    }.get(name, list)()
    return found
