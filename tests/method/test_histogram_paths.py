"""Every way to the same penalty: any memory layout, per layer, in half precision, sharded, without numba."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import accumulate

import pytest
import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from bandstop.errors import ConfigError
from bandstop.method.histogram import kl as histogram
from bandstop.method.histogram import soft as counting
from bandstop.method.histogram import torch_backend as cells
from bandstop.method.histogram.kl import Bins, kl_to_prior, soft_histogram
from bandstop.method.priors import Gaussian, Laplace, StudentT
from tests.method.backends import BACKENDS, using
from tests.method.literal_histogram import literal_penalty


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("pooled", [True, False])
def test_gradients_do_not_depend_on_how_memory_is_laid_out(backend: str, pooled: bool) -> None:
    generator = torch.Generator().manual_seed(2)
    memory = torch.randn(8, 6, 4, generator=generator)
    odd = [
        torch.randn(300, generator=generator),
        torch.randn(20, 30, generator=generator).t(),
        torch.randn(2, 3, 4, 5, generator=generator).to(memory_format=torch.channels_last),
        memory[:, ::2],
        torch.randn((), generator=generator),
    ]
    params = [torch.nn.Parameter(param) for param in odd]
    straight = [torch.nn.Parameter(param.clone(memory_format=torch.contiguous_format)) for param in odd]
    with using(backend):
        expected = torch.autograd.grad(3.0 * kl_to_prior(straight, Laplace(0.5), pooled=pooled), straight)
        params[0].grad = torch.ones_like(params[0])
        params[1].grad = torch.zeros(30, 20)  # laid out unlike its parameter
        params[3].grad = torch.zeros(8, 6, 4)[:, ::2]  # with gaps
        (3.0 * kl_to_prior(params, Laplace(0.5), pooled=pooled)).backward()
    for i, (param, slope) in enumerate(zip(params, expected, strict=True)):
        assert param.grad is not None and slope.shape == param.shape
        torch.testing.assert_close(param.grad, slope + (1.0 if i == 0 else 0.0))


def test_layers_together_and_apart() -> None:
    chosen = Laplace(0.5)
    bins = Bins.covering(chosen)
    small, large = chosen.sample((500,)), chosen.sample((1500,)) * 2
    pooled = kl_to_prior([small, large], chosen, bins)
    torch.testing.assert_close(pooled, literal_penalty([small, large], chosen, bins).float())
    apart = torch.stack([kl_to_prior([layer], chosen, bins) for layer in (small, large)])
    each = torch.stack([literal_penalty([layer], chosen, bins) for layer in (small, large)]).float()
    torch.testing.assert_close(apart, each)
    by_size = kl_to_prior([small, large], chosen, bins, pooled=False)
    torch.testing.assert_close(by_size, each[0] / 4 + 3 * each[1] / 4)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("backend", BACKENDS)
def test_half_precision_is_counted_in_float32(dtype: torch.dtype, backend: str) -> None:
    weights = torch.randn(3000, generator=torch.Generator().manual_seed(0)).to(dtype).requires_grad_()
    wide = weights.detach().float().requires_grad_()
    with using(backend):
        penalty = kl_to_prior([weights], Gaussian(1.0))
        (slope,) = torch.autograd.grad(penalty * 1000, weights)
        (expected,) = torch.autograd.grad(kl_to_prior([wide], Gaussian(1.0)) * 1000, wide)
    assert penalty.dtype == torch.float32
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
    mode: Callable[[], AbstractContextManager[object]], backend: str
) -> None:
    for cache in (cells.polynomials, cells._kept_table, histogram._target, histogram._default_bins):
        cache.cache_clear()
    weights = torch.randn(200).requires_grad_()
    with using(backend):
        with mode():
            first = kl_to_prior([weights], StudentT(0.4))
        second = kl_to_prior([weights], StudentT(0.4))
        assert bool(torch.autograd.grad(second, weights)[0].any())
    assert float(first.detach()) == float(second.detach()) and bool(second.requires_grad)


def test_runs_without_a_host_synchronisation() -> None:
    """A tensor on the meta device has no data: any read of a value would raise."""
    values = [torch.empty(1000, 50, device="meta", requires_grad=True), torch.empty(7, device="meta")]
    penalty = kl_to_prior(values, Laplace(1.0), pooled=False)
    (slope,) = torch.autograd.grad(penalty, values[0])
    assert slope.shape == (1000, 50) and slope.device.type == "meta"
    assert kl_to_prior(values, Laplace(1.0)).device.type == "meta"


def peak_bytes(run: Callable[[], object]) -> int:
    """Largest sum of live allocations that torch makes while ``run`` runs."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        run()
    changes = (e.nbytes() for e in record.profiler.kineto_results.events() if e.name() == "[memory]")
    return max(accumulate(changes, initial=0))


@pytest.mark.parametrize("backend", BACKENDS)
def test_extra_memory_stays_below_a_tenth_of_the_weights(backend: str) -> None:
    weights = torch.randn(6_000_000).requires_grad_()
    assert peak_bytes(lambda: torch.empty(1 << 20)) >= 4 << 20, "the probe must see an allocation"
    own = weights.numel() * weights.element_size()
    with using(backend):
        few = weights.detach()[:1000].requires_grad_()
        kl_to_prior([few], Laplace(1.0)).backward()  # compile, and fill caches
        peak = peak_bytes(lambda: kl_to_prior([weights], Laplace(1.0)).backward())
    assert peak - own < 0.1 * own, "more than the gradient itself"


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lambda: Bins(0.0), "limit must be positive"),
        (lambda: Bins(1.0, 1), "between 2 and 10000"),
        (lambda: kl_to_prior([], Laplace(1.0)), "at least one weight"),
        (
            lambda: kl_to_prior([torch.zeros(3), torch.zeros(0)], Laplace(1.0), pooled=False),
            r"found tensors of \[3, 0\]",
        ),
    ],
)
def test_errors_state_the_rule_and_what_was_found(run: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        run()  # type: ignore[operator]


def test_without_numba_plain_torch_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = torch.linspace(-1, 1, 100)
    with using("torch"):
        expected = soft_histogram(weights, Bins(1.0))
    monkeypatch.setitem(sys.modules, "bandstop.method.histogram.numba_backend", None)
    counting._fused_passes.cache_clear()
    try:
        assert counting._fused_passes() is None
        assert torch.equal(soft_histogram(weights, Bins(1.0)), expected)
    finally:
        monkeypatch.undo()
        counting._fused_passes.cache_clear()
