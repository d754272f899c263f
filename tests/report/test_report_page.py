"""The page: whole, self-contained, honest about what it shows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from bandstop.record.folder import read_metrics
from bandstop.report import page
from bandstop.report.page import write_report
from bandstop.report.words import headline

MakeRun = Callable[..., Path]
VOID = {"meta", "br", "img", "input", "link", "hr"}


class Reader(HTMLParser):
    """Collects text, sections and attributes, and checks that tags are balanced."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.sections: list[str] = []
        self.pieces: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "section":
            self.sections.append(values.get("id") or "")
        if "id" in values:
            self.ids.append(values["id"] or "")
        self.links += [
            values[key] or "" for key in ("src", "href", "xlink:href", "data", "action") if key in values
        ]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.pieces.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.pieces).split()).replace("\N{NO-BREAK SPACE}", " ")


def read(path: Path) -> Reader:
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    assert reader.open == []
    return reader


def test_a_pruned_run_shows_every_picture(make_run: MakeRun) -> None:
    run = make_run()
    written = write_report(run)
    assert written == run / "report.html"
    shown = read(written)
    expected = ["confusion", "training", "histogram", "gate", "layers", "adjacency", "settings"]
    assert shown.sections == expected
    assert "98.0 % pruned: 344 of 17,224 connections kept, exactly as asked" in shown.text
    for said in (
        "epoch 1 ",
        "gate ψ(ŵ)",
        "KL to the prior",
        "pruning rate",
        "head 8",
        "graph.adjacency",
        "was taken for",
    ):
        assert said in shown.text, said
    assert shown.text.count(" times (") == 5
    assert shown.tags.count("svg") == 4 + 6 + 2 + 1 + 8 + 1


@pytest.mark.parametrize(
    "settings", [{}, {"pruned": False, "classes": 45}, {"net": "lstm", "log": False}, {"net": "tcn"}]
)
def test_the_page_needs_nothing_else(make_run: MakeRun, settings: dict[str, Any]) -> None:
    written = write_report(make_run(**settings))
    text, shown = written.read_text(encoding="utf-8"), read(written)
    assert re.search(r"(?:https?:)?//[a-z]", text, re.IGNORECASE) is None
    assert not {"script", "link", "iframe", "object", "img", "image"} & set(shown.tags)
    assert all(link.startswith("#") for link in shown.links)
    assert "@import" not in text
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", text))
    assert len(text.encode()) < 3_000_000


def test_pictures_do_not_share_identifiers(make_run: MakeRun) -> None:
    shown = read(write_report(make_run()))
    assert len(shown.ids) == len(set(shown.ids))
    used = {link[1:] for link in shown.links}
    assert used <= set(shown.ids)


def test_every_colour_follows_the_theme(make_run: MakeRun) -> None:
    text = write_report(make_run()).read_text(encoding="utf-8")
    body = text[text.index("</style>\n</head>") :]
    assert re.findall(r"#[0-9a-f]{6}\b", body) == []
    used = set(re.findall(r"var\(--([a-z-]+)\)", body))
    light, dark = text.split("prefers-color-scheme: dark")
    for variable in used:
        assert f"--{variable}:" in light and f"--{variable}:" in dark, variable


def test_a_dense_run_claims_no_budget(make_run: MakeRun) -> None:
    shown = read(write_report(make_run(pruned=False)))
    assert "Dense: all 17,224 connections" in shown.text
    assert shown.sections == ["confusion", "training", "layers", "adjacency", "settings"]
    assert "40 of 441" in shown.text
    assert "exactly as asked" not in shown.text and "pruning rate" not in shown.text


def test_a_run_without_a_log_says_so(make_run: MakeRun) -> None:
    shown = read(write_report(make_run(log=False)))
    assert "no log.jsonl" in shown.text
    assert shown.sections == ["confusion", "training", "layers", "adjacency", "settings"]


def test_a_network_without_heads_has_no_adjacency_picture(make_run: MakeRun) -> None:
    shown = read(write_report(make_run(net="lstm", log=False)))
    assert "adjacency" not in shown.sections
    assert "lstm.weight_hh_l0" in shown.text


def test_convolutions_over_time_show_what_they_read(make_run: MakeRun) -> None:
    shown = read(write_report(make_run(net="tcn")))
    assert "reads" in shown.sections and "adjacency" not in shown.sections
    for part in ("places", "steps", "duration"):
        assert part in shown.text


