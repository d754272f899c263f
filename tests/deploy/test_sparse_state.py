"""A sparse state file gives any network back bit for bit, and other files are refused."""

from pathlib import Path

import pytest
import torch
from torch import nn

from bandstop.deploy import load_sparse, save_sparse
from bandstop.errors import BandstopError


@pytest.mark.parametrize("keep", [0.0, 0.02, 0.5, 1.0])
def test_sparse_state_is_lossless(tmp_path: Path, keep: float) -> None:
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Flatten(), nn.Linear(72, 5).to(torch.bfloat16)
    )
    for parameter in net.parameters():
        if parameter.ndim >= 2:
            parameter.data.mul_(torch.rand_like(parameter) < keep)
    size = save_sparse(net.state_dict(), tmp_path / "net.safetensors")
    loaded = load_sparse(tmp_path / "net.safetensors")
    assert size == (tmp_path / "net.safetensors").stat().st_size
    assert loaded.keys() == net.state_dict().keys()
    for name, tensor in net.state_dict().items():
        assert loaded[name].dtype == tensor.dtype and torch.equal(loaded[name], tensor)


def test_sparse_state_refuses_other_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"nothing of the kind")
    with pytest.raises(BandstopError, match="not a readable"):
        load_sparse(tmp_path / "a")
    with pytest.raises(BandstopError, match="no such file"):
        load_sparse(tmp_path / "b")
