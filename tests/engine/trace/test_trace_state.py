"""A trace leaves the model as it was and names what it cannot follow."""

from __future__ import annotations

import copy
import random

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bandstop.engine.trace import trace
from bandstop.errors import ModelError

torch.set_num_threads(1)


def test_nothing_changes_even_after_an_exception() -> None:
    class Model(nn.Module):
        def __init__(self, fails: bool) -> None:
            super().__init__()
            self.fails, self.norm = fails, nn.BatchNorm1d(4)
            self.first, self.last = nn.utils.spectral_norm(nn.Linear(3, 4)), nn.Linear(4, 2)
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x: Tensor) -> Tensor:
            self.count.add_(random.random())
            self.count[0] += torch.rand(1)[0]
            self.register_buffer("extra", torch.ones(1))
            self.history = x
            x = self.last(F.dropout(self.norm(self.first(x)), 0.5))
            return torch.linalg.qr(x)[0] if self.fails else x

    for fails in (False, True):
        net = Model(fails).train()
        net.norm.eval()
        state, attributes = copy.deepcopy(net.state_dict()), dict(vars(net))
        flags = [module.training for module in net.modules()]
        x = torch.randn(1, 3)
        generator, python = torch.get_rng_state(), random.getstate()
        versions = [tensor._version for tensor in net.parameters()]
        if fails:
            with pytest.raises(ModelError, match=r"'linalg_qr'.* in module 'the model itself' \(Model\)"):
                trace(net, x)
        else:
            trace(net, x)
        assert net.state_dict().keys() == state.keys()
        assert all(torch.equal(state[name], value) for name, value in net.state_dict().items())
        assert vars(net) == attributes and [module.training for module in net.modules()] == flags
        assert torch.equal(torch.get_rng_state(), generator) and random.getstate() == python
        assert versions == [tensor._version for tensor in net.parameters()]
        assert all(parameter.grad is None for parameter in net.parameters())


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx: object, x: Tensor) -> Tensor:
        return x * x

    @staticmethod
    def backward(ctx: object, grad: Tensor) -> Tensor:
        return grad


class Calls(nn.Module):
    def __init__(self, function: object) -> None:
        super().__init__()
        self.inner, self.function = nn.Linear(3, 3), function
        self.register_buffer("memory", torch.zeros(1, 3))

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(self.function(self, x))  # type: ignore[operator]


def remember(net: Calls, x: Tensor) -> Tensor:
    net.memory[:] = x
    return net.memory


@torch.jit.script
def scripted(x: Tensor) -> Tensor:
    return x * 2


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda net, x: torch.fft.fft(x).real, r"the operation 'fft_fft' in module 'body' \(Calls\)"),
        (lambda net, x: Square.apply(x), "the custom autograd function 'Square' in module 'body.inner'"),
        (lambda net, x: scripted(x), "computed out of sight .* in module 'body.inner'"),
        (lambda net, x: x[x > 0], "an index that is computed from the data in module 'body'"),
        (remember, "writing in place to a weight or a buffer"),
        (lambda net, x: x[:, :2], r"failed in module 'body.inner' \(Linear\): RuntimeError"),
        (lambda net, x: torch.zeros(1, 3), "output does not depend on its input"),
    ],
)
def test_what_cannot_be_followed_is_named(function: object, message: str) -> None:
    net = nn.Sequential()
    net.add_module("body", Calls(function))
    with pytest.raises(ModelError, match=message):
        trace(net, torch.randn(1, 3))


def test_wrong_patterns_are_refused() -> None:
    net = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
    with pytest.raises(
        ModelError, match=r"no weight of the model is called '1\.weight'; it has 0\.weight, 0\.bias"
    ):
        trace(net, torch.randn(1, 3), {"1.weight": torch.ones(2, 3)})
    with pytest.raises(ModelError, match=r"\[3, 2\] given for \[2, 3\] at '0.weight'"):
        trace(net, torch.randn(1, 3), {"0.weight": torch.ones(3, 2)})
    with pytest.raises(ModelError, match="at least one weight"):
        trace(nn.ReLU(), torch.randn(1, 3))
    with pytest.raises(ModelError, match="scripted module"):
        trace(torch.jit.script(net), torch.randn(1, 3))
