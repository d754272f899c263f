"""Every way to the same penalty: in place, per layer, in half precision, sharded, without numba."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import accumulate

import pytest
import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from bandstop.errors import ConfigError, MissingExtra
from bandstop.method.histogram import kl as histogram
from bandstop.method.histogram import soft as counting
from bandstop.method.histogram import torch_backend as cells
from bandstop.method.histogram.kl import Bins, add_kl_gradient_, kl_per_layer, kl_to_prior, soft_histogram
from bandstop.method.histogram.soft import Backend
from bandstop.method.priors import Gaussian, Laplace, StudentT
from tests.method.literal_histogram import literal_penalty

BACKENDS = ["torch", "fused"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("pooled", [True, False])
def test_in_place_gradient_equals_autograd(backend: str, pooled: bool) -> None:
    generator = torch.Generator().manual_seed(2)
    memory = torch.randn(8, 6, 4, generator=generator)
    params = [
        torch.randn(300, generator=generator),
        torch.randn(20, 30, generator=generator).t(),
        torch.randn(2, 3, 4, 5, generator=generator).to(memory_format=torch.channels_last),
        memory[:, ::2],
        torch.randn((), generator=generator),
    ]
    params = [torch.nn.Parameter(param) for param in params]
    penalty = kl_to_prior(params, Laplace(0.5), pooled=pooled, backend=backend)
    expected = torch.autograd.grad(3.0 * penalty, params)
    params[0].grad = torch.ones_like(params[0])
    params[1].grad = torch.zeros(30, 20)  # laid out unlike its parameter
    params[3].grad = torch.zeros(8, 6, 4)[:, ::2]  # with gaps
    value = add_kl_gradient_(params, Laplace(0.5), weight=3.0, pooled=pooled, backend=backend)
    torch.testing.assert_close(value, penalty.detach())
    for i, (param, slope) in enumerate(zip(params, expected, strict=True)):
        assert param.grad is not None and slope.shape == param.shape
        torch.testing.assert_close(param.grad, slope + (1.0 if i == 0 else 0.0))


def test_layers_together_and_apart() -> None:
    chosen = Laplace(0.5)
    bins = Bins.covering(chosen)
    small, large = chosen.sample((500,)), chosen.sample((1500,)) * 2
    pooled = kl_to_prior([small, large], chosen, bins)
    torch.testing.assert_close(pooled, literal_penalty([small, large], chosen, bins).float())
    apart = kl_per_layer([small, large], chosen, bins)
    each = torch.stack([literal_penalty([layer], chosen, bins) for layer in (small, large)]).float()
    torch.testing.assert_close(apart, each)

    def weighted(weighting: list[float] | str) -> Tensor:
        return kl_to_prior([small, large], chosen, bins, pooled=False, weighting=weighting)  # type: ignore[arg-type]

    torch.testing.assert_close(weighted("size"), each[0] / 4 + 3 * each[1] / 4)
    torch.testing.assert_close(weighted("equal"), each.mean())
    torch.testing.assert_close(weighted([2.0, 0.5]), 2 * each[0] + each[1] / 2)
    own = kl_per_layer([small, large], [chosen, chosen.with_scale(1.0)])
    torch.testing.assert_close(own[1], kl_to_prior([large], Laplace(1.0)))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("backend", BACKENDS)
def test_half_precision_is_counted_in_float32(dtype: torch.dtype, backend: str) -> None:
    weights = torch.randn(3000, generator=torch.Generator().manual_seed(0)).to(dtype).requires_grad_()
    penalty = kl_to_prior([weights], Gaussian(1.0), backend=backend)
    assert penalty.dtype == torch.float32
    (slope,) = torch.autograd.grad(penalty * 1000, weights)
    wide = weights.detach().float().requires_grad_()
    (expected,) = torch.autograd.grad(kl_to_prior([wide], Gaussian(1.0), backend=backend) * 1000, wide)
    assert slope.dtype == dtype
    torch.testing.assert_close(slope, expected.to(dtype))


def test_shards_reduced_to_k_numbers_equal_the_whole() -> None:
    chosen = Laplace(0.5)
    whole = [chosen.sample((900,)).requires_grad_(), chosen.sample((300,)).requires_grad_()]
    first = [whole[0][:100], whole[1][:0]]
    second = [whole[0][100:], whole[1]]
    seen: list[Tensor] = []

    def record(statistics: Tensor) -> Tensor:
        seen.append(statistics.clone())
        return statistics

    kl_to_prior(second, chosen, pooled=False, reduce=record)
    assert seen[0].shape == (2, 102)
    shard = kl_to_prior(first, chosen, pooled=False, reduce=lambda mine: mine + seen[0])
    complete = kl_to_prior(whole, chosen, pooled=False)
    torch.testing.assert_close(shard, complete)
    expected = torch.autograd.grad(complete, whole)
    (found,) = torch.autograd.grad(shard, [whole[0]])
    torch.testing.assert_close(found[:100], expected[0][:100], rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("mode", [torch.inference_mode, lambda: torch.device("meta")])
def test_a_first_call_in_an_unusual_mode_spoils_no_later_one(
    mode: Callable[[], AbstractContextManager[object]], backend: Backend
) -> None:
    for cache in (cells.polynomials, cells._kept_table, histogram._target, histogram._default_bins):
        cache.cache_clear()
    weights = torch.randn(200).requires_grad_()
    with mode():
        first = kl_to_prior([weights], StudentT(0.4), backend=backend)
    second = kl_to_prior([weights], StudentT(0.4), backend=backend)
    assert float(first.detach()) == float(second.detach()) and bool(second.requires_grad)
    assert bool(torch.autograd.grad(second, weights)[0].any())


def test_runs_without_a_host_synchronisation() -> None:
    """A tensor on the meta device has no data: any read of a value would raise."""
    values = [torch.empty(1000, 50, device="meta", requires_grad=True), torch.empty(7, device="meta")]
    penalty = kl_to_prior(values, Laplace(1.0), pooled=False)
    (slope,) = torch.autograd.grad(penalty, values[0])
    assert slope.shape == (1000, 50) and slope.device.type == "meta"
    assert add_kl_gradient_(values, Laplace(1.0)).device.type == "meta"


def peak_bytes(run: Callable[[], object]) -> int:
    """Largest sum of live allocations that torch makes while ``run`` runs."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        run()
    changes = (e.nbytes() for e in record.profiler.kineto_results.events() if e.name() == "[memory]")
    return max(accumulate(changes, initial=0))


