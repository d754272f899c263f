"""Gates and losses of the rivals beside their references, on the same tensors, with gradients."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import torch
from torch import Tensor, nn

from bandstop.engine.select.topk import select
from bandstop.rivals import make
from bandstop.rivals.adaptive_sparsity import GaussianCut
from bandstop.rivals.powerprop import root as power_root
from bandstop.rivals.prob_mask import Sampled, project
from bandstop.rivals.soft_threshold import Thresholded
from bandstop.rivals.straight_through import Reaching

from .common import Row, gap, row, trained
from .digits import digits, fresh


def soft_threshold_rows(conv_type: ModuleType) -> list[Row]:
    """STR's reparametrisation and its gradients; the straight-through choice of edges (their DNW)."""
    weight, s = torch.randn(50, 100).double(), -0.7
    slope = torch.randn(50, 100).double()
    band = Thresholded(weight, s)
    x, y = weight.clone().requires_grad_(), weight.clone().requires_grad_()
    t = torch.tensor(s).double().requires_grad_()
    band.s.data = torch.tensor(s).double()
    theirs = conv_type.sparseFunction(y, t, torch.relu, torch.exp)
    ours = band.gated(x)
    (ours * slope).sum().backward()
    (theirs * slope).sum().backward()
    assert x.grad is not None and y.grad is not None and band.s.grad is not None and t.grad is not None
    soft = max(gap(ours, theirs), gap(x.grad, y.grad), gap(band.s.grad, t.grad))
    rows = [row("str", "soft threshold, gradients of weights and of s", 10001, soft, "relative")]
    reaching = Reaching(weight)
    reaching.mask.copy_(select(weight.abs(), 250))
    x, y = weight.clone().requires_grad_(), weight.clone().requires_grad_()
    ours, theirs = reaching.gated(x), conv_type.ChooseEdges.apply(y, 0.95)
    (ours * slope).sum().backward()
    (theirs * slope).sum().backward()
    assert x.grad is not None and y.grad is not None
    straight = max(gap(ours, theirs), gap(x.grad, y.grad))
    return [*rows, row("ste", "largest weights forwards, gradient to all", 10000, straight, "relative")]


def probability_rows(conv_type: ModuleType, net_utils: ModuleType) -> list[Row]:
    """ProbMask's projection and its relaxed sample."""
    arguments = conv_type.parser_args
    largest = 0.0
    for density in (0.5, 0.05, 0.02):
        torch.manual_seed(3)
        holder = nn.Sequential(*(conv_type.ProbMaskConv(a, b, 1) for a, b in ((64, 100), (100, 50))))
        for module in holder:
            module.scores.data.uniform_(-0.2, 1.4)
        values = [module.scores.detach().clone() for module in holder]
        arguments.prune_rate = density
        with torch.no_grad():
            net_utils.constrainScoreByWhole(holder)
        ours = project(values, density * 11400)
        largest = max(largest, *(gap(o, m.scores.detach()) for o, m in zip(ours, holder, strict=True)))
    layer, arguments.T = conv_type.ProbMaskConv(64, 100, 1), 4.0
    layer.scores.data.uniform_(0.01, 0.99)
    torch.manual_seed(5)
    layer(torch.randn(2, 64, 1, 1))
    torch.manual_seed(5)
    torch.randn(2, 64, 1, 1)
    first, second = torch.rand(100, 64, 1, 1), torch.rand(100, 64, 1, 1)
    band = Sampled(torch.ones(100, 64, 1, 1))
    band.score.data.copy_(layer.scores)
    band.noise, band.temperature = (-(-first.log()).log()) - (-(-second.log()).log()), 0.25
    sample = gap(band.gated(torch.ones(100, 64, 1, 1)), layer.subnet)
    return [
        row(
            "probmask",
            "projection at 50, 5 and 2 % (they stop at 1e-3 of a connection)",
            3 * 11400,
            largest,
            "relative",
        ),
        row("probmask", "relaxed sample of the same noise", 6400, sample, "relative"),
    ]


