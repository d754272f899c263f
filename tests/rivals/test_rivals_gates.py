"""Rivals that keep latents for what they drop: Top-KAST, straight-through, STR, ProbMask,
adaptive sparsity loss.
"""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from bandstop import rivals
from bandstop.rivals.adaptive_sparsity import GaussianCut, assumed_rate
from bandstop.rivals.prob_mask import ProbMask, Sampled, project
from bandstop.rivals.soft_threshold import Thresholded
from bandstop.rivals.straight_through import Reaching
from tests.rivals.rival_training import NoiseLoss, Training, mlp

torch.set_num_threads(1)


def started(name: str, rate: float = 0.9, steps: int = 40, **more: object) -> Training:
    torch.manual_seed(4)
    net = mlp(8, 16, 6)
    return Training(name, net, rate, NoiseLoss(net, 16, 8), steps, **more)


# --- Top-KAST and straight-through --------------------------------------------------------------------------


def test_the_gradient_reaches_the_backward_set_and_no_further() -> None:
    band = Reaching(torch.zeros(4))
    band.mask.copy_(torch.tensor([True, False, False, False]))
    band.reach.copy_(torch.tensor([True, True, False, False]))
    latent = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    weight = band(latent)
    assert weight.tolist() == [1.0, 0.0, 0.0, 0.0]
    (weight * torch.tensor([1.0, 10.0, 100.0, 1000.0])).sum().backward()
    assert latent.grad is not None and latent.grad.tolist() == [1.0, 10.0, 0.0, 0.0]


def test_top_kast_sets_are_the_largest_of_each_layer() -> None:
    run = started("top-kast").run(7)
    for layer in run.method.layers:
        band, size = run.method.band(layer), layer.latent.detach().abs()
        inside, reach = int(band.mask.sum()), int(band.reach.sum())
        assert reach == min(5 * inside, size.numel())
        assert size[band.mask].min() >= size[~band.mask].max()
        assert size[band.reach].min() >= size[~band.reach].max() if reach < size.numel() else True
        assert (band.mask & ~band.reach).sum() == 0


def test_top_kast_leaves_the_rest_alone() -> None:
    run = started("top-kast", steps=1000, optimiser=lambda groups, lr: torch.optim.SGD(groups, lr=lr))
    before = run.latents()
    reach = {layer.name: run.method.band(layer).reach.clone() for layer in run.method.layers}
    run.step()
    for n, latent in run.latents().items():
        moved = latent != before[n]
        assert not moved[~reach[n]].any() and moved[reach[n]].any()


def test_top_kast_explores_by_a_stronger_pull_on_the_brink() -> None:
    run = started("top-kast", settings={"exploration": 0.5})
    run.method.penalty().backward()
    for layer in run.method.layers:
        band, latent = run.method.band(layer), layer.latent
        density = band.mask.float().mean()
        pull = torch.where(band.mask, 1.0, 1 / density) * band.reach
        assert torch.allclose(latent.grad, 0.5 * pull * latent.detach())
    assert {group["weight_decay"] for group in run.method.parameter_groups(0.1, weight_decay=0.3)} == {0.0}


def test_a_weight_that_grows_comes_back() -> None:
    for name in ("top-kast", "ste"):
        run = started(name, settings={"end": 0.0} if name == "ste" else {})
        layer = run.method.layers[0]
        band = run.method.band(layer)
        place = tuple((~band.mask).nonzero()[0].tolist())
        with torch.no_grad():
            layer.latent[place] = 9.0
        run.step()
        assert band.mask[place]


def test_straight_through_trains_every_weight_and_ramps() -> None:
    run = started("ste", steps=40)
    rates = []
    for step in range(1, 21):
        run.step()
        rates.append(run.method.rate)
        for layer in run.method.layers:
            assert (layer.latent.grad[~run.method.band(layer).mask] != 0).any() or step == 1
    expected = [(1 - 22 / 224) * (1 - (1 - step / 20) ** 3) for step in range(1, 21)]
    assert rates == pytest.approx(expected, abs=0.51 / 224)


# --- STR ----------------------------------------------------------------------------------------------------


