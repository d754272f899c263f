"""What is said of a result, and the numbers that a log gets of a moment."""

import math

import pytest
import torch

from bandstop import Budget, Pruner, Recipe
from bandstop.engine.snapshot import take_snapshot
from bandstop.engine.summary import Outcome
from bandstop.engine.verbs import Verbs
from bandstop.method.budget import sparse_bytes
from tests.engine.small_nets import kept, mlp, train


def test_an_outcome_counts_kept_and_unpruned_apart() -> None:
    outcome = Outcome(Budget.rate(0.9), kept=10, prunable=100, unpruned=5, macs=None, live=None)
    assert (outcome.rate, outcome.parameters, outcome.bytes) == (0.9, 15, sparse_bytes(10, 5))
    short = Outcome(Budget.macs(50), kept=10, prunable=100, unpruned=5, macs=48, live=9)
    assert "48 of 50 MACs, the most that" in str(short) and "9 connections are live" in str(short)
    assert "the most" not in str(Outcome(Budget.macs(48), 10, 100, 5, 48, 9))


def test_the_outcome_of_a_training_is_that_of_the_network() -> None:
    model = mlp()
    pruner = Pruner(model, 0.9, steps=10, example=torch.zeros(1, 12))
    train(model, pruner, 10)
    plain = pruner.finalize()
    outcome = pruner.outcome()
    assert outcome.kept == kept(plain) == outcome.live
    assert outcome.parameters == sum(int(p.count_nonzero()) for p in plain.parameters() if p.ndim > 1) + (
        sum(p.numel() for p in plain.parameters() if p.ndim < 2)
    )


def test_a_snapshot_has_histogram_prior_thresholds_and_gains() -> None:
    pruner = Pruner(mlp(), 0.9, steps=10, recipe=Recipe(bins=20))
    shown = take_snapshot(pruner)
    histogram = shown["histogram"]
    assert [len(histogram[name]) for name in ("centres", "observed", "prior")] == [20, 20, 20]
    assert sum(histogram["observed"]) == pytest.approx(1, abs=1e-3)
    assert sum(histogram["prior"]) == pytest.approx(1, abs=1e-3)
    assert list(shown["layers"]) == [layer.name for layer in pruner.layers]
    pruner.freeze()
    fixed = pruner.snapshot()
    assert set(fixed) == {"layers"}
    assert all(math.isfinite(row["threshold"]) and row["gain"] > 0 for row in fixed["layers"].values())


def test_verbs_that_a_method_need_not_know_do_nothing() -> None:
    verbs = Verbs()
    verbs.bind(torch.optim.SGD([torch.nn.Parameter(torch.ones(1))]))
    verbs.prepare(lambda: torch.ones(()))
    assert verbs.lr_progress(0.3) == 0.3 and verbs.kl() is None
