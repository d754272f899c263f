"""Every verb through `main`, on one tiny run."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bandstop.record.folder import read_metrics
from bandstop.training.presets import PAPER_EPOCHS
from bandstop.training.resume import stored_config
from tests.cli.small import QUIET, SMALL

Say = Callable[..., Any]


def test_train_says_what_it_made(trained: tuple[Path, Any]) -> None:
    finished, said = trained
    assert "of" in said.out and finished.name in said.out
    assert "epoch 30/30" in said.err and "KL" not in said.err
    assert "judged on the test" in said.out and "sequences that training never saw" in said.out
    assert f"report: {finished / 'report.html'}" in said.out
    assert f"next: bandstop predict {finished} FILE …" in said.out
    assert (finished / "report.html").stat().st_size > 10_000
    metrics = read_metrics(finished)
    assert metrics.weights_kept == round(0.1 * metrics.weights_total)


@pytest.mark.parametrize(
    ("words", "epochs", "gate"),
    [
        (["--preset", "paper"], PAPER_EPOCHS, "logistic"),
        (["--rates", "0.5:0.9"], 1060, "soft"),
        (["--rates", "0.5:0.9", "--preset", "held"], 1060, "soft"),
    ],
)
def test_flags_change_what_the_preset_starts_from(words: list[str], epochs: int, gate: str) -> None:
    from bandstop.cli.train import asked_for

    asked = asked_for(["hands", *words, "--out", "x", "--prune.bins", "50"])
    assert (asked.config.epochs, asked.config.prune.gate, asked.config.prune.bins) == (epochs, gate, 50)
    assert asked_for(["hands", *words, "--out", "x", "--epochs", "7"]).config.epochs == 7


def test_train_and_study_mean_the_same_run(tmp_path: Path) -> None:
    from bandstop.cli.train import asked_for
    from bandstop.study.settings import resolve

    for words, settings in (
        (["--preset", "paper"], {"preset": "paper"}),
        (["--rates", "0.5:0.9"], {"rates": "0.5:0.9"}),
        (["--rates", "0.5:0.9", "--preset", "held"], {"rates": "0.5:0.9", "preset": "held"}),
        (["--prune.kl", "2"], {"prune": {"kl": 2}}),
    ):
        assert asked_for(["hands", "--out", "x", *words]).config == resolve([("plan", settings)], {})


def test_train_resumes_only_what_there_is(say: Say, folder: Path, tmp_path: Path) -> None:
    said = say("train", "--resume", "--out", tmp_path / "nowhere")
    assert said.code == 2 and "nowhere holds no run to resume" in said.err
    assert not (tmp_path / "nowhere").exists()
    out = tmp_path / "run"
    begun = ["train", folder, "--rate", 0.9, "--epochs", 2, *SMALL, *QUIET, "--out", out]
    assert say(*begun).code == 0
    (out / "metrics.json").unlink()
    for words, found in (
        (["hands"], f"was begun with data {folder}, found data hands"),
        (["--rate", 0.5], "was begun with rate 0.9, found rate 0.5"),
        (["--weights", 9], "one budget at a time"),
        (["--epochs", 5], "was begun with epochs 2, found epochs 5"),
    ):
        said = say("train", *words, "--resume", "--out", out)
        assert said.code == 2 and found in said.err, said.err
    assert say("train", "--resume", "--out", out, "--no-report", "--quiet").code == 0
    assert say(*begun, "--resume").code == 0, "the whole command again, with --resume"
    assert stored_config(out).epochs == 2


def test_predict_names_actions(say: Say, folder: Path, finished: Path) -> None:
    said = say("predict", finished, folder / "line" / "0.npy", folder / "rest" / "3.npy")
    assert [line.split(": ")[1].split()[0] for line in said.out.splitlines()] == ["line", "rest"]
    said = say("predict", finished, folder / "line" / "0.npy", "--json", "--top", 2)
    assert json.loads(said.out)["classes"][0]["name"] == "line"
    assert say("predict", finished, folder / "line" / "0.npy", "--top", 0).code == 2
    whole = say("predict", finished, folder)
    assert whole.code == 0 and len(whole.out.splitlines()) == 36, "a folder is every recording in it"
    assert say("predict", finished).code == 2


def test_evaluate_prints_what_the_run_found(say: Say, folder: Path, finished: Path) -> None:
    found = json.loads(say("evaluate", finished, folder, "--split", "all").out)
    assert found["sequences"] == 36
    assert found["weights_kept"] == read_metrics(finished).weights_kept


def test_evaluate_judges_what_training_did_not_see(
    say: Say, folder: Path, finished: Path, tmp_path: Path
) -> None:
    found, metrics = json.loads(say("evaluate", finished, folder).out), read_metrics(finished)
    assert found["sequences"] == sum(map(sum, metrics.confusion)) < 36
    assert found["accuracy"] == metrics.accuracy
    said = say("evaluate", finished, "hands")
    assert said.code == 2 and "trained on 4 joints, the data has 21" in said.err
    shutil.copytree(folder / "line", tmp_path / "set" / "zigzag")
    said = say("evaluate", finished, tmp_path / "set", "--split", "all")
    assert said.code == 2 and "but the data has others: zigzag" in said.err


def test_describe_and_convert(say: Say, folder: Path, tmp_path: Path) -> None:
    assert "36" in say("describe", folder).out
    assert json.loads(say("describe", folder, "--json").out)
    assert say("convert", folder, tmp_path / "a.npz").code == 0
    assert "36" in say("describe", tmp_path / "a.npz").out


def test_join_puts_runs_side_by_side(say: Say, folder: Path, tmp_path: Path) -> None:
    tcn = ("--net.kind", "tcn", "--net.widths", 6, "--net.kernels", 3, "--net.strides", 1, "--chunks", 8)
    members = [tmp_path / name for name in ("a", "b")]
    for seed, out in enumerate(members):
        flags = ("--rate", 0.8, "--epochs", 1, "--seed", seed, "--out", out, "--no-report")
        assert say("train", folder, *tcn, *flags).code == 0
    said = say("join", *members, "--out", tmp_path / "ab")
    assert said.code == 0 and "ab" in said.out, said.err
    assert read_metrics(tmp_path / "ab").weights_kept == 2 * read_metrics(members[0]).weights_kept
    assert "Joined from" in (tmp_path / "ab" / "report.html").read_text(encoding="utf-8")
    assert say("export", tmp_path / "ab", "--to", "c", "--out", tmp_path / "c").code == 0
    graph = tmp_path / "graph"
    assert say("train", folder, "--rate", 0.8, "--epochs", 1, *SMALL, *QUIET, "--out", graph).code == 0
    for runs, rule in (((graph, members[0]), "convolutions over time"), ((), "at least two pruned runs")):
        said = say("join", *runs, "--out", tmp_path / "no")
        assert said.code == 2 and rule in said.err


def test_extract_takes_a_budget_out_of_many(say: Say, folder: Path, finished: Path, tmp_path: Path) -> None:
    many, out = tmp_path / "any", tmp_path / "any90"
    assert say("train", folder, "--rates", "0.5:0.95", "--epochs", 2, *SMALL, *QUIET, "--out", many).code == 0
    said = say("extract", many, "--rate", 0.9, "--out", out, "--no-report")
    assert said.code == 0 and "any90" in said.out, said.err
    assert read_metrics(out).weights_kept == round(0.1 * read_metrics(out).weights_total)
    said = say("extract", finished, "--rate", 0.9, "--out", tmp_path / "no")
    assert said.code == 2 and "one budget only" in said.err
    assert (
        "found --rate and --macs" in say("extract", many, "--rate", 0.9, "--macs", 9, "--out", tmp_path).err
    )


def test_report_makes_a_page_and_a_picture(say: Say, finished: Path, tmp_path: Path) -> None:
    said = say("report", finished, "--compare", finished)
    assert said.out.strip() == str(finished / "report.html")
    assert "Beside the other runs" in (finished / "report.html").read_text()
    assert say("report", finished, "--figure", tmp_path / "a.png").code == 0
    assert (tmp_path / "a.png").stat().st_size > 5_000


def test_export_says_how_well_it_agrees(say: Say, finished: Path, tmp_path: Path) -> None:
    said = say("export", finished, "--to", "bytes", "--out", tmp_path / "bytes")
    assert said.code == 0 and "same class" in said.out, said.err
    assert any((tmp_path / "bytes").iterdir())
    unknown = say("export", finished, "--to", "bytes", "--out", tmp_path / "no", "--data", "hands")
    assert unknown.code == 2 and "trained on 4 joints, the data has 21" in unknown.err


def test_bench_measures_every_export(
    say: Say, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = say("bench", finished, "--seconds", 0.01, "--out", tmp_path)
    assert said.code == 0, said.err
    rows = json.loads((tmp_path / "bench.json").read_text())
    assert len(rows) >= 3 and (tmp_path / "bench.png").stat().st_size > 1_000
    assert len(said.out.splitlines()) >= len(rows)


def test_study_and_table(say: Say, folder: Path, tmp_path: Path) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "study"
    plan.write_text(
        f"[data]\ntiny = '{folder}'\n[base]\nepochs = 1\nchunks = 8\n"
        "net = { kind = 'gcn', channels = 4, heads = 2, filters = 6 }\n"
        '[[grid]]\ndata = "tiny"\nrate = 0.9\nseed = [0, 1]\n'
    )
    listed = say("study", plan, "--out", out, "--dry-run")
    assert "2 runs, 0 finished" in listed.out and not out.exists()
    said = say("study", plan, "--out", out, "--workers", 1, "--only", "seed=1", "--quiet")
    assert said.code == 0 and "1 of 1 runs finished" in said.out, said.err
    assert "1 finished" in say("study", plan, "--out", out, "--dry-run").out
    table = say("table", out)
    assert table.code == 0 and "pmp laplace" in table.out
    assert say("table", out, "--out", tmp_path / "t.tex").code == 0
    assert r"\begin{table}" in (tmp_path / "t.tex").read_text()
    assert "must be one of" in say("table", out, "--metric", "magic").err


def test_describe_names_ten_of_a_kind(say: Say, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "set" / "a").mkdir(parents=True)
    for number in range(14):
        for copy in "xy":
            frames = np.load(folder / "rest" / "0.npy") + number
            np.save(tmp_path / "set" / "a" / f"{number:02}{copy}.npy", frames)
    shown, whole = say("describe", tmp_path / "set").out, say("describe", tmp_path / "set", "--all").out
    assert "14 groups of equal sequences" in shown
    assert shown.count(" = ") == 10 and whole.count(" = ") == 14


def test_demo_shows_two_runs(say: Say, tmp_path: Path) -> None:
    for _ in range(2):
        said = say("demo", "--out", tmp_path / "demo", "--epochs", 1, "--rate", 0.9)
        assert said.code == 0, said.err
    assert "dense" in said.out and "pruned 90.0%" in said.out
    assert (tmp_path / "demo" / "report.html").stat().st_size > 10_000


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
def test_bad_input_gets_one_sentence(words: list[str], found: str, tmp_path: Path, say: Say) -> None:
    out = tmp_path / "OUT"
    said = say(*(w.replace("OUT", str(out)) for w in words))
    assert said.code == 2
    assert found.replace("OUT", str(out)) in said.err.replace("\n", " ")
    assert "Traceback" not in said.err
    assert not out.exists() or not any(out.iterdir()), "nothing half-written"


def test_recordings_of_another_skeleton_are_named(say: Say, finished: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((9, 7, 3), np.float32))
    said = say("predict", finished, tmp_path / "a.npy")
    assert said.code == 2 and "trained on 4 joints, this file has 7" in said.err
