"""The gates' fast forward passes give the numbers and the gradients of the plain ones."""

from collections.abc import Iterator

import pytest
import torch

from bandstop.method import gate_on_cpu
from bandstop.method.chart import CELLS, Charted, chart_reach, chart_table
from bandstop.method.gate import Soft
from bandstop.method.gate_autograd import ShrinkScaled
from bandstop.method.gate_on_cpu import looked_up_on_cpu, shrunk_on_cpu
from bandstop.method.priors import Laplace, Prior, StudentT, Uniform

GAIN, THRESHOLD, ONE = torch.tensor(0.37), torch.tensor(1.1), torch.tensor(1.0)


@pytest.fixture(params=["compiled", "torch"])
def loops(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Once with numba, once without it."""
    if request.param == "compiled":
        pytest.importorskip("numba")
        gate_on_cpu._loaded()
    else:
        monkeypatch.setattr(gate_on_cpu, "_kernels_for", lambda count: None)
    yield request.param


def _numbers(count: int) -> torch.Tensor:
    latent = 2 * torch.randn(count, generator=torch.Generator().manual_seed(0))
    latent[3], latent[5], latent[7] = torch.nan, torch.inf, 1.1
    return latent


@pytest.mark.parametrize("count", [33, 70_001])
@pytest.mark.parametrize("whole", [1 << 14, 1 << 18])
def test_a_fast_gate_has_the_bits_of_the_plain_one(
    loops: str, count: int, whole: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate_on_cpu, "WHOLE", whole)  # a large one goes through in parts
    results = []
    for fast in (True, False):
        latent = _numbers(count).requires_grad_()
        weight = shrunk_on_cpu(latent, GAIN, THRESHOLD) if fast else None
        if weight is None:
            assert not fast
            weight = ShrinkScaled.apply(latent, GAIN, THRESHOLD)
        weight.nan_to_num(0, 0, 0).square().sum().backward()
        results.append((weight.detach().nan_to_num(7.0), latent.grad))
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


def test_the_slope_is_the_gain_also_twice(loops: str) -> None:
    latent = torch.randn(70_000, generator=torch.Generator().manual_seed(1), requires_grad=True)
    weight = shrunk_on_cpu(latent, GAIN, THRESHOLD)
    assert weight is not None
    (first,) = torch.autograd.grad(weight.square().sum(), latent, create_graph=True)
    assert torch.equal(first, 2 * weight * GAIN)
    (second,) = torch.autograd.grad(first.sum(), latent)
    assert torch.allclose(second, torch.full_like(second, 2 * 0.37**2))


def test_a_gradient_that_others_hold_is_not_changed(loops: str) -> None:
    latent, other = (torch.randn(70_000).requires_grad_() for _ in range(2))
    weight = shrunk_on_cpu(latent, GAIN, THRESHOLD)
    assert weight is not None
    (weight + other).sum().backward()
    assert other.grad is not None and latent.grad is not None
    assert bool((other.grad == 1).all()) and bool((latent.grad == GAIN).all())


def test_whoever_records_operations_sees_the_gate() -> None:
    pytest.importorskip("numba")
    gate_on_cpu._loaded()
    latent = _numbers(40)[8:].contiguous()
    expected = shrunk_on_cpu(latent, GAIN, THRESHOLD)
    assert expected is not None

    def gate(x: torch.Tensor) -> torch.Tensor:
        return Soft().scaled(x, GAIN, THRESHOLD, ONE)

    traced = torch.jit.trace(gate, (latent,), check_trace=False)
    recorded = torch.fx.experimental.proxy_tensor.make_fx(gate)(latent)
    doubled = 2 * latent
    for seen in (traced, recorded):
        assert torch.allclose(seen(doubled), gate(doubled))


def test_transforms_still_work() -> None:
    latent = torch.randn(30, 250)
    several = torch.func.vmap(lambda x: Soft().scaled(x, GAIN, THRESHOLD, ONE))(latent.expand(2, 30, 250))
    assert torch.equal(several[1], Soft().scaled(latent, GAIN, THRESHOLD, ONE))


@pytest.mark.parametrize("threshold", [0.0, 0.4, 2.3, 99.0])
@pytest.mark.parametrize("prior", [Laplace(1.0), Uniform(1.0), StudentT(1.0)], ids=str)
def test_chart_and_gate_in_one_pass(prior: Prior, threshold: float) -> None:
    pytest.importorskip("numba")
    count = 10_007
    z = torch.randn(count, generator=torch.Generator().manual_seed(0))
    z[3], z[5], z[7] = torch.nan, torch.inf, -torch.inf
    table, cells = chart_table(prior, count).float(), torch.tensor(CELLS / (1.3 * chart_reach(count)))
    scale, level = torch.tensor(0.7), torch.tensor(threshold)
    results = []
    for fast in (True, False):
        latent = z.clone().requires_grad_()
        if fast:
            weight = looked_up_on_cpu(latent, GAIN, level, cells, scale, table)
        else:
            charted = Charted.apply(latent, table, cells, scale)
            edge = Charted.apply(level.reshape(1), table, cells, scale)[0]
            weight = ShrinkScaled.apply(charted, GAIN, edge)
        assert weight is not None
        weight.nan_to_num(0).sum().backward()
        results.append((weight.detach(), latent.grad))
    (one, first), (two, second) = results
    assert torch.equal(one.isnan(), two.isnan()) and torch.equal(first, second)
    finite = ~one.isnan()
    assert torch.allclose(one[finite], two[finite], rtol=1e-5, atol=2e-6 * float(table[-1]))


def test_a_chart_of_numbers_that_are_not_finite_shows_it() -> None:
    pytest.importorskip("numba")
    z, one, bad = torch.randn(9000), torch.tensor(1.0), torch.tensor(torch.nan)
    table = chart_table(Laplace(1.0), 9000).float()
    for threshold, cells in ((bad, one), (one, bad)):
        weight = looked_up_on_cpu(z, GAIN, threshold, cells, one, table)
        assert weight is not None and bool(weight.isnan().any())
