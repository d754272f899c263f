"""A PyTorch Geometric GCN on a graph with communities, dense and pruned:
`python examples/graph_gcn.py [--short]`.
"""

import torch
from example_runs import main
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import GCNConv

from bandstop import Pruner

CLASSES, NODES, WORDS = 6, 1200, 200


def graph() -> tuple[Tensor, Tensor, Tensor]:
    """A stochastic block model: features (words, some likelier in each class),
    links (likelier within one), classes.
    """
    draw = torch.Generator().manual_seed(0)
    classes = torch.randint(CLASSES, (NODES,), generator=draw)
    likely = 0.03 + 0.07 * (torch.rand(CLASSES, WORDS, generator=draw) < 0.15)
    words = (torch.rand(NODES, WORDS, generator=draw) < likely[classes]).float()
    chance = torch.where(classes[:, None] == classes[None], 0.02, 0.002)
    links = (torch.rand(NODES, NODES, generator=draw) < chance).triu(1)
    return words, (links | links.T).nonzero().T.contiguous(), classes


class Net(nn.Module):
    """Two graph convolutions: 26,368 weights that can be pruned."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.first, self.second, self.norm = GCNConv(WORDS, 128), GCNConv(128, CLASSES), nn.BatchNorm1d(128)

    def forward(self, words: Tensor, links: Tensor) -> Tensor:
        hidden = F.relu(self.norm(self.first(F.dropout(words, self.dropout, self.training), links)))
        return self.second(F.dropout(hidden, self.dropout, self.training), links)


def train(rate: float, seed: int, short: bool = False, validation: bool = False) -> tuple[nn.Module, float]:
    """One run from random weights to a finished plain network and its accuracy in per cent."""
    torch.manual_seed(seed)
    words, links, classes = graph()
    order = torch.randperm(NODES, generator=torch.Generator().manual_seed(1))
    known, judge = order[:300], order[300:600] if validation else order[600:]
    # A budget regularises enough: no dropout in a pruned run.
    net, steps = Net(0.0 if rate else 0.5), 20 if short else 200
    pruner = Pruner(net, rate, steps=steps) if rate else None
    groups = pruner.parameter_groups(lr=1e-2, latent_lr=0.2) if pruner else net.parameters()
    optimiser = torch.optim.AdamW(groups, lr=1e-2, weight_decay=5e-3)
    top = [group["lr"] for group in optimiser.param_groups]
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, top, total_steps=steps, pct_start=0.1)
    for _ in range(steps):
        loss = F.cross_entropy(net(words, links)[known], classes[known])
        optimiser.zero_grad()
        (loss + pruner.penalty() if pruner else loss).backward()
        optimiser.step()
        schedule.step()
        if pruner:
            pruner.step()
    net = pruner.finalize().eval() if pruner else net.eval()
    with torch.no_grad():
        return net, 100 * (net(words, links)[judge].argmax(1) == classes[judge]).float().mean().item()


if __name__ == "__main__":
    main("graph_gcn", train)
