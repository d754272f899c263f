"""Rivals that prune before training: random, SNIP, SynFlow; and the small dense net's sizes."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from bandstop import rivals
from bandstop.engine.select.allocation import allocate
from bandstop.errors import BudgetError, ConfigError
from bandstop.nets import NetConfig, build_net
from bandstop.nets.gcn import GCN
from bandstop.rivals.small_dense import small_dense_sizes, weight_count
from tests.rivals.rival_training import NoiseLoss, mlp

torch.set_num_threads(1)


def masks_of(method: object) -> dict[str, torch.Tensor]:
    return {layer.name: method.band(layer).mask.clone() for layer in method.layers}  # type: ignore[attr-defined]


def test_random_masks_share_by_erk_and_differ_by_seed() -> None:
    masks = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        net = mlp(20, 30, 10)
        masks.append(masks_of(method := rivals.make("random-erk", net, 0.9, steps=5)))
        assert method.settled
    counts = {n: int(m.sum()) for n, m in masks[0].items()}
    assert counts == allocate("erk", 90, {"0.weight": torch.ones(30, 20), "2.weight": torch.ones(10, 30)})
    assert torch.equal(masks[0]["0.weight"], masks[1]["0.weight"])
    assert not torch.equal(masks[0]["0.weight"], masks[2]["0.weight"])


def test_snip_keeps_the_largest_products_of_weight_and_gradient() -> None:
    torch.manual_seed(0)
    net, twin = mlp(8, 16, 6), mlp(8, 16, 6)
    twin.load_state_dict(net.state_dict())
    NoiseLoss(twin, 32, 8)().backward()
    saliency = {
        n: (p * p.grad).abs().detach()
        for n, p in twin.named_parameters()
        if p.ndim > 1 and p.grad is not None
    }
    method = rivals.make("snip", net, 0.9, steps=5)
    assert not method.settled
    method.prepare(NoiseLoss(net, 32, 8))  # type: ignore[attr-defined]
    kept = masks_of(method)
    assert method.settled and sum(int(m.sum()) for m in kept.values()) == 22
    smallest = min(float(saliency[n][kept[n]].min()) for n in kept)
    assert all(float(saliency[n][~kept[n]].max()) <= smallest for n in kept)
    method.prepare(NoiseLoss(net, 32, 8, seed=99))  # type: ignore[attr-defined]
    assert all(torch.equal(m, kept[n]) for n, m in masks_of(method).items()), "later calls change nothing"


def test_snip_leaves_batch_statistics_alone_and_insists_on_being_prepared() -> None:
    net = nn.Sequential(nn.Linear(8, 6), nn.BatchNorm1d(6), nn.Linear(6, 3))
    method = rivals.make("snip", net, 0.5, steps=5)
    with pytest.raises(ConfigError, match="call prepare"):
        method.step()
    with pytest.raises(ConfigError, match="call prepare"):
        method.finalize()
    method.prepare(NoiseLoss(net, 16, 8))  # type: ignore[attr-defined]
    assert torch.equal(net[1].running_mean, torch.zeros(6)) and int(net[1].num_batches_tracked) == 0
    assert all(p.grad is None for p in net.parameters())


def test_synaptic_flow_is_conserved_from_layer_to_layer() -> None:
    torch.manual_seed(0)
    net = mlp(12, 30, 20, 5, bias=False)
    method = rivals.make("synflow", net, 0.0, steps=5, example=torch.randn(1, 12), settings={"rounds": 1})
    flows = [float(s.sum()) for s in method.scores().values()]  # type: ignore[attr-defined]
    assert flows == pytest.approx([1.0, 1.0, 1.0])
    # One unit's incoming flow is its outgoing flow.
    scores = list(method.scores().values())  # type: ignore[attr-defined]
    assert torch.allclose(scores[0].sum(1), scores[1].sum(0))


def test_synflow_scores_are_products_along_paths() -> None:
    torch.manual_seed(0)
    net = mlp(3, 4, 2, bias=False)
    first, second = net[0].weight.detach().double().abs(), net[2].weight.detach().double().abs()
    method = rivals.make("synflow", net, 0.0, steps=5, example=torch.ones(1, 3), settings={"rounds": 1})
    total = float((second @ first).sum())
    expected = first * second.sum(0)[:, None] / total
    assert torch.allclose(method.scores()["0.weight"], expected, rtol=1e-5)  # type: ignore[attr-defined]


def test_synflow_empties_no_layer_where_one_round_would() -> None:
    """A wide layer beside a narrow one, with floor 0: nothing but the rounds protects a layer."""

    def counts(rounds: int) -> list[int]:
        torch.manual_seed(0)
        net = mlp(100, 100, 2, 100, 10, bias=False)
        method = rivals.make(
            "synflow",
            net,
            0.997,
            steps=5,
            example=torch.ones(1, 100),
            settings={"rounds": rounds, "floor": 0},
        )
        assert method.kept == round(0.003 * sum(p.numel() for p in net.parameters()))
        return [int(m.sum()) for m in masks_of(method).values()]

    assert min(counts(1)) == 0
    assert min(counts(100)) > 0


def test_synflow_keeps_the_weights_signs_and_the_nets_type() -> None:
    torch.manual_seed(0)
    net = GCN(5, 6, 3, channels=4, heads=2, filters=3, dropout=0.5)
    before = {n: p.detach().clone() for n, p in net.named_parameters()}
    method = rivals.make("synflow", net, 0.5, steps=5, example=torch.randn(1, 5, 6))
    masks = masks_of(method)
    for layer in method.layers:
        keep = masks[layer.name]
        assert layer.latent.dtype == torch.float32
        assert torch.equal(layer.latent[keep], before[layer.name][keep])
    assert net.training
    with pytest.raises(ConfigError, match="give example="):
        rivals.make("synflow", mlp(3, 4, 2), 0.5, steps=5)


@pytest.mark.parametrize("combine", ["sum", "concat"])
@pytest.mark.parametrize("adjacency", ["skeleton", "free", "fixed"])
@pytest.mark.parametrize("dense", [0, 7])
def test_weights_are_counted_as_built(combine: str, adjacency: str, dense: int) -> None:
    config = NetConfig(
        kind="gcn", channels=3, heads=2, filters=4, dense=dense, combine=combine, adjacency=adjacency
    )  # type: ignore[arg-type]
    net = build_net(config, joints=5, signal=6, classes=4)
    built = sum(p.numel() for p in net.parameters() if p.ndim >= 2)
    assert weight_count(config, joints=5, signal=6, classes=4) == built
    lstm = NetConfig(kind="lstm", hidden=7, layers=2)
    net = build_net(lstm, joints=5, signal=6, classes=4)
    assert weight_count(lstm, joints=5, signal=6, classes=4) == sum(
        p.numel() for p in net.parameters() if p.ndim >= 2
    )


@settings(max_examples=25, deadline=None)
@given(st.floats(0.3, 0.995), st.sampled_from(["sum", "concat"]), st.sampled_from([0, 64]))
def test_small_dense_nets_use_the_budget_and_no_more(rate: float, combine: str, dense: int) -> None:
    config = NetConfig(kind="gcn", combine=combine, dense=dense)  # type: ignore[arg-type]
    sizes = {"joints": 21, "signal": 96, "classes": 45}
    small = small_dense_sizes(config, rate, **sizes)
    allowed = round((1 - rate) * weight_count(config, **sizes))
    assert 0.9 * allowed < weight_count(small, **sizes) <= allowed
    assert (
        small.channels <= config.channels and small.heads <= config.heads and small.filters <= config.filters
    )
    net = build_net(small, **sizes)
    assert net(torch.zeros(2, 21, 96)).shape == (2, 45)


def test_a_budget_too_small_for_any_dense_net_is_refused() -> None:
    with pytest.raises(BudgetError, match="no dense net of this kind has at most 39 weights"):
        small_dense_sizes(NetConfig(kind="gcn", combine="sum"), 0.999, joints=21, signal=96, classes=45)
    small = small_dense_sizes(NetConfig(kind="lstm"), 0.9, joints=21, signal=96, classes=45)
    assert small.hidden == 18
