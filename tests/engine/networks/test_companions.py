"""The pruner beside what PyTorch users do: optimisers, precision, copies, averages, checkpoints,
functional calls, export.
"""

from __future__ import annotations

import copy
import io
import pickle

import pytest
import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.checkpoint import checkpoint

from bandstop import Pruner, Recipe
from bandstop.errors import ConfigError, ModelError
from bandstop.method.chart import CELLS
from bandstop.method.schedules import Constant
from tests.engine.networks.training_for_tests import advance, data, mlp

BUDGET = 150  # of 752


def kept(model: nn.Module) -> int:
    return sum(int(p.count_nonzero()) for p in model.parameters() if p.ndim >= 2)


def adam(pruner: Pruner) -> torch.optim.Optimizer:
    return torch.optim.Adam(pruner.parameter_groups(lr=1e-2, latent_lr=5e-2))


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_an_optimiser_built_before_or_after_with_momentum_and_decay(before: bool, decay: float) -> None:
    """Decay acts on the latents: it shrinks them all alike, so the budget, a quantile, does not notice."""
    model = mlp()

    def make() -> torch.optim.Optimizer:
        return torch.optim.AdamW(model.parameters(), lr=0.05, weight_decay=decay)

    optimiser = make() if before else None
    pruner = Pruner(model, 0.8, steps=40)
    losses = advance(model, pruner, optimiser or make(), 40)
    assert losses[-1] < 0.8 * losses[0]
    zeros = [model[i].weight == 0 for i in (0, 3, 5)]
    assert kept(pruner.finalize()) == BUDGET
    assert all(torch.equal(z, model[i].weight == 0) for z, i in zip(zeros, (0, 3, 5), strict=True))


def test_accumulated_gradients_are_those_of_the_whole_batch() -> None:
    gradients = []
    for parts in (1, 4):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 5))
        pruner = Pruner(model, 0.8, steps=10, recipe=Recipe(kl=Constant(0.1), ramp=Constant(1.0)))
        x, y = data()
        for some_x, some_y in zip(x.chunk(parts), y.chunk(parts), strict=True):
            loss = nn.functional.cross_entropy(model(some_x), some_y) + pruner.penalty()
            (loss / parts).backward()
        gradients.append([layer.latent.grad for layer in pruner.layers])
    for one, other in zip(*gradients, strict=True):
        assert torch.allclose(one, other, atol=1e-6)  # type: ignore[arg-type]


def test_bf16_autocast_and_a_scaler() -> None:
    model = mlp()
    pruner = Pruner(model, 0.8, steps=30, recipe=Recipe(kl=Constant(0.01)))
    optimiser, scaler, (x, y) = adam(pruner), torch.amp.GradScaler("cpu"), data()
    losses = []
    for _ in range(30):
        optimiser.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            output = model(x)
            loss = nn.functional.cross_entropy(output, y) + pruner.penalty()
        assert output.dtype == torch.bfloat16
        scaler.scale(loss).backward()
        scaler.step(optimiser)
        scaler.update()
        pruner.step()
        losses.append(float(loss.detach()))
    assert pruner.layers[0].latent.dtype == torch.float32
    assert losses[-1] < losses[0]
    assert kept(pruner.finalize()) == BUDGET


