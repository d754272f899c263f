"""A plan: base settings and grids of data × method × prior × rate × seed × variant, read from a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from bandstop.errors import ConfigError, printable

__all__ = ["DEFAULT", "Exclusion", "Grid", "Plan", "Teachers", "read_plan", "shipped_plans"]

DEFAULT = "default"
"""The variant that changes nothing."""


@dataclass(frozen=True)
class Teachers:
    """Which runs of the study a grid's runs learn from; always on the same data and fold."""

    seeds: Literal["same", "all"] | tuple[int, ...] = "same"
    """The teacher with the student's seed, those of all seeds, or of the listed ones."""
    variant: str = DEFAULT
    """Variant of the teachers."""
    rate: float | None = None
    """Rate of the teachers, which are trained by PMP; dense runs without one."""

    @property
    def kind(self) -> str:
        """What they are, for messages."""
        return "dense run" if self.rate is None else f"pmp run at {self.rate:g}"


@dataclass(frozen=True)
class Grid:
    """Every combination of its axes is a run; a dense run ignores rate and prior, a rival the prior."""

    data: tuple[str, ...]
    method: tuple[str, ...] = ("pmp",)
    prior: tuple[str, ...] = ()
    rate: tuple[float, ...] = ()
    seed: tuple[int, ...] = (0,)
    variant: tuple[str, ...] = (DEFAULT,)
    settings: Mapping[str, Any] | None = None
    """Settings of all runs of this grid."""
    teachers: Teachers | None = None
    join: tuple[str, ...] = ()
    """Method joined: the variants whose PMP runs, at the same rate and seed, a run has side by side."""

    @property
    def waits(self) -> bool:
        """Whether its runs need other runs of the study."""
        return self.teachers is not None or bool(self.join)


@dataclass(frozen=True)
class Exclusion:
    """Runs that match all of the given axes are left out."""

    data: tuple[str, ...] = ()
    method: tuple[str, ...] = ()
    prior: tuple[str, ...] = ()
    rate: tuple[float, ...] = ()
    seed: tuple[int, ...] = ()
    variant: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """A whole study as it stands in its file."""

    name: str
    source: str
    """The file, for messages."""
    text: str
    about: str
    base: Mapping[str, Any]
    variants: Mapping[str, Mapping[str, Any]]
    grids: tuple[Grid, ...]
    exclusions: tuple[Exclusion, ...]
    data: Mapping[str, str]
    """Where named data sets are, unless the command line says otherwise; paths are relative to the plan."""


def shipped_plans() -> dict[str, Path]:
    """The plans inside the package, by name.

    >>> "main" in shipped_plans()
    True
    """
    folder = Path(str(resources.files("bandstop.study"))) / "plans"
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def read_plan(given: str) -> Plan:
    """The plan in a file, or the shipped plan of that name."""
    shipped = shipped_plans()
    path = shipped.get(given) or Path(given).expanduser()
    if not path.is_file():
        raise ConfigError(
            f"{given}: no such plan; give a TOML file or one of the shipped plans {', '.join(shipped)}"
        )
    try:
        text = path.read_text(encoding="utf-8")
        found = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(printable(f"{path}: not valid TOML: {error}")) from None
    except RecursionError:
        raise ConfigError(f"{path}: not valid TOML: nested too deep") from None
    return _plan(found, path, text)


def _plan(found: dict[str, Any], path: Path, text: str) -> Plan:
    where = f"{path}:"
    _known(found, ("name", "about", "base", "variant", "grid", "exclude", "data"), where)
    variants = _table(found, "variant", where)
    for name, settings in variants.items():
        if not isinstance(settings, Mapping):
            raise ConfigError(f"{where} [variant.{name}] must be a table of settings, found {settings!r}")
    grids = tuple(
        _grid(t, f"{where} [[grid]] number {i}", variants)
        for i, t in enumerate(_tables(found, "grid", where), 1)
    )
    if not grids:
        raise ConfigError(f"{where} at least one [[grid]] is needed, found none")
    for axis, values in (("data", _table(found, "data", where)),):
        for key, spec in values.items():
            if not isinstance(spec, str):
                raise ConfigError(
                    f"{where} [{axis}] {key} must be a text such as 'fpha:PATH', found {spec!r}"
                )
    return Plan(
        name=_text(found, "name", where, path.stem),
        source=str(path),
        text=text,
        about=_text(found, "about", where, ""),
        base=_table(found, "base", where),
        variants=variants,
        grids=grids,
        exclusions=tuple(
            Exclusion(**_axes(t, f"{where} [[exclude]] number {i}", Exclusion))
            for i, t in enumerate(_tables(found, "exclude", where), 1)
        ),
        data=_table(found, "data", where),
    )


