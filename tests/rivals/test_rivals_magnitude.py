"""Rivals that cut by magnitude: one-shot, gradual, AC/DC, Powerpropagation."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import prune

from bandstop import rivals
from bandstop.engine.select.allocation import lamp_scores
from bandstop.rivals.ac_dc import AcDcSettings
from bandstop.rivals.powerprop import power, root
from tests.rivals.rival_training import NoiseLoss, Training, kept_weights, mlp

torch.set_num_threads(1)


def weights_of(training: Training) -> dict[str, Tensor]:
    with torch.no_grad():
        return {
            layer.name: training.method.band(layer)(layer.latent).clone() for layer in training.method.layers
        }


def best(scores: dict[str, Tensor], count: int) -> dict[str, Tensor]:
    """The ``count`` best of all layers together, written out plainly."""
    limit = torch.cat([s.flatten() for s in scores.values()]).sort(descending=True).values[count - 1]
    return {name: s >= limit for name, s in scores.items()}


@pytest.mark.parametrize("name", ["mp", "mp-lamp"])
def test_one_shot_cuts_once_and_by_its_own_scores(name: str) -> None:
    torch.manual_seed(3)
    net = mlp(8, 16, 6)
    training = Training(name, net, 0.9, NoiseLoss(net, 16, 8), 20, settings={"floor": 0}).run(9)
    assert training.method.kept == 224 and training.method.rate == 0 and not training.method.settled
    # The tenth step is the last dense one: what it leaves is what the cut sees.
    cut: dict[str, Tensor] = {}
    original = training.method.final_masks

    def noted() -> dict[str, Tensor]:
        cut.update(weights_of(training))
        return original()

    training.method.final_masks = noted  # type: ignore[method-assign]
    training.step()
    score = lamp_scores if name == "mp-lamp" else torch.clone
    expected = best({n: score(w.abs()) for n, w in cut.items()}, 22)
    masks = training.masks()
    assert all(torch.equal(masks[n], expected[n]) for n in masks)
    assert training.method.settled
    training.run(10)
    assert all(torch.equal(masks[n], m) for n, m in training.masks().items()), "never cut again"


def test_the_global_cut_is_that_of_torch() -> None:
    torch.manual_seed(0)
    net, twin = mlp(20, 30, 10), mlp(20, 30, 10)
    twin.load_state_dict(net.state_dict())
    parameters = [(twin[0], "weight"), (twin[2], "weight")]
    prune.global_unstructured(parameters, pruning_method=prune.L1Unstructured, amount=900 - 90)
    method = rivals.make("mp", net, 0.9, steps=1, settings={"floor": 0})
    method.step()
    for layer, module in zip(method.layers, (twin[0], twin[2]), strict=True):
        assert torch.equal(method.band(layer).mask, module.weight_mask.bool())


def test_the_learning_rate_starts_again_for_the_retraining() -> None:
    method = rivals.make("mp", mlp(8, 16, 6), 0.9, steps=20)
    assert [method.lr_progress(step / 20) for step in (0, 5, 10)] == [0.0, 0.5, 1.0]
    assert [round(method.lr_progress(step / 20), 9) for step in (11, 15, 20)] == [0.1, 0.5, 1.0]
    plain = rivals.make("mp", mlp(8, 16, 6), 0.9, steps=20, settings={"restart": False})
    assert plain.lr_progress(0.6) == 0.6
    assert rivals.make("gmp", mlp(8, 16, 6), 0.9, steps=20).lr_progress(0.6) == 0.6


@pytest.mark.parametrize("name", ["gmp", "gmp-erk", "gmp-lamp"])
def test_gradual_pruning_follows_the_cubic_law_and_never_returns(name: str) -> None:
    torch.manual_seed(0)
    net = mlp(8, 16, 6)
    settings = {"begin": 0.2, "end": 0.8, "updates": 10}
    training = Training(name, net, 0.9, NoiseLoss(net, 16, 8), 100, settings=settings)
    masks = training.masks()
    for step in range(1, 101):
        training.step()
        u = min(max((step - step % 6 - 20) / 60, 0.0), 1.0) if step < 80 else 1.0
        expected = 224 - (1 - (1 - u) ** 3) * (224 - 22)
        assert training.method.kept == pytest.approx(expected, abs=0.51), step
        now = training.masks()
        dropped = sum(int((now[n] & ~masks[n]).sum()) for n in now)
        # Whole-number shares of ERK may hand a connection from layer to layer;
        # otherwise what is dropped stays so.
        assert dropped <= (1 if name == "gmp-erk" else 0)
        masks = now
        assert training.method.settled == (step >= 80)


def test_gradual_pruning_drops_the_smallest_of_the_whole_net_but_leaves_no_layer_empty() -> None:
    seen = {}
    for floor in (0, 1):
        torch.manual_seed(0)
        net = mlp(8, 16, 6)
        with torch.no_grad():
            net[2].weight.mul_(1e-3)
        method = rivals.make("gmp", net, 0.9, steps=10, settings={"floor": floor})
        magnitudes = method.magnitudes()
        method.impose(method.select(magnitudes))
        seen[floor] = {layer.name: method.band(layer).mask.clone() for layer in method.layers}
    expected = best(magnitudes, 22)
    assert all(torch.equal(seen[0][n], expected[n]) for n in expected)
    assert int(seen[0]["2.weight"].sum()) == 0 and int(seen[1]["2.weight"].sum()) == 1


def test_ac_dc_phases_are_those_of_the_paper() -> None:
    settings = AcDcSettings()
    compressed = [epoch for epoch in range(100) if settings.compressed(epoch / 100)]
    published = [e for start in range(10, 71, 10) for e in range(start, start + 5)] + list(range(85, 100))
    assert compressed == published


def test_ac_dc_compresses_by_global_magnitude_and_decompresses_from_zero() -> None:
    torch.manual_seed(0)
    net = mlp(8, 16, 6)
    training = Training("ac-dc", net, 0.9, NoiseLoss(net, 16, 8), 100)
    masks: dict[str, Tensor] = {}
    for step in range(1, 101):
        before = weights_of(training)
        training.step()
        method = training.method
        sparse = AcDcSettings().compressed(step / 100)
        assert method.kept == (22 if sparse else 224), step
        if step == 10:  # the first compression: the mask is of the largest magnitudes
            kept = training.masks()
            moved = weights_of(training)
            assert min(float(moved[n][kept[n]].abs().min()) for n in kept) > 0
            assert all((moved[n][~kept[n]] == 0).all() for n in kept)
        if step == 15:  # decompressed: all are free, the dropped ones start from zero
            assert all(m.all() for m in training.masks().values())
            assert all((weights_of(training)[n][~masks[n]] == 0).all() for n in masks)
            for layer in method.layers:
                moment = training.optimiser.state[layer.latent]["exp_avg"]
                assert (moment[~masks[layer.name]] == 0).all() and (moment[masks[layer.name]] != 0).any()
        if step == 16:
            assert any((weights_of(training)[n][~masks[n]] != 0).any() for n in masks), "and move at once"
        if 10 < step < 15 or step > 85:
            assert all((weights_of(training)[n] == 0).eq(before[n] == 0).all() for n in before), (
                "fixed support"
            )
        masks = training.masks() if sparse else masks
        assert method.settled == (step >= 85)


def test_powers_and_roots_undo_each_other() -> None:
    weight = torch.randn(50, dtype=torch.float64)
    for alpha in (1.0, 2.0, 3.5):
        assert torch.allclose(power(root(weight, alpha), alpha), weight)
    assert torch.equal(power(weight, 1.0), weight)


def test_powerpropagation_starts_as_the_given_net() -> None:
    torch.manual_seed(0)
    net, x = mlp(8, 16, 6), torch.randn(5, 8)
    given = net(x).detach()
    rivals.make("powerprop", net, 0.9, steps=10, settings={"alpha": 3})
    assert torch.allclose(net(x), given, atol=1e-6)


def test_powerpropagation_multiplies_the_update_by_the_slope_of_the_power() -> None:
    """With plain SGD this is gradient descent on φ: Δφ = −η ∂L/∂φ, which autograd tells without our help."""
    torch.manual_seed(0)
    net, x = nn.Sequential(nn.Linear(4, 3, bias=False)), torch.randn(5, 4)
    method = rivals.make("powerprop", net, 0.5, steps=100, settings={"alpha": 2})
    phi = method.layers[0].latent
    free = phi.detach().clone().requires_grad_()
    (x @ (free * free.abs()).T).square().sum().backward()
    optimiser = torch.optim.SGD(method.parameter_groups(0.01), lr=0.01)
    (net(x).square().sum() + method.penalty()).backward()
    optimiser.step()
    method.step()
    assert torch.allclose(phi, free.detach() - 0.01 * free.grad, atol=1e-6)


def test_powerpropagation_leaves_small_weights_where_they_are() -> None:
    torch.manual_seed(0)
    moves = {}
    for alpha in (1, 3):
        torch.manual_seed(0)
        net = mlp(8, 16, 6)
        start = net[0].weight.detach().clone()
        training = Training(
            "powerprop", net, 0.5, NoiseLoss(net, 16, 8), 1000, settings={"alpha": alpha}, weight_decay=0.0
        ).run(20)
        moved = (weights_of(training)["0.weight"] - start).abs()
        small = start.abs() < start.abs().quantile(0.2)
        moves[alpha] = float(moved[small].mean() / moved[~small].mean())
    assert moves[3] < 0.1 < moves[1], "the rich get richer, the poor stay"


def test_the_small_dense_net_keeps_all_its_weights() -> None:
    net = mlp(4, 3, 2)
    training = Training("small-dense", net, 0.9, NoiseLoss(net, 16, 4), 5).run()
    assert training.method.settled and training.method.rate == 0
    training.method.finalize()
    assert kept_weights(net) == 18
