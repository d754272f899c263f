"""The new code of docs/migration.md runs as it stands and ends at the asked budgets."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from bandstop import Pruner
from bandstop.engine.trace import kept

PAGE = (Path(__file__).parents[2] / "docs" / "migration.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.S)


def train(model: nn.Module, batches: list[tuple[torch.Tensor, torch.Tensor]]) -> None:
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    for x, y in 10 * batches:
        loss = nn.functional.cross_entropy(model(x), y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


@pytest.mark.parametrize("place", range(len(BLOCKS)))
def test_block_runs(place: int) -> None:
    if "lightning" in BLOCKS[place]:
        pytest.importorskip("lightning")
    torch.manual_seed(0)
    draw = torch.Generator().manual_seed(1)
    x = torch.randn(30, 16, 20, generator=draw)
    names: dict[str, Any] = {
        "torch": torch, "nn": nn, "Pruner": Pruner, "batches": [(part, part[:, :3].argmax(1)) for part in x],
        "model": nn.Sequential(nn.Linear(20, 60), nn.ReLU(), nn.Linear(60, 3)),
    }  # fmt: skip
    if place == 0:
        train(names["model"], names["batches"])
    exec(BLOCKS[place], names)
    if "pruner" in names:
        plain = names["model"] if "finalize" in BLOCKS[place] else names["pruner"].finalize()
        bytes_asked = "Budget.bytes" in BLOCKS[place]
        assert sum(kept(plain).values()) == ((4000 - 4 * 63) // 6 if bytes_asked else 28)  # 2 % of 1,380


def test_the_first_example_prunes_a_network_that_was_trained(capsys: pytest.CaptureFixture[str]) -> None:
    test_block_runs(0)
    said = re.search(r"# … (.*) …", BLOCKS[0])
    assert said is not None and said[1] in capsys.readouterr().out


def test_there_are_blocks_for_every_library() -> None:
    assert len(BLOCKS) == 4
