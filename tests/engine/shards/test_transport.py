"""The map of shards is that of whole layers, however a layer's values are dealt out."""

from collections.abc import Callable
from threading import Barrier, Thread

import pytest
import torch
from torch import Tensor

from bandstop.engine.shards.tensor import Shards
from bandstop.engine.shards.transport import scales_to_prior, transport_shards_
from bandstop.method.priors import Gaussian, Laplace, Prior, StudentT
from bandstop.method.priors_tabulated import Tabulated
from bandstop.method.transport import scale_to_prior, transported

PRIORS = [Gaussian(1.0), Laplace(0.5), StudentT(1.0), Tabulated([-1, 0, 3], [1, 1])]


class Ranks:
    """Ranks that are threads of this process."""

    def __init__(self, number: int) -> None:
        self.barrier, self.given = Barrier(number, timeout=60), [torch.empty(0)] * number

    def reduce(self, rank: int, numbers: Tensor, operation: Callable[[Tensor], Tensor]) -> Tensor:
        self.given[rank] = numbers
        self.barrier.wait()
        found = operation(torch.stack(self.given))
        self.barrier.wait()
        return found


class Rank(Shards):
    """What one of them sees of weights."""

    def __init__(self, weights: dict[str, Tensor], ranks: Ranks, rank: int) -> None:
        super().__init__(weights)
        self.__dict__.update(ranks=ranks, rank=rank)

    def sum(self, numbers: Tensor) -> Tensor:
        found: Tensor = self.ranks.reduce(self.rank, numbers, lambda all: all.sum(0))  # type: ignore[attr-defined]
        return found

    def max(self, numbers: Tensor) -> Tensor:
        found: Tensor = self.ranks.reduce(self.rank, numbers, lambda all: all.amax(0))  # type: ignore[attr-defined]
        return found


Named = dict[str, Tensor]


def dealt(weights: Named, lengths: list[int], prior: Prior) -> tuple[list[Named], Named]:
    """Scales as each rank finds them, and the values after the move; the last rank has the rest."""
    ranks = Ranks(len(lengths) + 1)
    scales: list[Named] = [{} for _ in range(len(lengths) + 1)]
    ends = [0, *torch.tensor(lengths).cumsum(0).tolist(), None]
    moved = {name: value.clone() for name, value in weights.items()}

    def run(rank: int) -> None:
        parts = {name: value[ends[rank] : ends[rank + 1]] for name, value in moved.items()}
        shards = Rank(weights, ranks, rank)
        first = scales_to_prior(list(parts.values()), prior, shards)
        scales[rank].update(transport_shards_(parts, shards, prior, 0.3))
        scales[rank].update({f"{name} before": scale for name, scale in zip(parts, first, strict=True)})

    threads = [Thread(target=run, args=(rank,)) for rank in range(len(scales))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return scales, moved


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: type(prior).__name__)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("lengths", [[], [500], [0, 7, 800], [4000]])
def test_parts_go_where_the_whole_goes(prior: Prior, dtype: torch.dtype, lengths: list[int]) -> None:
    generator = torch.Generator().manual_seed(0)
    weights = {
        name: (StudentT(1.0).sample((count, 3), generator=generator) + 0.1).to(dtype)
        for name, count in (("a", 1000), ("b", 900))
    }
    weights["zeros"] = torch.zeros(3, 3, dtype=dtype)
    scales, moved = dealt(weights, lengths, prior)
    off = {torch.float64: 1e-9, torch.float32: 1e-5, torch.bfloat16: 1e-2}[dtype]
    for name, value in weights.items():
        expected = transported(value, prior, 0.3)
        assert moved[name].dtype == dtype
        assert torch.allclose(moved[name], expected, rtol=off, atol=off), name
        assert torch.allclose(scales[0][name], scale_to_prior(expected, prior), rtol=off), name
        assert torch.allclose(scales[0][f"{name} before"], scale_to_prior(value, prior), rtol=off), name
    assert scales[0].keys() == scales[-1].keys() and len(scales[0]) == 6
    assert all(torch.equal(scale, other[name]) for other in scales for name, scale in scales[0].items())


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_numbers_that_are_not_finite_do_not_hide(bad: float) -> None:
    values = {"a": torch.randn(100, generator=torch.Generator().manual_seed(0)), "b": torch.ones(100)}
    values["a"][3] = bad
    scales, moved = dealt(values, [50], Gaussian(1.0))
    for each in scales:  # also where all numbers were finite
        assert not bool(each["a"].isfinite()) and bool(each["b"].isfinite())
    assert not bool(moved["a"].isfinite().any()) and bool(moved["b"].isfinite().all())


def test_numbers_too_small_for_cells_stay_numbers() -> None:
    values = {"a": torch.full((10,), 1e-42), "b": torch.full((10,), 1e30)}
    scales, moved = dealt(values, [5], Gaussian(1.0))
    assert all(bool(number.isfinite().all()) for number in (*moved.values(), *scales[0].values()))