@pytest.mark.parametrize("when", [0, 10, 35])
def test_a_deep_copy_lives_on_its_own(when: int) -> None:
    model = mlp()
    pruner = Pruner(model, 0.8, steps=40)
    advance(model, pruner, adam(pruner), when)
    twin, twin_pruner = copy.deepcopy((model, pruner))
    snapshot = copy.deepcopy(model).eval()
    x = data()[0]
    expected = snapshot(x)
    advance(model, pruner, adam(pruner), 40 - when)
    pruner.finalize()
    assert torch.equal(snapshot(x), expected), "finalizing the original changed a copy"
    advance(twin, twin_pruner, adam(twin_pruner), 40 - when)
    assert kept(twin_pruner.finalize()) == kept(model) == BUDGET
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), twin.parameters(), strict=True))


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_recurrent_layers_can_be_copied_moved_and_pickled_after_a_forward_pass(
    kind: type[nn.RNNBase],
) -> None:
    torch.manual_seed(0)
    model = kind(4, 6)
    recipe = Recipe(ramp=Constant(1.0), threshold="empirical")  # exact before the mask is fixed
    pruner, x = Pruner(model, 0.5, steps=10, recipe=recipe), torch.randn(3, 2, 4)
    expected = model(x)[0]
    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model)), copy.deepcopy(model).to("cpu").float()]
    pruner.finalize()
    for twin in copies:
        assert torch.equal(twin(x)[0], expected)
        twin(x)[0].sum().backward()
    assert torch.allclose(model(x)[0], expected, atol=1e-6)


@pytest.mark.parametrize("start", [0, 20, 36], ids=["from the start", "before the mask", "after the mask"])
@pytest.mark.parametrize("recipe", [Recipe(), Recipe.paper()], ids=["default", "paper"])
def test_an_averaged_model_ends_with_the_same_connections(start: int, recipe: Recipe) -> None:
    model, x = mlp(), data()[0]
    pruner = Pruner(model, 0.8, steps=60, recipe=Recipe(freeze=0.6, gate=recipe.gate, kl=recipe.kl))
    optimiser = adam(pruner)
    advance(model, pruner, optimiser, start)
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.6), use_buffers=False)
    with pytest.raises(ConfigError, match="not fixed yet"):
        if start == 36:
            raise ConfigError("the mask is not fixed yet")
        pruner.plain(average)
    for _ in range(60 - start):
        advance(model, pruner, optimiser, 1)
        average.update_parameters(model)
    smooth = average.eval()(x)
    plain = pruner.plain(average)
    pruner.finalize()
    assert kept(plain) == BUDGET
    for i in (0, 3, 5):
        assert torch.equal(plain[i].weight != 0, model[i].weight != 0)  # type: ignore[index,union-attr]
        assert not torch.equal(plain[i].weight, model[i].weight)  # type: ignore[index,arg-type,union-attr]
    assert torch.allclose(plain(x), smooth, atol=0.05)
    assert torch.allclose(plain(x), model.eval()(x), atol=1.0)
    fresh = mlp()
    fresh.load_state_dict(plain.state_dict(), strict=True)


def test_a_copy_is_made_plain_after_the_original_too() -> None:
    model = mlp()
    pruner = Pruner(model, 0.8, steps=10)
    advance(model, pruner, adam(pruner), 9)
    twin = copy.deepcopy(model)
    pruner.finalize()
    pruner.plain(twin)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), twin.parameters(), strict=True))
    with pytest.raises(ModelError, match="only once"):
        pruner.plain(twin)


@pytest.mark.parametrize("taken", [10, 35])
def test_pickling_in_mid_training_goes_on_bit_by_bit(taken: int) -> None:
    model = mlp()
    pruner = Pruner(model, 0.8, steps=40)
    optimiser = adam(pruner)
    advance(model, pruner, optimiser, taken)
    file = io.BytesIO()
    torch.save((model, pruner, optimiser), file)
    file.seek(0)
    again = torch.load(file, weights_only=False)
    for group in ((model, pruner, optimiser), again):
        advance(*group, 40 - taken)
    one, two = pruner.finalize().state_dict(), again[1].finalize().state_dict()
    assert all(torch.equal(one[key], two[key]) for key in one)


def test_a_finished_network_is_an_ordinary_one() -> None:
    model = mlp()
    size = len(pickle.dumps(model))
    pruner = Pruner(model, 0.8, steps=4)
    advance(model, pruner, adam(pruner), 4)
    pruner.finalize()
    assert abs(len(pickle.dumps(model)) - size) < 100, "something stayed behind"
    fresh = mlp()
    fresh.load_state_dict(model.state_dict(), strict=True)
    x = data()[0]
    assert torch.equal(fresh.eval()(x), model.eval()(x))


