"""The example under torchrun: a rank is killed in mid-run, all are restarted,
and the run ends as one that was left alone.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.distributed.ranks import ENVIRONMENT

EXAMPLE = Path(__file__).parents[2] / "examples" / "distributed.py"


def _torchrun(
    out: Path, *arguments: str, ranks: int = 2, restarts: int = 0
) -> subprocess.CompletedProcess[str]:
    settings = [f"--nproc-per-node={ranks}", f"--max-restarts={restarts}", "--monitor-interval=0.1"]
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        *settings,
        "--standalone",
        str(EXAMPLE),
    ]
    command += ["--steps=30", "--save-every=8", f"--out={out}", *arguments]
    environment = {**ENVIRONMENT, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)


def _result(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow  # five processes import torch: torchrun, two ranks, and two again
def test_a_killed_rank_is_restarted_and_the_budget_met(tmp_path: Path) -> None:
    found = _result(_torchrun(tmp_path / "run", "--crash-at=19", restarts=1))
    assert found["resumed_at"] == 16 and found["ranks"] == 2
    assert found["kept"] == found["asked"]
    state = torch.load(tmp_path / "run" / "model.pt", weights_only=True)
    kept = sum(int(weight.count_nonzero()) for name, weight in state.items() if weight.ndim >= 2)
    assert kept == found["asked"]
