"""From a plan to its runs: each with axes, a resolved config and an id that never changes."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bandstop.errors import ConfigError
from bandstop.record.reading import AS_IT_SAYS
from bandstop.rivals import NAMES
from bandstop.study.data import folds_of
from bandstop.study.plan import DEFAULT, Grid, Plan
from bandstop.study.settings import Layer, resolve
from bandstop.training.config import RunConfig
from bandstop.training.method import recipe_of

__all__ = ["Axes", "PlannedRun", "digest", "expand"]


@dataclass(frozen=True)
class Axes:
    """Where a run stands in its study."""

    data: str
    fold: int | None
    method: str
    variant: str
    prior: str | None
    rate: float | None
    seed: int

    def slug(self, distilled: bool) -> str:
        """A readable name, safe as a folder's.

        >>> Axes("fpha", None, "pmp", "default", "laplace", 0.995, 0).slug(distilled=True)
        'fpha-pmp-laplace-99.5-distilled-s0'
        """
        parts = [
            self.data if self.fold is None else f"{self.data}.{self.fold}",
            self.method,
            self.prior or "",
            "" if self.variant == DEFAULT else self.variant,
            "" if self.rate is None else f"{self.rate * 100:.6g}",
            "distilled" if distilled else "",
            f"s{self.seed}",
        ]
        return "-".join(re.sub(r"[^A-Za-z0-9.+_-]+", "_", part) for part in parts if part)


@dataclass(frozen=True)
class PlannedRun:
    """One run of a study."""

    id: str
    axes: Axes
    config: RunConfig
    """Resolved but for places: data are named by key, teachers and joined runs by id."""
    needs: tuple[str, ...]
    """Ids of the runs that must be finished first: to learn from, or to join."""

    @property
    def slug(self) -> str:
        """Its readable name."""
        return self.axes.slug(bool(self.needs) and not self.config.joined_from)


@dataclass(frozen=True)
class _Place:
    grid: Grid
    number: int
    axes: Axes


def digest(config: RunConfig) -> str:
    """Eight hexadecimal digits of a config's hash: any change of any setting changes it.

    >>> digest(RunConfig()) == digest(RunConfig(epochs=400)) != digest(RunConfig(epochs=401))
    True
    """
    settings = dataclasses.asdict(config)
    if config.preset == "empirical":  # what was the default keeps its ids
        settings["preset"] = "default"
    if config.reading == AS_IT_SAYS:  # runs of before this setting keep their ids
        del settings["reading"]
    if not config.joined_from:  # likewise
        del settings["joined_from"]
    if config.prune.coordinates == "gaussian":  # likewise
        del settings["prune"]["coordinates"]
    if config.rates is None:  # likewise: what is set for many rates was once called otherwise
        for name in ("sweep_from", "sweep_until", "sweep_average", "waypoints"):
            del settings["prune"][name]
        settings["prune"] |= {"passes": 3, "self_share": 0.5, "follow": False}
    text = json.dumps(settings, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def expand(
    plan: Plan, overrides: Sequence[Mapping[str, Any]] = (), only: Sequence[str] = ()
) -> tuple[list[PlannedRun], list[str]]:
    """All runs of a plan in its order, and remarks (variants that come to the same run are run once).

    ``overrides`` are settings that win over the plan's; ``only`` holds filters such as ``"seed=0,1"``; the
    teachers of a run that passes are kept too.
    """
    places = [place for i, grid in enumerate(plan.grids, 1) for place in _places(plan, grid, i)]
    made: dict[int, PlannedRun] = {}
    for waiting in (False, True):
        plain = list(made.values())
        for order, place in enumerate(places):
            if place.grid.waits == waiting:
                made[order] = _run(plan, place, overrides, plain)
    runs, remarks = _distinct([made[order] for order in range(len(places))], plan.source)
    if not runs:
        raise ConfigError(f"{plan.source}: the exclusions leave no run")
    return _chosen(runs, only), remarks


def _places(plan: Plan, grid: Grid, number: int) -> Iterator[_Place]:
    known = {"pmp", "dense", "joined", *NAMES}
    for method in grid.method:
        if method not in known:
            where = f"{plan.source}: [[grid]] number {number}"
            raise ConfigError(f"{where} method must be one of {', '.join(sorted(known))}, found {method!r}")
    product = itertools.product(
        grid.data, grid.method, grid.variant, grid.prior or (None,), grid.rate or (None,), grid.seed
    )
    for data, method, variant, prior, rate, seed in product:
        key, folds = folds_of(data)
        for fold in folds:
            axes = Axes(
                key,
                fold,
                method,
                variant,
                prior if method == "pmp" else None,
                None if method == "dense" else rate,
                seed,
            )
            if not any(_matches(axes, _fields(exclusion)) for exclusion in plan.exclusions):
                yield _Place(grid, number, axes)


def _run(
    plan: Plan, place: _Place, overrides: Sequence[Mapping[str, Any]], plain: list[PlannedRun]
) -> PlannedRun:
    axes, grid, where = place.axes, place.grid, f"{plan.source}: [[grid]] number {place.number}"
    layers: list[Layer] = [(f"{plan.source}: [base]", plan.base), (f"{where} settings", grid.settings or {})]
    layers.append((f"{plan.source}: [variant.{axes.variant}]", plan.variants.get(axes.variant, {})))
    layers += [("--set", settings) for settings in overrides]
    data = axes.data if axes.fold is None else f"{axes.data}@{axes.fold}"
    method = "pmp" if grid.join else axes.method
    given = {"data": data, "method": method, "prior": axes.prior, "rate": axes.rate, "seed": axes.seed}
    config = resolve([*layers, (where, {})], given).resolved()
    if axes.method != "dense" and config.budget is None:
        raise ConfigError(
            f"{where} {axes.method} needs a rate (or weights, bytes or macs as a setting), found none"
        )
    if axes.method == "pmp":
        axes = dataclasses.replace(axes, prior=config.prior)
        _check_recipe(config, f"{where} variant {axes.variant}")
    if grid.join:
        others = _members(place, plain, where)
        config = dataclasses.replace(config, joined_from=others)
    else:
        others = () if grid.teachers is None else _teachers(place, plain, where)
        if others:
            config = dataclasses.replace(config, distill=dataclasses.replace(config.distill, teachers=others))
    distilled = bool(others) and not grid.join
    return PlannedRun(f"{axes.slug(distilled)}-{digest(config)}", axes, config, others)


def _check_recipe(config: RunConfig, where: str) -> None:
    """Refuse settings that do not go together now, not when the run's turn comes."""
    try:
        recipe_of(config)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None


