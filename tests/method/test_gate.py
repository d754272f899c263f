"""Properties (i)–(iv) of the band-stop gate, and its gradients."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bandstop.errors import ConfigError
from bandstop.method.gate import GATES, Garrote, Gate, Hard, Logistic, Soft, gate

ALL = [Logistic(), Logistic(sigma=2.0), Soft(), Soft(leak=0.1), Hard(), Garrote(), Garrote(power=1.0)]
EXACT = [g for g in ALL if g.exact]
thresholds = st.floats(0.01, 5)
latents = st.floats(-20, 20)


@given(latents, thresholds)
@pytest.mark.parametrize("g", ALL, ids=str)
def test_between_zero_and_one_and_symmetric(g: Gate, w: float, a: float) -> None:
    value = torch.tensor([w, -w], dtype=torch.float64)
    psi = g.psi(value, a, 0.3)
    assert 0 <= float(psi[0]) <= 1
    assert psi[0] == psi[1]


@given(st.lists(st.floats(0, 20), min_size=2, max_size=20), thresholds)
@pytest.mark.parametrize("g", ALL, ids=str)
def test_never_falls_with_magnitude(g: Gate, magnitudes: list[float], a: float) -> None:
    psi = g.psi(torch.tensor(sorted(magnitudes), dtype=torch.float64), a, 0.3)
    assert bool((psi.diff() >= -1e-12).all())


@given(st.floats(0.1, 5))
@pytest.mark.parametrize("g", ALL, ids=str)
def test_stops_below_and_passes_far_above_once_cool(g: Gate, a: float) -> None:
    psi = g.psi(torch.tensor([0.5 * a, 1000 * a], dtype=torch.float64), a, 1e-4)
    assert float(psi[0]) < 1e-3
    assert float(psi[1]) > 0.99


def test_the_paper_s_form_at_temperature_one() -> None:
    w, a, sigma = torch.linspace(-4, 4, 101, dtype=torch.float64), 1.7, 2.5
    literal = 1 / (1 + sigma * torch.exp(a**2 - w**2))
    assert torch.allclose(Logistic(sigma).psi(w, a, 1.0), literal)


def test_annealing_sigma_alone_never_makes_a_cut() -> None:
    """Erratum: ψ(a) = 1/(1+σ) moves, the steepness at the half-way point does not;
    the temperature makes it steep.
    """
    w = torch.linspace(0, 4, 4001, dtype=torch.float64)
    steepest = [
        float(Logistic(s).psi(w.square().sqrt(), 2.0, 1.0).diff().max() / 1e-3) for s in (1.0, 0.1, 0.01)
    ]
    assert max(steepest) < 2
    assert float(Logistic().psi(w, 2.0, 1e-3).diff().max() / 1e-3) > 100


@pytest.mark.parametrize("g", EXACT, ids=str)
def test_exact_gates_are_exactly_zero_in_the_stop_band(g: Gate) -> None:
    w = torch.linspace(-3, 3, 601)
    passed = g.effective(w, 1.0) != 0
    assert torch.equal(passed, w.abs() > 1.0)


@pytest.mark.parametrize("g", ALL, ids=str)
def test_effective_is_latent_times_psi(g: Gate) -> None:
    w = torch.randn(200, dtype=torch.float64)
    assert torch.allclose(g.effective(w, 0.7, 0.5), w * g.psi(w, 0.7, 0.5))


@pytest.mark.parametrize(
    "g", [Logistic(), Soft(leak=0.0), Garrote(leak=0.0), Garrote(power=3.0, leak=0.0)], ids=str
)
def test_true_derivative_where_asked(g: Gate) -> None:
    w = torch.tensor([-2.0, -0.4, 0.3, 1.4], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: g.effective(x, 1.0, 0.5), (w,))


@pytest.mark.parametrize("kind", [Soft, Hard, Garrote])
@pytest.mark.parametrize("leak", [0.0, 0.1, 1.0])
def test_leak_is_what_reaches_a_stopped_weight(kind: type, leak: float) -> None:
    w = torch.tensor([0.5], requires_grad=True)
    kind(leak=leak).effective(w, 1.0).backward()
    assert w.grad is not None
    assert w.grad.item() == pytest.approx(leak)


@pytest.mark.parametrize("g", ALL, ids=str)
def test_scaled_is_gain_times_effective_in_value_and_gradient(g: Gate) -> None:
    results = []
    for scaled in (True, False):
        w = torch.linspace(-2, 2, 41, dtype=torch.float64, requires_grad=True)
        gain = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
        a, tau = torch.tensor(0.8, dtype=torch.float64), torch.tensor(0.5, dtype=torch.float64)
        out = g.scaled(w, gain, a, tau) if scaled else g.effective(w, a, tau) * gain
        (out * torch.linspace(1, 2, 41, dtype=torch.float64)).sum().backward()
        results.append((out.detach(), w.grad, gain.grad))
    for one, two in zip(*results, strict=True):
        assert torch.allclose(one, two)  # type: ignore[arg-type]


def test_unknown_gate_is_named() -> None:
    with pytest.raises(ConfigError, match=r"logistic, soft, hard, garrote.*'step'"):
        gate("step")
    assert set(GATES) == {"logistic", "soft", "hard", "garrote"}
