"""How often the KL is in the loss, and how heavy it is then."""

import pytest
import torch
from torch import nn

from bandstop import Pruner, Recipe
from bandstop.method.schedules import Constant


@pytest.mark.parametrize(("every", "kl_every"), [(1, 1), (4, 1), (4, 2), (1, 3)])
def test_the_kl_is_in_every_nth_loss_and_n_times_as_heavy(every: int, kl_every: int) -> None:
    model, wanted = nn.Linear(30, 20), every * kl_every
    pruner = Pruner(model, 0.5, steps=60, recipe=Recipe(kl=Constant(2.0), every=every, kl_every=kl_every))
    for taken in range(2 * wanted):
        penalty = pruner.penalty()
        if taken % wanted:
            assert float(penalty) == 0 and not penalty.requires_grad
        else:
            torch.testing.assert_close(penalty, wanted * 2.0 * pruner.divergence())
        pruner.step()


def test_the_paper_has_it_in_every_loss() -> None:
    pruner = Pruner(nn.Linear(30, 20), 0.5, steps=60, recipe=Recipe.paper())
    for _ in range(3):
        assert pruner.penalty() > 0
        pruner.step()
