"""Every method behind one protocol: the loop asks none of them what it is."""

import dataclasses

import pytest
import torch
from torch import nn

from bandstop.errors import ConfigError
from bandstop.nets import NetConfig
from bandstop.rivals import NAMES
from bandstop.training.config import PruneConfig, RunConfig
from bandstop.training.dense import Dense
from bandstop.training.distil import distillation, soft_target
from bandstop.training.method import describe_method, make_method, recipe_of

DENSE = RunConfig(method="dense")
CONFIGS = {
    "dense": DENSE,
    "pmp": RunConfig(rate=0.5),
    "many rates": RunConfig(rates="0.5:0.8"),
    "rival with momentum": RunConfig(method="rigl", rate=0.5),
    "rival before training": RunConfig(method="snip", rate=0.5),
    "rival in stages": RunConfig(method="mp", rate=0.5),
}


def small() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_every_method_trains_by_the_same_calls(config: RunConfig) -> None:
    net, inputs, labels = small(), torch.randn(12, 6), torch.arange(12) % 3
    method = make_method(config, net, 4, inputs[:1])
    optimiser = torch.optim.Adam(method.parameter_groups(0.01, latent_lr=0.1, weight_decay=0.0))
    method.bind(optimiser)
    method.prepare(lambda: nn.functional.cross_entropy(net(inputs), labels))
    assert 0 <= method.lr_progress(0.5) <= 1
    for _ in range(4):
        optimiser.zero_grad()
        result = method.backward(
            lambda: net(inputs), lambda scores: nn.functional.cross_entropy(scores, labels), labels
        )
        assert result.loss.isfinite() and 0 <= float(result.right) <= 12
        optimiser.step()
        method.step()
    assert (method.kl() is None) == (config.method != "pmp" or method.settled)
    assert method.kept <= 72 and 0 <= method.rate < 1
    state = method.state_dict()
    method.load_state_dict(state)
    assert (method.latent_state() is not None) == (config.rates is not None)
    plain, layers = method.finish([inputs])
    budget = config.budget
    kept = 72 if budget is None else budget.connections(prunable=72)
    assert sum(int(p.count_nonzero()) for p in plain.parameters() if p.ndim > 1) == kept
    assert not plain.training and set(layers) <= {"0.weight", "2.weight"}


def test_a_dense_training_decays_weights_only() -> None:
    weights, others = Dense(small(), 10).parameter_groups(0.1, latent_lr=None, weight_decay=0.5)
    assert [p.ndim for p in weights["params"]] == [2, 2] and weights["weight_decay"] == 0.5
    assert [p.ndim for p in others["params"]] == [1, 1] and others["weight_decay"] == 0.0


def test_every_method_has_a_sentence() -> None:
    for config in (DENSE, RunConfig(rate=0.9), *(RunConfig(method=name, rate=0.9) for name in NAMES)):
        said = describe_method(config)
        assert said[0].isupper() and said.endswith(".")


def test_a_recipe_takes_every_setting() -> None:
    prune = PruneConfig(gate="logistic", cool=0.01, kl=3.0, kl_decay=1.0, ramp=0.0, bins=50, every=2)
    recipe = recipe_of(RunConfig(rate=0.9, prior="gaussian", prune=prune))
    assert (recipe.bins, recipe.every, recipe.gain) == (50, 2, "variance")
    assert recipe.ramp(0.0) == 1.0 and recipe.temperature(1.0) == pytest.approx(0.01)
    assert recipe.kl(0.4) == pytest.approx(1.5) and type(recipe.prior).__name__ == "Gaussian"
    lstm = RunConfig(rate=0.9, net=NetConfig(kind="lstm"))
    assert recipe_of(lstm.resolved()).gain == "variance" and recipe_of(RunConfig().resolved()).gain == "fixed"
    assert dataclasses.replace(recipe, live=False).live is False


def test_a_student_who_agrees_loses_nothing() -> None:
    scores = torch.randn(4, 3)
    target = soft_target([lambda x: x], scores, 2.0)
    assert float(distillation(scores, target, 2.0)) == pytest.approx(0.0, abs=1e-6)
    assert float(distillation(-scores, target, 2.0)) > 0.01


def test_an_empty_signal_is_refused_and_not_taken_for_none() -> None:
    with pytest.raises(ConfigError, match="--signal has no part ''"):
        RunConfig(signal="")
