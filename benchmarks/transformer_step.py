"""What the pruner costs a training step of a transformer with the shape of GPT-2 small (124 million weights),
on one thread.

    python benchmarks/transformer_step.py --out benchmarks/results/transformer_step.json

One network in plain torch, its head tied to the token embedding, takes AdamW steps on random tokens: bare,
and with the pruner on it. Both share the machine's noise: they take turns, step by step, and processor time
is counted beside wall time. About 6 GB.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bandstop import Pruner, Recipe
from bandstop.files import write_text
from bandstop.method.schedules import Constant
from bandstop.training.malloc import keep_freed_memory

VOCABULARY, CONTEXT, WIDTH, HEADS, LAYERS = 50_257, 1_024, 768, 12, 12


class Block(nn.Module):
    """Attention and a feed-forward layer, normalised before each."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        parts = self.attention(self.norm_1(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.projection(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.narrow(F.gelu(self.widen(self.norm_2(x)), approximate="tanh"))


class Transformer(nn.Module):
    """GPT-2's shape."""

    def __init__(
        self,
        vocabulary: int = VOCABULARY,
        context: int = CONTEXT,
        width: int = WIDTH,
        heads: int = HEADS,
        layers: int = LAYERS,
    ) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight
        for weight in (p for p in self.parameters() if p.ndim > 1):
            nn.init.normal_(weight, std=0.02)

    def forward(self, words: Tensor) -> Tensor:
        x = self.tokens(words) + self.places(torch.arange(words.shape[1], device=words.device))
        for block in self.blocks:
            x = block(x)
        scores: Tensor = self.head(self.norm(x))
        return scores


def stepper(recipe: Recipe | None, layers: int, tokens: int) -> Callable[[int], tuple[float, float]]:
    """A function that takes one training step on so many tokens and says its processor and wall time."""
    torch.manual_seed(0)
    net = Transformer(layers=layers)
    pruner = Pruner(net, 0.9, steps=10_000, recipe=recipe) if recipe else None
    groups = pruner.parameter_groups(1e-4) if pruner else net.parameters()
    optimiser = torch.optim.AdamW(groups, lr=1e-4)
    words = torch.randint(VOCABULARY, (1, CONTEXT + 1))

    def step(tokens: int) -> tuple[float, float]:
        began = time.process_time(), time.perf_counter()
        scores = net(words[:, :tokens])
        loss = F.cross_entropy(scores[0], words[0, 1 : tokens + 1])
        if pruner:
            loss = loss + pruner.penalty()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        if pruner:
            pruner.step()
        return time.process_time() - began[0], time.perf_counter() - began[1]

    return step


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokens", type=int, nargs="+", default=[128, 1024])
    parser.add_argument(
        "--steps",
        type=int,
        default=8,
        help="steps of each kind: a multiple of how seldom thresholds are renewed",
    )
    parser.add_argument("--layers", type=int, default=LAYERS)
    parser.add_argument("--kl", type=float, default=0.0, help="weight of the prior's penalty")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    keep_freed_memory()
    recipe = Recipe(kl=Constant(asked.kl)) if asked.kl else Recipe.default()
    bare, pruned = stepper(None, asked.layers, 0), stepper(recipe, asked.layers, 0)
    rows = []
    for tokens in asked.tokens:
        bare(tokens), pruned(tokens)  # memory is asked for once
        times = [(bare(tokens), pruned(tokens)) for _ in range(asked.steps)]
        plain, gated = ([t[i] for t in times] for i in (0, 1))
        row = {
            "tokens": tokens,
            "steps": asked.steps,
            "kl": asked.kl,
            "bare_processor": round(sum(t[0] for t in plain) / asked.steps, 3),
            "pruned_processor": round(sum(t[0] for t in gated) / asked.steps, 3),
            "bare_wall": round(statistics.median(t[1] for t in plain), 3),
            "pruned_wall": round(statistics.median(t[1] for t in gated), 3),
        }
        row["ratio_processor"] = round(row["pruned_processor"] / row["bare_processor"], 4)
        rows.append(row)
        print(json.dumps(row), [tuple(round(x, 2) for x in t) for t in gated], flush=True)
    about = {"torch": torch.__version__, "machine": platform.machine(), "load_average": os.getloadavg()[0]}
    if asked.out:
        write_text(asked.out, json.dumps({"about": about, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