@pytest.mark.parametrize("backend", BACKENDS)
def test_extra_memory_stays_below_a_tenth_of_the_weights(backend: Backend) -> None:
    weights = torch.randn(6_000_000)
    weights.grad = torch.zeros_like(weights)
    assert peak_bytes(lambda: torch.empty(1 << 20)) >= 4 << 20, "the probe must see an allocation"
    add_kl_gradient_([weights[:1000]], Laplace(1.0), backend=backend)  # compile, and fill caches
    own = weights.numel() * weights.element_size()
    assert peak_bytes(lambda: add_kl_gradient_([weights], Laplace(1.0), backend=backend)) < 0.1 * own


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lambda: Bins(0.0), "limit must be positive"),
        (lambda: Bins(1.0, 1), "between 2 and 10000"),
        (lambda: kl_to_prior([], Laplace(1.0)), "at least one weight"),
        (lambda: kl_per_layer([torch.zeros(3), torch.zeros(0)], Laplace(1.0)), r"found tensors of \[3, 0\]"),
        (lambda: kl_to_prior([torch.zeros(3)], Laplace(1.0), weighting="big"), "size, equal"),
        (lambda: kl_to_prior([torch.zeros(3)], Laplace(1.0), weighting=[1, 2]), "one factor a layer"),
        (lambda: kl_to_prior([torch.zeros(3)], [Laplace(1.0)] * 2), "found 2 priors"),
        (lambda: soft_histogram(torch.zeros(3), Bins(1.0), backend="cuda"), "one of auto, torch, fused"),
        (lambda: soft_histogram(torch.zeros(3).double(), Bins(1.0), backend="fused"), "at most 32 bits"),
    ],
)
def test_errors_state_the_rule_and_what_was_found(run: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        run()  # type: ignore[operator]


def test_without_numba_auto_falls_back_and_fused_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weights = torch.linspace(-1, 1, 100)
    expected = soft_histogram(weights, Bins(1.0), backend="torch")
    monkeypatch.setattr(counting, "_kernels", lambda: None)
    assert torch.equal(soft_histogram(weights, Bins(1.0)), expected)
    with pytest.raises(MissingExtra, match="numba"):
        soft_histogram(weights, Bins(1.0), backend="fused")
