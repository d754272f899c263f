"""The command line as a user meets it: real processes, plain sentences, exit codes."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bandstop.cli import VERBS, main


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bandstop", *words], capture_output=True, text=True, timeout=300
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The newcomer's format: a folder a class."""
    root, random = tmp_path_factory.mktemp("gestures"), np.random.default_rng(0)
    for label, name in enumerate(("circle", "line", "rest")):
        (root / name).mkdir()
        for i in range(12):
            t = np.linspace(0, 6, 20 + i)[:, None]
            x = (
                np.stack([np.cos(t) * (label == 0), t * (label == 1), 0 * t], -1) * 10
                + np.arange(4)[None, :, None] * 5
            )
            np.save(root / name / f"{i}.npy", (x + random.normal(0, 0.3, x.shape)).astype(np.float32))
    return root


@pytest.fixture(scope="module")
def finished(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "mine"
    done = run("train", str(folder), "--rate", "0.9", "--epochs", "30", "--chunks", "8", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "of" in done.stdout
    assert "epoch 30/30" in done.stderr
    return out


def test_from_a_folder_to_a_named_action(folder: Path, finished: Path) -> None:
    assert (finished / "report.html").stat().st_size > 10_000
    metrics = json.loads((finished / "metrics.json").read_text())
    assert metrics["weights_kept"] == round(0.1 * metrics["weights_total"])
    done = run("predict", str(finished), str(folder / "line" / "0.npy"), str(folder / "rest" / "3.npy"))
    assert done.returncode == 0, done.stderr
    assert [line.split(": ")[1].split()[0] for line in done.stdout.splitlines()] == ["line", "rest"]


def test_evaluate_prints_what_the_run_found(folder: Path, finished: Path) -> None:
    done = run("evaluate", str(finished), str(folder), "--split", "all")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["sequences"] == 36
    assert found["weights_kept"] == json.loads((finished / "metrics.json").read_text())["weights_kept"]


def test_evaluate_judges_what_training_did_not_see(folder: Path, finished: Path) -> None:
    found = json.loads(run("evaluate", str(finished), str(folder)).stdout)
    metrics = json.loads((finished / "metrics.json").read_text())
    assert found["sequences"] == sum(map(sum, metrics["confusion"])) < 36
    assert found["accuracy"] == metrics["accuracy"]


def test_describe_and_convert(folder: Path, tmp_path: Path) -> None:
    assert "36" in run("describe", str(folder)).stdout
    assert json.loads(run("describe", str(folder), "--json").stdout)
    assert run("convert", str(folder), str(tmp_path / "a.npz")).returncode == 0
    assert "36" in run("describe", str(tmp_path / "a.npz")).stdout


def test_help_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    listed = capsys.readouterr().out
    assert all(verb in listed for verb in VERBS)
    for verb in VERBS:
        with pytest.raises(SystemExit) as stopped:
            main([verb, "--help"])
        assert stopped.value.code == 0
        assert "Examples:\n" in capsys.readouterr().out, verb


BAD = {
    "unknown verb": (["tran"], "tran"),
    "no such data": (["train", "nowhere", "--rate", "0.9", "--out", "OUT"], "nowhere"),
    "bad rate": (["train", "hands", "--rate", "1.5", "--out", "OUT"], "1.5"),
    "two budgets": (["train", "hands", "--rate", "0.9", "--macs", "5", "--out", "OUT"], "one budget"),
    "impossible budget": (["train", "hands", "--weights", "2", "--out", "OUT"], "smallest possible"),
    "unknown method": (["train", "hands", "--rate", "0.9", "--method", "magic", "--out", "OUT"], "magic"),
    "not a run": (["evaluate", "OUT", "hands"], "finished run folder"),
    "no report": (["report", "OUT"], "OUT"),
    "bad archive name": (["convert", "hands", "OUT.txt"], ".npz"),
    "zero epochs": (["train", "hands", "--epochs", "0", "--out", "OUT"], "epochs"),
}


@pytest.mark.parametrize(("words", "found"), BAD.values(), ids=BAD)
def test_bad_input_gets_one_sentence(
    words: list[str], found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "OUT"
    words = [w.replace("OUT", str(out)) for w in words]
    try:
        code = main(words)
    except SystemExit as stopped:
        code = int(stopped.code or 0)
    said = capsys.readouterr().err
    assert code == 2
    assert found.replace("OUT", str(out)) in said.replace("\n", " ")
    assert "Traceback" not in said
    assert not out.exists() or not any(out.iterdir()), "nothing half-written"