def test_other_runs_stand_beside_it(make_run: MakeRun) -> None:
    dense = make_run("dense", pruned=False, accuracy=88.7)
    shown = read(write_report(make_run("sparse", log=False, accuracy=78.1), compare=[dense]))
    assert "88.7 % dense → 78.1 % accuracy" in shown.text
    assert shown.sections[0] == "comparison"
    assert "Weights kept 17,224 344" in shown.text
    assert "MACs, live 1,234,567 23,456" in shown.text


def test_the_headline_judges_the_budget_by_the_counts(make_run: MakeRun) -> None:
    def said(name: str, **changes: Any) -> str:
        run = make_run(name, log=False, **changes)
        return headline(read_metrics(run)).replace("\N{NO-BREAK SPACE}", " ")

    assert "400 of 17,224 connections kept, 344 asked" in said("missed", weights_kept=400)
    asked = {"kind": "bytes", "amount": 2700, "scope": "network"}
    assert "2,628 of the 2,700 bytes asked;" in said("bytes", budget=asked)
    asked = {"kind": "bytes", "amount": 2064, "scope": "prunable"}
    assert "2,064 of the 2,064 bytes without never-pruned parameters asked;" in said("part", budget=asked)
    asked = {"kind": "macs", "amount": 20_000, "scope": "prunable"}
    assert "23,456 of the 20,000 multiply-accumulates asked: over budget" in said("macs", budget=asked)
    asked = {"kind": "weights", "amount": 485, "scope": "network"}
    assert "exactly as asked" in said("whole", budget=asked)
    asked = {"kind": "weights", "amount": 485, "scope": "prunable"}
    assert "485 asked" in said("part of it", budget=asked)
    assert "no budget asked" in said("none", budget=None)


def test_names_are_shown_and_never_obeyed(make_run: MakeRun) -> None:
    names = [
        "</svg><script>alert(1)</script>",
        "$\\frac{1}{2}$",
        "a & b",
        "手を振る",
    ]
    run = make_run(net="lstm", log=False, classes=4, class_names=names, machine="<b>big</b>")
    config = json.loads((run / "config.json").read_text())
    config["data"] = "<img src=x onerror=alert(1)>"
    (run / "config.json").write_text(json.dumps(config))
    shown = read(write_report(run))
    assert "script" not in shown.tags and "img" not in shown.tags
    assert "$\\frac{1}{2}$" in shown.text and "a & b" in shown.text and "手を振る" in shown.text
    assert "<b>big</b>" in shown.text and "<img src=x" in shown.text


def test_settings_are_a_tree_that_folds(make_run: MakeRun) -> None:
    shown = read(write_report(make_run(net="lstm", log=False)))
    assert "All settings" in shown.text and "leak 1.0" in shown.text and "teachers []" in shown.text


def test_the_same_run_gives_the_same_page(make_run: MakeRun) -> None:
    run = make_run(epochs=2)
    assert write_report(run).read_bytes() == write_report(run).read_bytes()


def test_a_failure_leaves_the_earlier_page(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(net="lstm", log=False)
    (run / "report.html").write_text("earlier")
    before = sorted(run.iterdir())

    def fail(*_: object) -> None:
        raise RuntimeError("power cut")

    monkeypatch.setattr("bandstop.files.Path.replace", fail)
    with pytest.raises(RuntimeError, match="power cut"):
        page.write_report(run)
    assert (run / "report.html").read_text() == "earlier"
    assert sorted(run.iterdir()) == before


def test_many_classes_are_listed_not_drawn(make_run: MakeRun) -> None:
    shown = read(write_report(make_run(net="lstm", classes=130, log=False)))
    assert "130 classes are too many to draw" in shown.text
    assert shown.text.count(" times (") == 5


def test_mistakes_are_named_and_confusion_comes_first(make_run: MakeRun) -> None:
    mistakes = [{"recording": f"clip_{n}", "truth": "wave 0", "found": "open_bottle_1"} for n in range(10)]
    table = [[0] * 12 for _ in range(12)]
    table[0][0], table[0][1] = 3, 10
    shown = read(write_report(make_run(mistakes=mistakes, confusion=table)))
    assert shown.sections[0] == "confusion"
    assert "wave 0 was taken for open bottle 1 10 of 13 times" in shown.text
    assert "clip_0, clip_1" in shown.text and "clip_7 and 2 more" in shown.text


def test_training_accuracy_is_called_so(make_run: MakeRun) -> None:
    run = make_run(epochs=4)
    assert "training accuracy" not in read(write_report(run)).text, "a legend tells two curves apart"
    lines = [json.loads(line) | {"validation_accuracy": None} for line in (run / "log.jsonl").open()]
    (run / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "training accuracy" in read(write_report(run)).text
