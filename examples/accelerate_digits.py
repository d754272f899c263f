"""The digits CNN under Accelerate, with accumulation and a checkpoint in the middle:
`python examples/accelerate_digits.py`.
"""

import tempfile

import torch
from accelerate import Accelerator
from digits_cnn import data, network
from example_runs import main
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from bandstop import Pruner
from bandstop.integrations.accelerate import step, watch

RATE_OF_LATENTS = 0.2


def train(rate: float, seed: int, short: bool = False, validation: bool = False) -> tuple[nn.Module, float]:
    """One run from random weights to a finished plain network and its accuracy in per cent."""
    torch.manual_seed(seed)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    x, y, test_x, test_y = data(validation)
    net, epochs = network(), 4 if short else 20
    loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True, drop_last=True)
    steps = epochs * (len(loader) // 2)
    pruner = Pruner(net, rate, steps=steps, example=x[:1]) if rate else None
    groups = pruner.parameter_groups(lr=3e-3, latent_lr=RATE_OF_LATENTS) if pruner else net.parameters()
    optimiser = torch.optim.AdamW(groups, lr=3e-3, weight_decay=1e-3)
    top = [group["lr"] for group in optimiser.param_groups]
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, top, total_steps=steps, pct_start=0.1)
    model, optimiser, loader, schedule = accelerator.prepare(net, optimiser, loader, schedule)
    if pruner:
        watch(accelerator, pruner)
    for epoch in range(epochs):
        for place, (images, labels) in enumerate(loader):
            if place >= len(loader) // 2 * 2:
                break
            with accelerator.accumulate(model):
                loss = F.cross_entropy(model(images), labels)
                accelerator.backward(loss + pruner.penalty() if pruner else loss)
                optimiser.step()
                schedule.step()
                optimiser.zero_grad()
                if pruner:
                    step(accelerator, pruner)
        if epoch == epochs // 2:  # saved and loaded in mid-schedule: nothing changes
            with tempfile.TemporaryDirectory() as folder:
                accelerator.save_state(folder)
                accelerator.load_state(folder)
    net = accelerator.unwrap_model(model)
    if pruner:
        pruner.finalize()
    net.eval()
    with torch.no_grad():
        return net, 100 * (net(test_x).argmax(1) == test_y).float().mean().item()


if __name__ == "__main__":
    main("accelerate_digits", train)
