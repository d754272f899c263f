"""An LSTM on skeletons (the embedded hands), dense and pruned: `python examples/hands_lstm.py [--short]`."""

import torch
from example_runs import main
from torch import nn
from torch.nn import functional as F

from bandstop import Pruner
from bandstop.nets import LSTMRecogniser
from bandstop.skeleton import load
from bandstop.skeleton.augment import Augmentation
from bandstop.training.data import prepare

BATCH, CHUNKS = 64, 16


def train(rate: float, seed: int, short: bool = False, validation: bool = False) -> tuple[nn.Module, float]:
    """One run from random weights to a finished plain network and its accuracy in per cent."""
    torch.manual_seed(seed)
    hands = prepare(load("hands"), chunks=CHUNKS, validation=0.25 if validation else 0.0, seed=seed)
    joints, signal = hands.judge_signals.shape[1:]
    net = LSTMRecogniser(joints, signal, hands.classes, hidden=100)
    epochs, draw = 2 if short else 60, torch.Generator().manual_seed(seed)
    batches = len(hands.table) // BATCH
    pruner = Pruner(net, rate, steps=epochs * batches) if rate else None
    groups = pruner.parameter_groups(lr=2e-2, latent_lr=0.2) if pruner else net.parameters()
    optimiser = torch.optim.AdamW(groups, lr=5e-3, weight_decay=1e-2)
    top = [group["lr"] for group in optimiser.param_groups]
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, top, total_steps=epochs * batches, pct_start=0.1
    )
    for _ in range(epochs):
        signals, labels = hands.epoch(Augmentation(), draw)  # every sequence once, changed anew
        for x, y in zip(signals.tensor_split(batches), labels.tensor_split(batches), strict=True):
            loss = F.cross_entropy(net(x), y)
            optimiser.zero_grad()
            (loss + pruner.penalty() if pruner else loss).backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            if pruner:
                pruner.step()
    net = pruner.finalize().eval() if pruner else net.eval()
    with torch.no_grad():
        return net, 100 * (net(hands.judge_signals).argmax(1) == hands.judge_labels).float().mean().item()


if __name__ == "__main__":
    main("hands_lstm", train)
