"""A full disk: one sentence, what was good stays, and resume goes on bit for bit."""

import resource
import subprocess
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file

from bandstop.skeleton import SequenceSet, write_archive

WORDS = (
    "--epochs 12 --chunks 8 --net.kind gcn --rate 0.9 --quiet --no-report --checkpoint-seconds 0 "
    "--optim.batch 27"
)


def train(archive: Path, out: Path, *more: str, limit: int | None = None) -> subprocess.CompletedProcess[str]:
    """A training whose files may have ``limit`` bytes at most: like a disk that is full."""

    def bound() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    words = ["train", str(archive), *WORDS.split(), *more, "--out", str(out)]
    command = [sys.executable, "-m", "bandstop", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, preexec_fn=bound)


def test_a_full_disk_is_said_in_a_sentence_and_resumed(tiny: SequenceSet, tmp_path: Path) -> None:
    write_archive(tiny, tmp_path / "tiny.npz")
    small = ("--net.channels", "4", "--net.heads", "2", "--net.filters", "6")
    assert train(tmp_path / "tiny.npz", tmp_path / "whole", *small).returncode == 0
    size = (tmp_path / "whole" / "log.jsonl").stat().st_size
    stopped = train(tmp_path / "tiny.npz", tmp_path / "run", *small, limit=size // 2)
    assert stopped.returncode == 2
    assert "Traceback" not in stopped.stderr and len(stopped.stderr.strip().splitlines()) == 1, stopped.stderr
    assert "bandstop: " in stopped.stderr and str(tmp_path / "run") in stopped.stderr
    assert not list((tmp_path / "run").glob(".*"))
    done = train(tmp_path / "tiny.npz", tmp_path / "run", *small, "--resume")
    assert done.returncode == 0, done.stderr
    one, two = (load_file(tmp_path / name / "model.safetensors") for name in ("whole", "run"))
    assert all(torch.equal(one[k], two[k]) for k in one)


def test_a_checkpoint_that_does_not_fit_is_said(tiny: SequenceSet, tmp_path: Path) -> None:
    write_archive(tiny, tmp_path / "tiny.npz")
    stopped = train(tmp_path / "tiny.npz", tmp_path / "run", limit=20_000)
    assert stopped.returncode == 2 and "Traceback" not in stopped.stderr
    assert "checkpoint.safetensors: File too large" in stopped.stderr
    assert len(stopped.stderr.strip().splitlines()) == 1
    assert train(tmp_path / "tiny.npz", tmp_path / "run", "--resume").returncode == 0