def _grid(table: Mapping[str, Any], where: str, variants: Mapping[str, Any]) -> Grid:
    axes = _axes(table, where, Grid, also=("settings", "teachers", "join"))
    if not axes.get("data"):
        raise ConfigError(f'{where} needs data, for instance data = ["hands"]')
    join = _values(table["join"], str, f"{where} join") if "join" in table else ()
    if bool(join) != ("joined" in axes.get("method", ())) or (
        join and ("teachers" in table or len(join) < 2)
    ):
        raise ConfigError(f'{where} method = "joined" goes with a join of two variants or more, no teachers')
    if join and len(axes["method"]) > 1:
        raise ConfigError(f"{where} method joined stands alone, found {list(axes['method'])}")
    for variant in (*axes.get("variant", ()), *join):
        if variant != DEFAULT and variant not in variants:
            raise ConfigError(f'{where} names the variant {variant!r}, but there is no [variant."{variant}"]')
    settings = _table(table, "settings", where)
    teachers = table.get("teachers")
    return Grid(
        **axes,
        settings=settings,
        teachers=None if teachers is None else _teachers(teachers, f"{where} teachers"),
        join=join,
    )


def _teachers(table: Any, where: str) -> Teachers:
    if not isinstance(table, Mapping):
        raise ConfigError(f'{where} must be a table such as {{ seeds = "same" }}, found {table!r}')
    _known(table, ("seeds", "variant", "rate"), where)
    seeds = table.get("seeds", "same")
    if seeds not in ("same", "all"):
        seeds = _values(seeds, int, f'{where} seeds (or "same" or "all")')
    rates = _axes({"rate": table["rate"]}, where, Grid)["rate"] if "rate" in table else (None,)
    if len(rates) > 1:
        raise ConfigError(f"{where} rate must be one number, found {list(rates)}")
    return Teachers(seeds=seeds, variant=_text(table, "variant", where, DEFAULT), rate=rates[0])


def _axes(table: Mapping[str, Any], where: str, kind: type, also: tuple[str, ...] = ()) -> dict[str, Any]:
    types = {"data": str, "method": str, "prior": str, "rate": float, "seed": int, "variant": str}
    _known(table, tuple(f.name for f in fields(kind)), where)
    found = {
        name: _values(value, types[name], f"{where} {name}")
        for name, value in table.items()
        if name not in also
    }
    for rate in found.get("rate", ()):
        if not 0 <= rate < 1:
            raise ConfigError(
                f"{where} rate must lie in [0, 1) (0.98 removes 98 % of the weights), found {rate}"
            )
    return found


def _values(value: Any, kind: type, where: str) -> tuple[Any, ...]:
    """One value or a list of them, all of one type and different."""
    given = value if isinstance(value, list) else [value]
    allowed = (int, float) if kind is float else (kind,)
    for item in given:
        if not isinstance(item, allowed) or isinstance(item, bool):
            wanted = {str: "texts", int: "whole numbers", float: "numbers"}[kind]
            raise ConfigError(f"{where} must be {wanted}, found {item!r}")
    made = tuple(kind(item) for item in given)
    if len(set(made)) < len(made) or not made:
        raise ConfigError(f"{where} must list at least one value and none twice, found {given}")
    return made


def _known(table: Mapping[str, Any], names: tuple[str, ...], where: str) -> None:
    for name in table:
        if name not in names:
            raise ConfigError(f"{where} {name!r} is not known here; it can hold {', '.join(names)}")


def _text(table: Mapping[str, Any], name: str, where: str, default: str) -> str:
    found = table.get(name, default)
    if not isinstance(found, str):
        raise ConfigError(f"{where} {name} must be a text, found {found!r}")
    return found


def _table(table: Mapping[str, Any], name: str, where: str) -> Mapping[str, Any]:
    found = table.get(name, {})
    if not isinstance(found, Mapping):
        raise ConfigError(f"{where} {name} must be a table, found {found!r}")
    return found


def _tables(table: Mapping[str, Any], name: str, where: str) -> list[Mapping[str, Any]]:
    found = table.get(name, [])
    if not isinstance(found, list) or not all(isinstance(t, Mapping) for t in found):
        raise ConfigError(f"{where} {name} must be written as [[{name}]] tables")
    return found
