"""A small network, made data and one training loop for one process, DDP and FSDP2."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.distributed.fsdp import fully_shard

from bandstop import Pruner, Recipe
from bandstop.distributed import fingerprint, masks

SIZES = (8 * 15, 15 * 12, 12 * 3)


def net(seed: int = 0) -> nn.Sequential:
    """Rows that neither two nor four ranks share evenly."""
    torch.manual_seed(seed)
    blocks = [nn.Sequential(nn.Linear(8, 15), nn.ReLU()), nn.Sequential(nn.Linear(15, 12), nn.LayerNorm(12))]
    return nn.Sequential(*blocks, nn.ReLU(), nn.Linear(12, 3))


def data() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    inputs = torch.randn(64, 8, generator=generator)
    return inputs, (inputs @ torch.randn(8, 3, generator=generator)).tanh()


@dataclass
class Training:
    """A network, its pruner, what to call for a forward pass, and an optimiser."""

    model: nn.Module
    pruner: Pruner
    forward: nn.Module
    optimiser: torch.optim.Optimizer

    def run(self, steps: int, share: bool) -> None:
        inputs, wanted = self.data()
        if share:
            rank, world = torch.distributed.get_rank(), torch.distributed.get_world_size()
            inputs, wanted = inputs[rank::world], wanted[rank::world]
        for _ in range(steps):
            loss = (self.forward(inputs) - wanted).square().mean() + self.pruner.penalty()
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()
            self.pruner.step()

    def data(self) -> tuple[Tensor, Tensor]:
        dtype = next(self.model.parameters()).dtype
        inputs, wanted = data()
        return inputs.to(dtype), wanted.to(dtype)

    def thresholds(self) -> list[float]:
        return [float(layer.band.threshold) for layer in self.pruner.layers]

    def masks(self) -> int:
        return fingerprint(masks(self.pruner))


def training(
    way: str,
    recipe: Recipe | None = None,
    steps: int = 20,
    rate: float = 0.8,
    seed: int = 0,
    dtype: torch.dtype = torch.float32,
    **options: object,
) -> Training:
    model = net(seed).to(dtype)
    pruner = Pruner(model, rate, steps=steps, recipe=recipe)
    forward: nn.Module = model
    if way == "ddp":
        forward = nn.parallel.DistributedDataParallel(model)
    elif way == "fsdp":
        fully_shard(model[0], **options)
        fully_shard(model[1][0], **options)  # a pruned layer by itself
        fully_shard(model, **options)
    optimiser = torch.optim.Adam(pruner.parameter_groups(lr=3e-3, latent_lr=0.05))
    return Training(model, pruner, forward, optimiser)
