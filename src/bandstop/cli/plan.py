"""`bandstop plan`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import tyro

from bandstop.cli.parse import glance, parse
from bandstop.errors import ConfigError
from bandstop.training.config import RunConfig
from bandstop.training.presets import starting_config

__all__ = ["Plan", "main"]


@dataclass(frozen=True)
class Plan:
    """Say before training how many connections each layer will keep, and what of it is sure.

    Takes DATA and the flags of `bandstop train`; trains nothing and writes nothing. The counts follow from
    the prior, the layers' sizes and the rule by which they share the budget.

    Examples:
      bandstop plan hands --rate 0.98
      bandstop plan hands --weights 800 --prune.allocation erk
    """

    config: Annotated[RunConfig, tyro.conf.arg(name="")] = field(default_factory=RunConfig)


@dataclass(frozen=True)
class _Decisive:
    """The flag that decides what the others start from."""

    preset: str | None = None


def main(arguments: Sequence[str]) -> int:
    """Print the plan."""
    start = starting_config(glance(_Decisive, arguments).preset)
    config = parse(Plan, "plan", arguments, Plan(config=start)).config
    if config.asked and config.rates is None and config.method == "pmp":
        from bandstop.cli.show import tell_dropped
        from bandstop.training.run import plan_run

        print(plan_run(config, tell_dropped))
        return 0
    if config.rates is not None:
        problem = "--rates leaves the budget to `bandstop extract`: plan one of them with --rate"
    elif config.asked:
        problem = f"only method pmp shares out its budget before training, found {config.method}"
    else:
        problem = "a plan needs a budget: add one such as --rate 0.98"
    raise ConfigError(problem)
