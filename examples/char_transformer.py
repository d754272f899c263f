"""A character-level transformer, dense and pruned: `python examples/char_transformer.py [--short]`."""

import torch
from example_runs import main
from grammar import text
from torch import Tensor, nn
from torch.nn import functional as F

from bandstop import Pruner

LETTERS = " .abcdefghijklmnopqrstuvwxyz"
BATCH, LENGTH, WIDTH = 16, 32, 32


def data(validation: bool) -> tuple[Tensor, Tensor]:
    """Training and judging text as numbers; test and validation text come from different seeds."""
    parts = (text(60_000, seed=0), text(12_000, seed=1 if validation else 2))
    train, judge = (torch.tensor([LETTERS.index(c) for c in part]) for part in parts)
    return train, judge[: len(judge) // (LENGTH + 1) * (LENGTH + 1)].view(-1, LENGTH + 1)


class Block(nn.Module):
    """Causal self-attention and a feed-forward layer, each after a normalisation and beside a shortcut."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.forward_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(x)
        parts = (self.query(y), self.key(y), self.value(y))
        heads = (part.unflatten(-1, (4, -1)).transpose(1, 2) for part in parts)
        mixed = F.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.narrow(F.relu(self.wide(self.forward_norm(x))))


class Transformer(nn.Module):
    """Letters and places in, scores of the next letter out."""

    def __init__(self) -> None:
        super().__init__()
        self.letter, self.place = nn.Embedding(len(LETTERS), WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(Block(), Block())
        self.norm, self.scores = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, len(LETTERS))

    def forward(self, letters: Tensor) -> Tensor:
        places = torch.arange(letters.shape[1], device=letters.device)
        return self.scores(self.norm(self.blocks(self.letter(letters) + self.place(places))))


def train(rate: float, seed: int, short: bool = False, validation: bool = False) -> tuple[nn.Module, float]:
    """One run from random weights to a finished plain network and its next-letter accuracy in per cent."""
    torch.manual_seed(seed)
    (letters, judge), net, steps = data(validation), Transformer(), 60 if short else 400
    pruner = Pruner(net, rate, steps=steps) if rate else None
    groups = pruner.parameter_groups(lr=1e-2, latent_lr=0.2) if pruner else net.parameters()
    optimiser = torch.optim.AdamW(groups, lr=1e-2, weight_decay=1e-2)
    top = [group["lr"] for group in optimiser.param_groups]
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, top, total_steps=steps, pct_start=0.1)
    for _ in range(steps):
        starts = torch.randint(len(letters) - LENGTH, (BATCH, 1))
        rows = letters[starts + torch.arange(LENGTH + 1)]
        loss = F.cross_entropy(net(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        optimiser.zero_grad()
        (loss + pruner.penalty() if pruner else loss).backward()
        optimiser.step()
        schedule.step()
        if pruner:
            pruner.step()
    net = pruner.finalize().eval() if pruner else net.eval()
    with torch.no_grad():
        return net, 100 * (net(judge[:, :-1]).argmax(-1) == judge[:, 1:]).float().mean().item()


if __name__ == "__main__":
    main("char_transformer", train)