def test_str_is_a_soft_threshold_with_a_learned_level() -> None:
    band = Thresholded(torch.zeros(3), math.log(0.5))
    latent = torch.tensor([-2.0, 0.3, 0.9], dtype=torch.float32, requires_grad=True)
    weight = band(latent)
    assert torch.allclose(weight, torch.tensor([-1.5, 0.0, 0.4]))
    weight.sum().backward()
    assert latent.grad is not None and latent.grad.tolist() == [1.0, 0.0, 1.0]
    # d/ds of Σ sign(θ)(|θ| − e^s)₊ is −e^s for each positive one that passes,
    # +e^s for each negative one: 0 here.
    assert float(band.s.grad) == pytest.approx(0.5 - 0.5)


def test_str_thresholds_keep_exactly_what_the_ramp_allows_and_learn_to_differ() -> None:
    run = started("str", rate=0.9, steps=60, settings={"end": 0.5})
    for step in range(1, 61):
        run.step()
        u = min(step / 30, 1.0)
        expected = 224 - (1 - (1 - u) ** 3) * (224 - 22)
        passing = 0
        with torch.no_grad():
            for layer in run.method.layers:
                passing += int(run.method.band(layer)(layer.latent).count_nonzero())
        assert passing == run.method.kept == pytest.approx(expected, abs=0.51), step
    levels = [float(run.method.band(layer).s.detach()) for layer in run.method.layers]
    assert abs(levels[0] - levels[1]) > 0.01, "the gradient, not the shift, sets them apart"
    assert "threshold" in run.method.snapshot()["layers"]["0.weight"]


def test_str_survives_weights_that_are_zero() -> None:
    torch.manual_seed(0)
    net = mlp(8, 16, 6)
    with torch.no_grad():
        net[0].weight.zero_()
    run = Training("str", net, 0.5, NoiseLoss(net, 16, 8), 20).run()
    assert all(bool(torch.isfinite(run.method.band(layer).s)) for layer in run.method.layers)


# --- ProbMask -----------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 0.99))
def test_projection_is_the_nearest_point_under_the_constraint(seed: int, share: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    values = [
        torch.randn(7, generator=generator).double() + 0.5,
        torch.randn(5, generator=generator).double(),
    ]
    projected = torch.cat(project(values, 12 * share))
    flat = torch.cat(values)
    assert float(projected.min()) >= 0 and float(projected.max()) <= 1
    assert float(projected.sum()) <= 12 * share + 1e-6
    if float(flat.clamp(0, 1).sum()) <= 12 * share:
        assert torch.equal(projected, flat.clamp(0, 1))
    # No feasible point is nearer: the projection's defining inequality (z − p)·(q − p) ≤ 0.
    for _ in range(20):
        other = torch.rand(12, generator=generator).double()
        other = other * min(1.0, 12 * share / float(other.sum()))
        assert float(((flat - projected) * (other - projected)).sum()) <= 1e-6


def test_sampled_masks_follow_their_probabilities() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(200, 100))
    method = rivals.make("probmask", net, 0.5, steps=10, settings={"coldest": 1e-3})
    assert isinstance(method, ProbMask)
    layer = method.layers[0]
    band = method.band(layer)
    with torch.no_grad():
        band.score[:, :100].fill_(0.2)
        band.score[:, 100:].fill_(0.9)
    method.taken = 10
    method._draw()
    with torch.no_grad():
        mask = band(torch.ones(100, 200))
    assert float(mask[:, :100].mean()) == pytest.approx(0.2, abs=0.02)
    assert float(mask[:, 100:].mean()) == pytest.approx(0.9, abs=0.02)
    assert float(((mask < 0.01) | (mask > 0.99)).float().mean()) > 0.97, "nearly binary when cold"


