"""The gates' fast forward passes give the numbers of the plain ones."""

import pytest
import torch

from bandstop.method import gate_on_cpu
from bandstop.method.gate import Soft
from bandstop.method.gate_on_cpu import shrunk_on_cpu


def test_a_large_gate_is_the_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    latent = torch.randn(300, 250, generator=torch.Generator().manual_seed(0))
    latent[3, 3] = torch.nan
    gain, threshold = torch.tensor(0.37), torch.tensor(1.1)
    monkeypatch.setattr(gate_on_cpu, "WHOLE", 1 << 14)  # so that it goes through in parts
    assert shrunk_on_cpu(latent, gain, threshold) is not None
    results = []
    for large in (True, False):
        if not large:
            monkeypatch.setattr(gate_on_cpu, "shrunk_on_cpu", lambda *_: None)
        inputs = latent.clone().requires_grad_(), gain.clone().requires_grad_()
        weight = Soft().scaled(*inputs, threshold, torch.tensor(1.0))
        weight.nan_to_num().square().sum().backward()
        results.append((weight.detach().nan_to_num(7.0), inputs[0].grad))
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))
    several = torch.func.vmap(lambda x: Soft().scaled(x, gain, threshold, torch.tensor(1.0)))(
        latent.expand(2, 300, 250)
    )
    assert several.shape == (2, 300, 250)
