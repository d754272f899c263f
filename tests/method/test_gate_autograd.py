"""Functions of the gates are applied as torch applies them."""

import torch

from bandstop.method.gate_autograd import Shrink, applied, plainly_run


def test_a_function_is_applied_with_and_without_a_transform() -> None:
    latent, level = torch.tensor([-3.0, 0.5]), torch.tensor(1.0)
    assert plainly_run(latent)
    plain = applied(Shrink, latent, level, 1.0)
    mapped = torch.func.vmap(lambda x: applied(Shrink, x, level, 1.0))(latent)
    assert torch.equal(plain, torch.tensor([-2.0, 0.0])) and torch.equal(plain, mapped)
