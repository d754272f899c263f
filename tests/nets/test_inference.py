"""The inference copy of a network gives that network's scores, whatever its kind, and no gradients."""

import pytest
import torch
from torch import Tensor, nn

from bandstop.nets import NetConfig, build_net
from bandstop.nets.inference import for_inference


def settled(config: NetConfig, classes: int) -> nn.Module:
    """A net whose normalisations have seen data, so that folding them matters."""
    torch.manual_seed(1)
    net = build_net(config, joints=5, signal=12, classes=classes)
    for norm in (m for m in net.modules() if isinstance(m, nn.BatchNorm1d)):
        for values in (norm.weight, norm.bias):
            nn.init.normal_(values, 1.0, 0.5)
    net.train()
    for _ in range(5):
        net(torch.randn(16, 5, 12) * 2 + 1)
    return net.eval()


@pytest.mark.parametrize(
    "config",
    [
        NetConfig(kind="gcn", combine="concat"),
        NetConfig(kind="gcn", combine="concat", heads=3, channels=5, filters=7, dropout=0.5),
        NetConfig(kind="gcn", combine="concat", dense=9),
        NetConfig(kind="gcn", combine="sum"),
        NetConfig(kind="lstm"),
    ],
    ids=lambda c: f"{c.kind}-{c.combine}-{c.heads}-{c.dense}",
)
@pytest.mark.parametrize("classes", [2, 16, 45])
def test_the_same_scores_without_gradients(config: NetConfig, classes: int) -> None:
    net = settled(config, classes)
    signals: Tensor = torch.randn(7, 5, 12)
    found, expected = for_inference(net)(signals), net(signals)
    assert expected.requires_grad and not found.requires_grad
    torch.testing.assert_close(found, expected.detach(), rtol=1e-4, atol=1e-4)


def test_a_net_in_training_is_judged_as_if_finished() -> None:
    net = settled(NetConfig(kind="gcn", combine="concat", dropout=0.5), 4)
    expected = net(signals := torch.randn(3, 5, 12))
    net.train()
    torch.testing.assert_close(for_inference(net)(signals), expected.detach(), rtol=1e-4, atol=1e-4)
