"""Convolutions over time."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from bandstop.errors import ConfigError
from bandstop.nets import NetConfig, build_net
from bandstop.nets.tcn import TCN, time_steps

SMALL = {"chunks": 12, "widths": (4, 6), "kernels": (1, 3), "strides": (1, 2)}


def test_a_signal_is_read_chunk_by_chunk() -> None:
    """Moving a sequence by two chunks moves every moment of a net with stride two by one."""
    torch.manual_seed(0)
    net = TCN(3, 12 * 4, 2, **SMALL).eval()  # type: ignore[arg-type]
    signal = torch.randn(5, 3, 12, 4)
    later = torch.cat([torch.randn(5, 3, 2, 4), signal[:, :, :-2]], dim=2)

    def moments(signals: torch.Tensor) -> torch.Tensor:
        seen: list[torch.Tensor] = []
        hook = net.blocks.register_forward_hook(lambda module, given, out: seen.append(out))
        net(signals.flatten(2))
        hook.remove()
        return seen[0]

    assert moments(signal).shape == (5, 6, 5)
    assert torch.allclose(moments(signal)[:, :, :-1], moments(later)[:, :, 1:], atol=1e-5)


def test_what_joints_share_is_read_once() -> None:
    torch.manual_seed(0)
    net = TCN(3, 12 * 4, 2, shared=(1,), **SMALL).eval()  # type: ignore[arg-type]
    assert net.blocks[0].conv.weight.shape == (4, 3 * 3 + 1, 1)  # type: ignore[union-attr]
    signal = torch.randn(5, 3, 12, 4)
    elsewhere, there = signal.clone(), signal.clone()
    elsewhere[:, 1:, :, 1] += 1
    there[:, 0, :, 1] += 1
    assert torch.equal(net(signal.flatten(2)), net(elsewhere.flatten(2)))
    assert not torch.allclose(net(signal.flatten(2)), net(there.flatten(2)))


def test_sizes_come_from_the_config() -> None:
    config = NetConfig(kind="tcn", widths=(4, 6), kernels=(1, 3), strides=(1, 2))
    net = build_net(config, joints=3, signal=48, classes=2, chunks=12)
    assert isinstance(net, TCN)
    assert [p.shape for p in net.parameters() if p.ndim > 1] == [(4, 12, 1), (6, 4, 3), (2, 6)]


def test_too_few_chunks_are_refused() -> None:
    with pytest.raises(ConfigError, match="convolution 3 sees 5 moments at once, but only 2 are left"):
        time_steps(8, (1, 5, 5), (1, 2, 1))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"widths": ()}, "net.widths must hold numbers of at least 1"),
        ({"strides": (1, 0, 1)}, "net.strides must hold numbers of at least 1"),
        ({"kernels": (1, 3)}, "as many numbers, found 3 and 2"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(sizes, message) -> None:
    with pytest.raises(ConfigError, match=message):
        NetConfig(kind="tcn", **sizes)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"heads": 4}, "net.heads is for net.kind gcn, found tcn"),
        ({"kind": "gcn", "hidden": 7}, "net.hidden is for net.kind lstm, found gcn"),
        ({"kind": "lstm", "kernels": (1, 3, 5)}, "net.kernels is for net.kind tcn, found lstm"),
    ],
)
def test_settings_of_another_network_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        NetConfig(**settings)
