"""The Lightning callback trains small nets for real: exact budget, penalty in the loss, resume,
accumulation, refusals.
"""

import copy
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from bandstop import Pruner, Recipe
from bandstop.engine.trace import kept
from bandstop.method.schedules import Constant

lightning = pytest.importorskip("lightning.pytorch")
from bandstop.integrations.lightning import PruningCallback, parameter_groups  # noqa: E402

KL = Recipe(kl=Constant(2.0))


class Net(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 3))

    def training_step(self, batch: list[Tensor], _: int) -> Tensor:
        return nn.functional.cross_entropy(self.layers(batch[0]), batch[1])

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(parameter_groups(self, lr=5e-3))


def loader() -> DataLoader[Any]:
    draw = torch.Generator().manual_seed(1)
    x = torch.randn(96, 12, generator=draw)
    return DataLoader(
        TensorDataset(x, x[:, :3].argmax(1)), batch_size=16
    )  # 6 batches, always in the same order


def trainer(folder: Path, epochs: int = 10, **more: Any) -> Any:
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    options = {"enable_checkpointing": False, **quiet, **more}
    return lightning.Trainer(max_epochs=epochs, accelerator="cpu", default_root_dir=folder, **options)


def fresh() -> Net:
    torch.manual_seed(0)
    return Net()


def by_hand(net: Net, epochs: int, recipe: Recipe | None, accumulate: int = 1) -> Net:
    """The same training as a plain loop."""
    pruner = Pruner(net, 0.9, steps=epochs * 6 // accumulate, recipe=recipe)
    optimiser = torch.optim.AdamW(pruner.parameter_groups(lr=5e-3))
    for _ in range(epochs):
        for place, batch in enumerate(loader()):
            loss = (net.training_step(batch, 0) + pruner.penalty()) / accumulate
            loss.backward()
            if (place + 1) % accumulate == 0:
                optimiser.step()
                optimiser.zero_grad()
                pruner.step()
    pruner.finalize()
    return net


def same(a: nn.Module, b: nn.Module) -> bool:
    pairs = zip(a.named_parameters(), b.named_parameters(), strict=True)
    return all(n == m and torch.allclose(p, q, atol=1e-6) for (n, p), (m, q) in pairs)


@pytest.mark.parametrize("accumulate", [1, 3])
def test_trains_like_the_plain_loop_with_the_penalty(tmp_path: Path, accumulate: int) -> None:
    net = fresh()
    callback = PruningCallback(0.9, recipe=KL)
    trainer(tmp_path, accumulate_grad_batches=accumulate, callbacks=[callback]).fit(net, loader())
    assert sum(kept(net).values()) == 48  # a tenth of 12·32 + 32·3
    assert same(net, by_hand(fresh(), 10, KL, accumulate))
    assert "training_step" not in net.__dict__


def test_the_penalty_matters(tmp_path: Path) -> None:
    assert not same(by_hand(fresh(), 2, KL), by_hand(fresh(), 2, None))


@pytest.mark.parametrize("stop", [4, 9])  # before and after the mask is fixed
def test_resumes_in_mid_schedule(tmp_path: Path, stop: int) -> None:
    straight = fresh()
    trainer(tmp_path, callbacks=[PruningCallback(0.9)]).fit(straight, loader())

    class Stop(lightning.Callback):  # type: ignore[name-defined,misc]
        def on_train_epoch_end(self, trainer: Any, module: Any) -> None:
            if trainer.current_epoch == stop - 1:
                trainer.save_checkpoint(tmp_path / "half.ckpt")
                raise KeyboardInterrupt

    with pytest.raises((KeyboardInterrupt, SystemExit)):
        trainer(tmp_path, callbacks=[PruningCallback(0.9), Stop()]).fit(fresh(), loader())
    resumed = fresh()
    trainer(tmp_path, callbacks=[PruningCallback(0.9)]).fit(
        resumed, loader(), ckpt_path=tmp_path / "half.ckpt", weights_only=True
    )
    assert sum(kept(resumed).values()) == 48
    assert same(straight, resumed)


def test_a_training_cut_short_still_meets_the_budget(tmp_path: Path) -> None:
    net = fresh()
    trainer(tmp_path, max_steps=7, epochs=1, callbacks=[PruningCallback(0.9, steps=60)]).fit(net, loader())
    assert sum(kept(net).values()) == 48
    plain = Net()
    plain.load_state_dict(net.state_dict())  # no trace of the pruner


def test_warns_when_latents_share_a_group(tmp_path: Path) -> None:
    class Careless(Net):
        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.AdamW(self.parameters(), lr=1e-3)

    with pytest.warns(UserWarning, match="a group of their own"):
        trainer(tmp_path, epochs=1, callbacks=[PruningCallback(0.9)]).fit(Careless(), loader())


def test_module_trains_without_the_callback(tmp_path: Path) -> None:
    net = fresh()
    before = copy.deepcopy(net.state_dict())
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*a group of their own.*")
        trainer(tmp_path, epochs=1).fit(net, loader())
    assert sum(kept(net).values()) == 480
    assert not torch.equal(before["layers.0.weight"], net.layers[0].weight)