def gaussian_rows(sparse_utils: ModuleType) -> list[Row]:
    """The adaptive sparsity loss: weights used, gradients of weights and thresholds, assumed density."""
    plain = fresh(0).double()
    theirs = fresh(0).double()
    sparse_utils.iter_sparsify(theirs, 1.3, True, 0)
    theirs.double()
    method = make("asl", plain, 0.95, steps=10)
    for layer in method.layers:
        method.band(layer).r.data = torch.tensor(1.3, dtype=torch.float64)
    for module in theirs:
        if hasattr(module, "r"):
            module.r.data = torch.tensor([1.3], dtype=torch.float64)
    x, y = digits()[0][:64].double(), digits()[1][:64]
    estimate = sparse_utils.adaptive_loss(theirs, True)[0]
    ours, other = plain(x), theirs(x)
    (
        nn.functional.cross_entropy(ours, y)
        + method.settings.weight * (method.estimated_density() - 0.05) ** 2
    ).backward()
    (nn.functional.cross_entropy(other, y) + method.settings.weight * (estimate - 0.05) ** 2).backward()
    gaps = [gap(ours, other), gap(method.estimated_density(), estimate)]
    for layer, module in zip(method.layers, (theirs[0], theirs[2], theirs[4]), strict=True):
        band: GaussianCut = method.band(layer)
        assert layer.latent.grad is not None and band.r.grad is not None
        gaps += [gap(layer.latent.grad, module.fc.weight.grad), gap(band.r.grad, module.r.grad)]
    return [
        row(
            "asl",
            "outputs, assumed density, gradients of weights and thresholds",
            12544,
            max(gaps),
            "relative",
        )
    ]


def top_rows(linear: ModuleType) -> list[Row]:
    """Top-KAST's forward and backward sets."""
    net = trained()
    method = make("top-kast", net, 0.95, steps=10)
    differ = 0
    for layer in method.layers:
        band, size = method.band(layer), layer.latent.numel()
        for mask in (band.mask, band.reach):
            # Their quantile: halfway between the last that is in and the first that is not.
            share = (size - int(mask.sum()) - 0.5) / (size - 1)
            theirs = torch.zeros_like(mask)
            theirs[linear.TopKastLinear.compute_mask(layer.latent.detach(), share)] = True
            differ += int((theirs ^ mask).sum())
    return [row("top-kast", "forward and backward sets at 95 %", 2 * 11900, differ, "connections")]


def power_rows(modules: ModuleType) -> list[Row]:
    """Powerpropagation: latents and outputs after ten steps of plain gradient descent,
    where ``∂L/∂φ`` is exact.
    """
    plain = fresh(0).double()
    theirs = modules.MLP(2.0, (64, 100, 50), (100, 50, 10)).double()
    for module, layer in zip(theirs._layers, (plain[0], plain[2], plain[4]), strict=True):
        module.w.data.copy_(power_root(layer.weight.detach(), 2.0))
        module.b.data.copy_(layer.bias.detach())
    method = make("powerprop", plain, 0.95, steps=1000)
    x, y = digits()[0][:128].double(), digits()[1][:128]
    sides: list[tuple[nn.Module, Callable[[], Tensor], Callable[[], None]]] = [
        (plain, method.penalty, method.step),
        (theirs, lambda: torch.zeros(()), lambda: None),
    ]
    for net, penalty, step in sides:
        optimiser = torch.optim.SGD(net.parameters(), lr=0.05)
        for _ in range(10):
            optimiser.zero_grad()
            (nn.functional.cross_entropy(net(x), y) + penalty()).backward()
            optimiser.step()
            step()
    pairs = zip(method.layers, theirs._layers, strict=True)
    gaps = [gap(layer.latent.detach(), module.w.detach()) for layer, module in pairs]
    return [
        row(
            "powerprop",
            "latents and outputs after ten steps",
            13180,
            max(*gaps, gap(plain(x), theirs(x))),
            "relative",
        )
    ]
