"""What pruning costs a step at internet scale, on paper:
formulae over measured costs, written into docs/distributed.md.

Prints the tables; ``--write`` puts them into the page.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bandstop.engine.shards.radix import rounds
from bandstop.files import write_text

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "distributed.md"
BEGIN, END = "<!-- internet scale: begin -->", "<!-- internet scale: end -->"
SOURCES = ("histogram.json", "scale.json")
K, EVERY, BITS = 100, 4, 31
"""Bins, steps between thresholds (the default recipe's), bits of a float32 magnitude."""


@dataclass(frozen=True)
class Plan:
    """A training: weights, ranks, pruned layers, tokens a step, and the machine's assumed speed."""

    weights: float = 1e11
    ranks: int = 1000
    layers: int = 560
    tokens: float = 4e6
    flops: float = 4e14
    bandwidth: float = 5e10
    latency: float = 2e-5

    @property
    def shard(self) -> float:
        """Weights that a rank holds."""
        return self.weights / self.ranks

    @property
    def compute(self) -> float:
        """Seconds of a step: six operations a weight and token, shared by the ranks."""
        return 6 * self.weights * self.tokens / self.ranks / self.flops

    def all_reduce(self, payload: float) -> float:
        """Bytes that a rank sends (and receives) when ``payload`` bytes are summed over a ring."""
        return 2 * payload * (self.ranks - 1) / self.ranks

    def seconds(self, payload: float, calls: int) -> float:
        """Time of ``calls`` reductions of ``payload`` bytes together,
        over a tree of ranks with the assumed latency.
        """
        return (
            self.all_reduce(payload) / self.bandwidth
            + calls * 2 * self.latency * (self.ranks - 1).bit_length()
        )


def measured() -> dict[str, dict[str, Any]]:
    """Time a weight and extra memory of the penalty, by path, at the largest size that was measured."""
    found: dict[str, dict[str, Any]] = {}
    files = [path for name in SOURCES if (path := ROOT / "benchmarks" / "results" / name).is_file()]
    rows = [row for path in files for row in json.loads(path.read_text()).get("rows", [])]
    for row in rows:
        if not {"path", "weights", "processor_seconds", "extra_bytes"} <= row.keys():
            continue
        best = found.get(row["path"])
        if best is None or row["weights"] > best["weights"]:
            nanoseconds = row["processor_seconds"] / row["weights"] * 1e9
            found[row["path"]] = {
                "weights": row["weights"],
                "ns": nanoseconds,
                "extra": row["extra_bytes"] / (4 * row["weights"]),
            }
    return found


def tables(plan: Plan) -> str:
    """The tables of the page, in Markdown."""
    return "\n".join([*_communication(plan), "", *_computation(plan), "", *_memory(plan)])


def _communication(plan: Plan) -> list[str]:
    statistics = 8 * (K + 2)
    selection = 8 * sum(1 << width for _, width in rounds(BITS))
    penalty, update = plan.layers * statistics, plan.layers * selection
    fsdp = 3 * 2 * plan.weights * (plan.ranks - 1) / plan.ranks
    each = penalty + update / EVERY
    rows = [
        ("penalty: one all-reduce per step", f"L·(K+2)·8 = {plan.layers}·{K + 2}·8", penalty, 1.0),
        (
            f"thresholds: {len(rounds(BITS))} all-reduces every {EVERY} steps",
            f"L·(2¹¹+2¹¹+2⁹)·8 = {plan.layers}·{selection // 8:,}·8",
            update,
            len(rounds(BITS)),
        ),
    ]
    lines = ["| communication | payload | bytes | sent by each rank | seconds |", "|---|---|---|---|---|"]
    for name, formula, payload, calls in rows:
        lines.append(
            f"| {name} | {formula} | {_bytes(payload)} | {_bytes(plan.all_reduce(payload))} "
            f"| {plan.seconds(payload, int(calls)):.4f} |"
        )
    lines += [
        f"| the pruner, average per step | penalty + thresholds/{EVERY} | {_bytes(each)} "
        f"| {_bytes(plan.all_reduce(each))} "
        f"| {plan.seconds(penalty, 1) + plan.seconds(update, len(rounds(BITS))) / EVERY:.4f} |",
        f"| FSDP2 itself, per step, bfloat16 | 3·2·n·(R−1)/R | {_bytes(fsdp)} | {_bytes(fsdp)} "
        f"| {fsdp / plan.bandwidth:.1f} |",
    ]
    share = plan.all_reduce(each) / fsdp
    return [*lines, "", f"The pruner adds {share:.1e} of the bytes that FSDP2 sends anyway."]


def _computation(plan: Plan) -> list[str]:
    lines = [
        f"| penalty on a rank's {_count(plan.shard)} weights | ns per weight (measured at) "
        "| seconds per step, one CPU thread | extra memory |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {path} | {row['ns']:.2f} ({_count(row['weights'])}) | {row['ns'] * 1e-9 * plan.shard:.2f} "
        f"| {row['extra']:.1%} = {_bytes(row['extra'] * 4 * plan.shard)} |"
        for path, row in measured().items()
        if path != "literal"
    ]
    return [
        *lines,
        "",
        f"A step computes 6·n·tokens/(R·speed) = {plan.compute:.1f} s at {_count(plan.tokens)} tokens and "
        f"{plan.flops:.0e} operations per second and rank.",
    ]


def _memory(plan: Plan) -> list[str]:
    return [
        "| memory on a rank, lasting | formula | bytes |",
        "|---|---|---|",
        "| latents, gradient, two moments (Adam, float32); as without the pruner | 16·n/R "
        f"| {_bytes(16 * plan.shard)} |",
        f"| mask, from the step at which it is fixed | n/R | {_bytes(plan.shard)} |",
        f"| thresholds, temperatures, gains with gradient and moments | 24·L | {_bytes(24 * plan.layers)} |",
        "| kept for the backward pass, without activation checkpointing: the gated weights, bfloat16 "
        f"| 2·n | {_bytes(2 * plan.weights)} |",
        "| the same with activation checkpointing, one block at a time (L/7 blocks) | 2·7·n/L "
        f"| {_bytes(14 * plan.weights / plan.layers)} |",
    ]


def _bytes(number: float) -> str:
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if number < 999.5 or unit == "TB":
            return f"{number:.3g} {unit}"
        number /= 1000
    raise AssertionError


def _count(number: float) -> str:
    return f"{number:.3g}" if number < 1e6 else f"{number / 1e6:.4g} M"


def page(text: str, plan: Plan) -> str:
    """The page with its tables made anew."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{tables(plan)}\n{END}{after}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    if parser.parse_args().write:
        write_text(PAGE, page(PAGE.read_text(encoding="utf-8"), Plan()))
    else:
        print(tables(Plan()))
