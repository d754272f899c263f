"""The order of parameters stays through attaching, copying, moving, loading and finalizing."""

import copy
import pickle
from collections.abc import Callable

import pytest
import torch
from torch import distributed, nn

from bandstop import BandstopWarning, Pruner
from bandstop.engine.attach.parameter_order import ByTurns


class ByTurnsNet(nn.Module):
    """Matrices and vectors by turns, and a layer below."""

    def __init__(self) -> None:
        super().__init__()
        self.shift, self.first = nn.Parameter(torch.zeros(3)), nn.Parameter(torch.randn(3, 3))
        self.middle, self.second = nn.Parameter(torch.zeros(3)), nn.Parameter(torch.randn(3, 3))
        self.inner = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.inner((x + self.shift) @ self.first + self.middle) @ self.second
        return found


class InModel(nn.Module):
    """A recurrent layer of two levels inside of a model."""

    def __init__(self) -> None:
        super().__init__()
        self.recurrent, self.head = nn.LSTM(3, 4, 2, bidirectional=True), nn.Linear(8, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.head(self.recurrent(x)[0])
        return found


NETS: dict[str, Callable[[], nn.Module]] = {
    "lstm": InModel,
    "gru": lambda: nn.GRU(3, 4, 2),
    "projected lstm": lambda: nn.LSTM(3, 4, 2, proj_size=2),
    "attention": lambda: nn.MultiheadAttention(8, 2, kdim=4, vdim=4),
    "bare parameters": ByTurnsNet,
}


def plain_names(model: nn.Module) -> list[str]:
    names = (name for name, _ in model.named_parameters())
    return [name.replace("parametrizations.", "").replace(".original", "") for name in names]


@pytest.mark.parametrize("name", NETS)
def test_the_order_stays_while_a_pruner_is_attached(name: str) -> None:
    model = NETS[name]()
    names, stored = plain_names(model), list(model.state_dict())
    before = [id(parameter) for parameter in model.parameters()]
    pruner = Pruner(model, 0.5, steps=4)
    assert [id(parameter) for parameter in model.parameters()] == before and plain_names(model) == names
    for _ in range(4):
        pruner.step()
    assert [id(parameter) for parameter in model.parameters()] == before
    pruner.finalize()
    assert [id(parameter) for parameter in model.parameters()] == before and plain_names(model) == names
    assert list(model.state_dict()) == stored
    assert not any(isinstance(module._parameters, ByTurns) for module in model.modules())


@pytest.mark.parametrize("name", NETS)
def test_copies_have_the_order_and_parameters_of_their_own(name: str) -> None:
    model = NETS[name]()
    names = plain_names(model)
    pruner = Pruner(model, 0.5, steps=4)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert plain_names(twin) == names
        assert not {*map(id, twin.parameters())} & {*map(id, model.parameters())}
    pruner.freeze()
    twin = copy.deepcopy(model)
    assert plain_names(pruner.plain(twin)) == names
    assert not any(isinstance(module._parameters, ByTurns) for module in twin.modules())


@pytest.mark.parametrize("assign", [False, True])
@pytest.mark.parametrize("name", NETS)
def test_moving_and_loading_reach_every_parameter_once(name: str, assign: bool) -> None:
    model = NETS[name]()
    names = plain_names(model)
    Pruner(model, 0.5, steps=4)
    values = [parameter.detach().double() for parameter in model.parameters()]
    model.double()
    state = copy.deepcopy(model.state_dict())
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    model.load_state_dict(state, assign=assign)
    assert plain_names(model) == names
    for found, expected in zip(model.parameters(), values, strict=True):
        torch.testing.assert_close(found.detach(), expected)


@pytest.mark.parametrize("name", ["lstm", "gru", "bare parameters"])
def test_functions_of_all_parameters_see_the_latents(name: str) -> None:
    model, x = NETS[name](), torch.randn(2, 3)
    Pruner(model, 0.5, steps=4)
    one, other = model(x), torch.func.functional_call(model, dict(model.named_parameters()), (x,))
    torch.testing.assert_close(one, other)
    doubled = {name: 2 * parameter for name, parameter in model.named_parameters()}
    changed = torch.func.functional_call(model, doubled, (x,))
    first, second = ((o[0] if isinstance(o, tuple) else o) for o in (one, changed))
    assert not torch.equal(first, second)


def test_among_ranks_the_order_is_another_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "is_initialized", lambda: True)
    with pytest.warns(BandstopWarning, match="the parameters of LSTM are listed in another order until"):
        Pruner(nn.LSTM(3, 4, 2), 0.5, steps=4)
