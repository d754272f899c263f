"""SET and RigL: what is dropped, what is grown, when."""

import math

import pytest
import torch
from torch import Tensor, nn

from bandstop import rivals
from bandstop.engine.select.allocation import allocate
from bandstop.rivals.rewiring import rewired
from tests.rivals.rival_training import NoiseLoss, Training, mlp

torch.set_num_threads(1)
EVERY = {"every": 5, "least": 1}


def training(name: str, steps: int = 40, **settings: object) -> Training:
    torch.manual_seed(2)
    net = mlp(8, 16, 6)
    return Training(name, net, 0.75, NoiseLoss(net, 16, 8), steps, settings={**EVERY, **settings})


def just_before(run: Training, step: int) -> tuple[dict[str, Tensor], dict[str, Tensor], dict[str, Tensor]]:
    """Masks before an update, the latents it saw, masks after it."""
    run.run(step - 1)
    before = run.masks()
    seen: dict[str, Tensor] = {}
    update = run.method.update

    def noted() -> None:
        seen.update(run.latents())
        update()

    run.method.update = noted  # type: ignore[method-assign]
    run.step()
    return before, seen, run.masks()


def test_rewired_moves_the_asked_number() -> None:
    torch.manual_seed(0)
    for _ in range(30):
        weight, growth, keep = torch.randn(40), torch.rand(40), torch.rand(40) < 0.3
        weight = weight * keep
        moved = int(0.4 * int(keep.sum()))
        new, grown = rewired(weight, keep, growth, moved)
        assert int(new.sum()) == int(keep.sum()) and int(grown.sum()) == moved
        remaining = new & ~grown
        assert (remaining & ~keep).sum() == 0
        if moved:
            assert weight[remaining].abs().min() >= weight[keep & ~remaining].abs().max()
            assert growth[grown].min() >= growth[~new].max()


@pytest.mark.parametrize("name", ["set", "rigl"])
def test_layers_share_by_erk_and_keep_their_share(name: str) -> None:
    run = training(name)
    expected = allocate(
        "erk", 56, {n: torch.ones_like(m, dtype=torch.float32) for n, m in run.masks().items()}
    )
    for _ in range(40):
        assert {n: int(m.sum()) for n, m in run.masks().items()} == expected
        run.step()


@pytest.mark.parametrize("name", ["set", "rigl"])
def test_the_smallest_are_dropped_and_only_when_due(name: str) -> None:
    run = training(name)
    before, seen, after = just_before(run, 5)
    for layer in run.method.layers:
        n = layer.name
        gone = before[n] & ~after[n]
        assert gone.any()
        fraction = 0.3 if name == "set" else 0.15 * (1 + math.cos(math.pi * 5 / 30))
        dropped_limit = seen[n][before[n]].abs().sort().values[int(fraction * int(before[n].sum())) - 1]
        assert (seen[n][gone].abs() <= dropped_limit).all()
    held = run.masks()
    for _ in range(4):  # steps 6 to 9
        run.step()
        assert all(torch.equal(m, held[n]) for n, m in run.masks().items())


@pytest.mark.parametrize("name", ["set", "rigl"])
def test_the_topology_stays_after_the_end(name: str) -> None:
    run = training(name).run(30)
    assert run.method.settled
    held = run.masks()
    run.run(10)
    assert all(torch.equal(m, held[n]) for n, m in run.masks().items())
    assert not training(name).run(29).method.settled


@pytest.mark.parametrize("name", ["set", "rigl"])
def test_grown_connections_start_from_zero_without_momentum(name: str) -> None:
    run = training(name)
    before, _, after = just_before(run, 10)
    for layer in run.method.layers:
        grown = after[layer.name] & ~before[layer.name]
        assert grown.any()
        assert (layer.latent[grown] == 0).all()
        assert (run.optimiser.state[layer.latent]["exp_avg"][grown] == 0).all()
    run.step()
    assert all((run.latents()[n][after[n] & ~before[n]] != 0).any() for n in after), (
        "and learn from the next step on"
    )


def test_rigl_grows_where_the_dense_gradient_is_largest() -> None:
    """The gradient of the batch of the update step, with the weights as that step's forward pass saw them."""
    run = training("rigl")
    run.run(4)
    before = run.masks()
    loss, net = run.loss, run.net
    state = loss.generator.get_state()
    effective = {
        layer.name: (layer.latent.detach() * before[layer.name]).requires_grad_()
        for layer in run.method.layers
    }
    x = torch.randn(16, 8, generator=loss.generator)
    labels = torch.randint(6, (16,), generator=loss.generator)
    hidden = torch.relu(x @ effective["0.weight"].T + net[0].bias)
    nn.functional.cross_entropy(hidden @ effective["2.weight"].T + net[2].bias, labels).backward()
    loss.generator.set_state(state)
    run.step()
    after = run.masks()
    for n, weight in effective.items():
        grown = after[n] & ~before[n]
        assert grown.any()
        assert weight.grad is not None
        assert weight.grad[grown].abs().min() >= weight.grad[~after[n] & ~before[n]].abs().max()


def test_rigl_takes_dense_gradients_only_when_it_needs_them() -> None:
    run = training("rigl")
    for step in range(1, 40):
        band = run.method.band(run.method.layers[0])
        assert band.watching == (step % 5 == 0 and step <= 30)
        keep = band.mask.clone()
        run.step()
        assert (run.method.layers[0].latent.grad[~keep] == 0).all(), (
            "the optimiser sees masked gradients only"
        )


def test_rigl_drops_less_and_less() -> None:
    run = training("rigl", steps=40)
    fractions = []
    for _ in range(30):
        run.step()
        fractions.append(run.method.fraction)
    assert fractions[0] == pytest.approx(0.3, abs=0.01) and fractions[-1] == pytest.approx(0.0)
    assert fractions == sorted(fractions, reverse=True)
    assert training("set").method.fraction == 0.3


def test_set_grows_by_chance() -> None:
    """Whatever the gradients: another seed of the method grows other connections from the same state."""
    grown = []
    for seed in (1, 2):
        run = training("set")
        run.run(4)
        run.method.generator.manual_seed(seed)
        before = run.masks()["0.weight"]
        run.step()
        grown.append(run.masks()["0.weight"] & ~before)
    assert not torch.equal(grown[0], grown[1])


def test_short_trainings_have_enough_updates() -> None:
    method = rivals.make("rigl", mlp(8, 16, 6), 0.75, steps=400)
    assert method.interval == 15
    assert rivals.make("rigl", mlp(8, 16, 6), 0.75, steps=40_000).interval == 100
    assert rivals.make("rigl", mlp(8, 16, 6), 0.75, steps=5).interval == 1


def test_what_is_dropped_and_grown_at_once_is_new_for_set_and_old_for_rigl() -> None:
    kept, grown = torch.tensor([True, False]), torch.tensor([True, True])
    assert training("set").method.restarts(kept, grown).tolist() == [True, True]  # type: ignore[attr-defined]
    assert training("rigl").method.restarts(kept, grown).tolist() == [False, True]  # type: ignore[attr-defined]