def test_probabilities_start_open_and_meet_the_budget_by_projection() -> None:
    run = started("probmask", steps=50)
    total = sum(float(run.method.band(layer).score.detach().sum()) for layer in run.method.layers)
    assert total == 224 == run.method.kept
    for step in range(1, 47):
        run.step()
        u = min(max((step / 50 - 0.16) / 0.44, 0.0), 1.0)
        allowed = round(224 - (1 - (1 - u) ** 3) * (224 - 22))
        scores = [run.method.band(layer).score.detach() for layer in run.method.layers]
        assert sum(float(s.sum()) for s in scores) <= allowed + 1e-3
        assert all(float(s.min()) >= 0 and float(s.max()) <= 1 for s in scores)
    assert not run.method.settled
    scores_by_name = {
        layer.name: run.method.band(layer).score.detach().clone() for layer in run.method.layers
    }
    run.step()
    assert run.method.settled
    kept = run.masks()
    assert sum(int(m.sum()) for m in kept.values()) == 22
    floor_of_kept = min(float(scores_by_name[n][kept[n]].min()) for n in kept)
    assert floor_of_kept >= 0.5 * max(float(scores_by_name[n][~kept[n]].max()) for n in kept)


def test_the_noise_is_the_same_for_all_uses_in_a_step_and_new_in_the_next() -> None:
    run = started("probmask", steps=50).run(30)
    band, latent = run.method.band(run.method.layers[0]), run.method.layers[0].latent
    assert isinstance(band, Sampled)
    first = band(latent).detach()
    assert torch.equal(first, band(latent).detach())
    before = band.noise.clone()
    run.step()
    assert not torch.equal(before, band.noise)


# --- adaptive sparsity loss ---------------------------------------------------------------------------------


def test_the_cut_is_hard_and_its_gradients_are_straight_through() -> None:
    weight = torch.tensor([-2.0, -0.2, 0.1, 2.1])
    band = GaussianCut(weight, 0.5)
    latent = weight.clone().requires_grad_()
    cut = 0.5 * float(weight.std()) + 1e-6
    used = band(latent)
    assert used.tolist() == pytest.approx([-2.0, 0.0, 0.0, 2.1])
    slope = torch.tensor([1.0, 3.0, 5.0, 7.0])
    (used * slope).sum().backward()
    assert latent.grad is not None and torch.allclose(latent.grad, slope)
    lost = -(float(weight[1]) / cut * 3 + float(weight[2]) / cut * 5) * float(weight.std())
    assert float(band.r.grad) == pytest.approx(lost, rel=1e-4)


def test_the_assumed_rate_is_a_gaussians() -> None:
    sample = torch.randn(200_000, generator=torch.Generator().manual_seed(0))
    for r in (0.5, 1.0, 2.0):
        assert float((sample.abs() < r).float().mean()) == pytest.approx(
            float(assumed_rate(torch.tensor(r))), abs=4e-3
        )


def test_the_budget_loss_pulls_the_assumed_density_to_the_asked_one() -> None:
    run = started("asl", rate=0.9, steps=400, settings={"freeze": 1.0})
    first = float(run.method.estimated_density().detach())
    assert 1 - first == pytest.approx(0.6 * 0.9, abs=0.01), "thresholds start at 60 % of the asked rate"
    loss = run.method.penalty()
    assert float(loss.detach()) == pytest.approx(100 * (first - 22 / 224) ** 2, rel=1e-4)
    run.run(300)
    assert float(run.method.estimated_density().detach()) == pytest.approx(22 / 224, abs=0.04)
    assert run.method.snapshot()["assumed_rate"] == pytest.approx(0.9, abs=0.04)
    for layer in run.method.layers:
        assert float(layer.latent.detach().mean()) == pytest.approx(0.0, abs=1e-6)


def test_what_is_assumed_is_not_what_is_observed_until_the_exact_selection() -> None:
    """Uniform weights under a gaussian assumption: at a deviation of √3 and more nothing is left at all."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(50, 40), nn.ReLU(), nn.Linear(40, 30))
    run = Training("asl", net, 0.95, NoiseLoss(net, 8, 50), 100)
    with torch.no_grad():
        for layer in run.method.layers:
            run.method.band(layer).r.fill_(1.96)
        run.method._centre()
    assert 1 - float(run.method.estimated_density().detach()) == pytest.approx(0.95, abs=1e-3)
    assert run.method.rate > 0.99
    masks: dict[str, Tensor] = run.method.final_masks()
    assert sum(int(m.sum()) for m in masks.values()) == round(0.05 * 3200)