def test_a_checkpoint_is_not_doubled_and_plain_weights_are_not_mixed_up() -> None:
    model = mlp()
    size = sum(v.numel() * v.element_size() for v in model.state_dict().values())
    plain = copy.deepcopy(model.state_dict())
    pruner = Pruner(model, 0.8, steps=10)
    chart = len(pruner.layers) * 4 * (CELLS + 1)  # the prior's quantiles of each layer, whatever its size
    assert sum(v.numel() * v.element_size() for v in model.state_dict().values()) < size + chart + 100
    with pytest.raises(ModelError, match=r"plain weight '0\.weight'.*before the pruner is attached"):
        model.load_state_dict(plain)
    advance(model, pruner, adam(pruner), 9)
    fresh = mlp()
    Pruner(fresh, 0.8, steps=10)
    fresh.load_state_dict(model.state_dict(), strict=True)  # masks are found without the pruner's help
    x = data()[0]
    assert torch.equal(fresh.eval()(x), model.eval()(x))


def test_functional_calls() -> None:
    model = nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.Linear(24, 5))
    pruner = Pruner(model, 0.8, steps=10, recipe=Recipe(ramp=Constant(1.0)))
    x = data()[0]
    state = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    assert torch.equal(torch.func.functional_call(model, state, (x,)), model(x))
    doubled = {k: v * 2 if k.endswith("bias") else v for k, v in state.items()}
    assert not torch.equal(torch.func.functional_call(model, doubled, (x,)), model(x))
    assert pruner.kept == round(0.2 * 408)


@pytest.mark.parametrize("recipe", [Recipe(), Recipe.paper()], ids=["default", "paper"])
def test_gradients_per_example(recipe: Recipe) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(12, 5))
    Pruner(model, 0.5, steps=10, recipe=recipe)
    x, y = data()
    parameters = dict(model.named_parameters())

    def loss(parameters: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        return nn.functional.cross_entropy(torch.func.functional_call(model, parameters, (x[None],)), y[None])

    each = torch.func.vmap(torch.func.grad(loss), (None, 0, 0))(parameters, x, y)
    nn.functional.cross_entropy(model(x), y).backward()
    for name, parameter in parameters.items():
        assert torch.allclose(each[name].mean(0), parameter.grad, atol=1e-6), name  # type: ignore[arg-type]


@pytest.mark.parametrize("reentrant", [False, True])
def test_gradient_checkpointing(reentrant: bool) -> None:
    model, x = mlp(), data()[0].requires_grad_()
    pruner = Pruner(model, 0.8, steps=10)
    model(x).square().mean().backward()
    expected = [layer.latent.grad.clone() for layer in pruner.layers]  # type: ignore[union-attr]
    model.zero_grad()
    checkpoint(model, x, use_reentrant=reentrant).square().mean().backward()  # type: ignore[union-attr]
    for layer, gradient in zip(pruner.layers, expected, strict=True):
        assert torch.allclose(layer.latent.grad, gradient, atol=1e-7)  # type: ignore[arg-type]


@pytest.mark.parametrize("stage", ["attached", "frozen", "plain"])
def test_export(stage: str) -> None:
    model, x = mlp(), data()[0]
    pruner = Pruner(model, 0.8, steps=10, recipe=Recipe(ramp=Constant(1.0)))
    if stage == "frozen":
        pruner.freeze()
    if stage == "plain":
        pruner.finalize()
    model.eval()
    program = torch.export.export(model, (x,))
    assert torch.allclose(program.module()(x), model(x), atol=1e-6)
    if stage == "plain":  # no trace of masks or gates
        called = {str(node.target) for node in program.graph.nodes if node.op == "call_function"}
        assert not any("mul" in name or "clamp" in name for name in called), called