def _teachers(place: _Place, plain: list[PlannedRun], where: str) -> tuple[str, ...]:
    asked, axes = place.grid.teachers, place.axes
    assert asked is not None
    seeds = (axes.seed,) if asked.seeds == "same" else None if asked.seeds == "all" else asked.seeds
    found = {
        run.axes.seed: run.id
        for run in plain
        if (run.axes.data, run.axes.fold, run.axes.method, run.axes.variant, run.axes.rate)
        == (axes.data, axes.fold, "dense" if asked.rate is None else "pmp", asked.variant, asked.rate)
        and (seeds is None or run.axes.seed in seeds)
    }
    missing = [str(seed) for seed in seeds or () if seed not in found]
    if missing or not found:
        raise ConfigError(
            f"{where} teachers: the study has no {asked.kind} of {axes.data} (variant {asked.variant}) "
            f"with seed {' or '.join(missing) or 'of any kind'}; add a [[grid]] of them, without teachers "
            "of its own"
        )
    return tuple(found[seed] for seed in sorted(found))


def _members(place: _Place, plain: list[PlannedRun], where: str) -> tuple[str, ...]:
    """The runs that a joined one has side by side: its data, rate and seed, the variants that it names."""
    axes = place.axes
    pruned = dataclasses.replace(axes, method="pmp", prior=None)
    wanted = [dataclasses.replace(pruned, variant=variant) for variant in place.grid.join]
    found = {dataclasses.replace(run.axes, prior=None): run.id for run in plain}
    if missing := [member.variant for member in wanted if member not in found]:
        raise ConfigError(
            f"{where} join: the study has no pmp run of {axes.data} at {axes.rate} with seed {axes.seed} of "
            f"variant {' or '.join(missing)}; add a [[grid]] of them, without teachers"
        )
    return tuple(found[member] for member in wanted)


def _distinct(runs: list[PlannedRun], source: str) -> tuple[list[PlannedRun], list[str]]:
    kept: dict[str, PlannedRun] = {}
    named: dict[str, PlannedRun] = {}
    remarks: dict[str, None] = {}
    for run in runs:
        key, slug = digest(run.config), run.slug
        if key in kept:
            first = kept[key].axes
            if first.variant != run.axes.variant:
                remarks[
                    f"variant {run.axes.variant} is the same run as variant {first.variant}, and is run once"
                ] = None
            continue
        if slug in named:
            raise ConfigError(
                f"{source}: two different runs are both called {slug}; give one of them a variant of its own"
            )
        kept[key] = named[slug] = run
    return list(kept.values()), list(remarks)


def _chosen(runs: list[PlannedRun], only: Sequence[str]) -> list[PlannedRun]:
    wanted: dict[str, tuple[Any, ...]] = {}
    kinds: dict[str, Any] = {
        "data": str,
        "method": str,
        "variant": str,
        "prior": str,
        "rate": float,
        "seed": int,
    }
    for text in only:
        name, equals, values = text.partition("=")
        if not equals or name not in kinds:
            raise ConfigError(
                f"--only needs AXIS=VALUE[,VALUE…] with an axis of {', '.join(kinds)}, found {text!r}"
            )
        try:
            wanted[name] = tuple(kinds[name](value) for value in values.split(","))
        except ValueError:
            raise ConfigError(f"--only {name} must be numbers, found {values!r}") from None
    chosen = {run.id for run in runs if _matches(run.axes, wanted)}
    if not chosen:
        raise ConfigError(f"no run of the plan is left by --only {' --only '.join(only)}")
    needed = chosen | {other for run in runs if run.id in chosen for other in run.needs}
    return [run for run in runs if run.id in needed]


def _matches(axes: Axes, wanted: Mapping[str, tuple[Any, ...]]) -> bool:
    return all(getattr(axes, name) in values for name, values in wanted.items() if values)


def _fields(exclusion: Any) -> dict[str, tuple[Any, ...]]:
    return {field.name: getattr(exclusion, field.name) for field in dataclasses.fields(exclusion)}
