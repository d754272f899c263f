"""Tables: numbers against numpy and scipy, the forms they are printed in, and the paper beside them."""

import csv
import dataclasses
import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats

from bandstop.cli.table import main
from bandstop.errors import BandstopError, ConfigError, DataError
from bandstop.study.results import ResultRow, read_results
from bandstop.study.tables.curve import curves
from bandstop.study.tables.groups import gather
from bandstop.study.tables.paper import TABLE_2, paper_tables
from bandstop.study.tables.render import Strong, TextTable, latex_escape, render
from bandstop.study.tables.summary import paired_tables, summary_tables
from tests.study.result_rows import DENSE, ONE, rows


def write(path: Path, table: list[ResultRow]) -> Path:
    names = [f.name for f in dataclasses.fields(ResultRow)]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(["" if (v := getattr(row, n)) is None else v for n in names] for row in table)
    return path


OURS, THEIRS = [88.0, 89.5, 87.25], [85.0, 86.0, 86.5]
STUDY = [
    *rows([92.0, 91.0, 93.0], **DENSE),
    *rows(OURS, distilled=1, teacher_seconds=60.0),
    *rows(THEIRS, method="gmp|lamp", prior=None),
]

GOLDEN = (Path(__file__).parent / "table.md").read_text(encoding="utf-8")


def test_the_printed_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "results.csv", STUDY)
    assert main([str(path)]) == 0
    assert capsys.readouterr().out == GOLDEN
    assert main([str(tmp_path), "--out", str(tmp_path / "table.md")]) == 0
    assert (tmp_path / "table.md").read_text(encoding="utf-8") == GOLDEN


def test_its_numbers_are_scipy_s() -> None:
    expected = stats.ttest_rel(THEIRS, OURS)
    assert f"{expected.pvalue:.3f}" == "0.104"
    assert f"{np.mean(THEIRS) - np.mean(OURS):.2f}" == "-2.42"
    low, high = expected.confidence_interval(0.95)
    assert (f"{low:.2f}", f"{high:+.2f}") == ("-6.06", "+1.22")
    assert f"{np.std(OURS, ddof=1):.2f}" == "1.15"
    assert f"{stats.t.interval(0.95, 2, np.mean(OURS), stats.sem(OURS))[0]:.2f}" == "85.40"


def test_written_rows_come_back(tmp_path: Path) -> None:
    assert read_results([write(tmp_path / "a.csv", STUDY), tmp_path / "a.csv"]) == STUDY


def test_folds_are_one_result_a_seed_and_pairs_are_by_fold() -> None:
    def folded(shift: float, **changes: object) -> list[ResultRow]:
        return [
            r
            for fold in range(1, 6)
            for r in rows([80 + fold + shift, 82 + 2 * fold + shift], data="sbu", fold=fold, **changes)
        ]

    groups = gather([*folded(0.0), *folded(-1.0, method="gmp", prior=None)])
    assert groups[0].by_seed("accuracy") == {0: 83.0, 1: 88.0}
    assert groups[0].mean("accuracy").count == 2
    (table,) = paired_tables(groups)
    assert table.rows[0][:4] == ("gmp − pmp laplace", "98 %", "10", "−1.00")
    assert "by seed and fold" in table.notes[0]
    assert "average of 5 folds" in summary_tables(groups)[0].notes[0]


def test_a_seed_without_all_its_folds_is_left_out_and_named() -> None:
    whole = [row for fold in (1, 2) for row in rows([80.0, 90.0], data="sbu", fold=fold)]
    groups = gather(whole[:-1])
    assert groups[0].by_seed("accuracy") == {0: 80.0}
    assert any(
        "seed 1: only 1 of 2 folds finished, left out" in note for note in summary_tables(groups)[0].notes
    )


def test_baselines() -> None:
    table = [
        *STUDY,
        *rows([80.0, 81.0, 82.0], prior="gaussian"),
        *rows([70.0, 71.0, 73.0], method="mp", prior=None),
    ]
    groups = gather(table)
    named = [row[0] for row in paired_tables(groups, baseline="mp")[0].rows]
    assert named == ["pmp laplace, distilled − mp", "gmp|lamp − mp", "pmp gaussian − mp"]
    assert len(paired_tables(groups, baseline="all")[0].rows) == 6
    dense = paired_tables(groups, baseline="dense")[0].rows
    assert len(dense) == 4 and dense[0][3] == "−3.75"
    assert [row[0] for row in paired_tables(groups, baseline="pmp gaussian")[0].rows][
        -1
    ] == "mp − pmp gaussian"
    with pytest.raises(
        ConfigError,
        match="fits several rows at 98 %; name one of them: 'pmp laplace, distilled', 'pmp gaussian'",
    ):
        paired_tables(groups, baseline="pmp")
    with pytest.raises(ConfigError, match="found 'magic'; there are dense, pmp laplace"):
        paired_tables(groups, baseline="magic")


def test_one_seed_has_no_interval_and_no_test() -> None:
    groups = gather([*rows([88.0]), *rows([87.0], method="mp", prior=None)])
    assert summary_tables(groups)[0].rows[0][3:5] == ("88.00", "–")
    assert paired_tables(groups)[0].rows[0][3:] == ("−1.00", "–", "–", "–")


def test_runs_that_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(ConfigError, match="two different runs are both pmp laplace"):
        gather([ONE, dataclasses.replace(ONE, id="other", epochs=900)])


NASTY = TextTable("50 % & more", ("a_b", "<c>"), (("x|y", "{1}"), (r"\z*", "~^$#")), ("a & b",))


def test_latex_is_escaped() -> None:
    text = render([NASTY], "latex")
    assert r"\caption{50 \% \& more. a \& b}" in text
    assert r"a\_b & \textless{}c\textgreater{} \\" in text
    assert r"x|y & \{1\} \\" in text
    assert r"\textbackslash{}z* & \textasciitilde{}\textasciicircum{}\$\# \\" in text
    assert text.count(r"\begin{tabular}{lr}") == text.count(r"\end{tabular}") == 1
    assert latex_escape("88.31 ± 0.5 − 1 … 2 – λ") == r"88.31 $\pm$ 0.5 $-$ 1 \dots{} 2 -- $\lambda$"


def test_html_is_escaped_and_well_formed() -> None:
    text = render([NASTY, NASTY], "html")
    body = text[text.index("<body>") : text.index("</body>") + len("</body>")]
    tree = ElementTree.fromstring(body)
    assert [cell.text for cell in tree.findall(".//td")][:4] == ["x|y", "{1}", r"\z*", "~^$#"]
    assert [cell.text for cell in tree.findall(".//th")][:2] == ["a_b", "<c>"]


def test_markdown_is_escaped() -> None:
    text = render([NASTY], "md")
    assert r"| x\|y  |" in text and r"\<c>" in text and r"\\z\*" in text


def test_the_form_follows_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "results.csv", STUDY)
    for name, start in (("t.tex", r"\begin{table}"), ("t.html", "<!doctype html>"), ("t.txt", "### fpha")):
        main([str(path), "--out", str(tmp_path / name)])
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)


def test_the_paper_s_table_beside_ours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(TABLE_2) == 20
    whole = [
        row.accuracy
        for row in TABLE_2
        if math.floor(math.ceil(row.accuracy * 5.75) / 5.75 * 100 + 1e-9) == round(row.accuracy * 100)
    ]
    assert sorted({row.accuracy for row in TABLE_2} - set(whole)) == [70.8], "what the note says of 1/575"
    table = [
        *rows([90.0, 91.0], **DENSE),
        *rows([85.0, 87.0]),
        *rows([70.0], variant="paper", rate_observed=0.9812),
    ]
    (made,) = paper_tables(gather(table))
    assert made.header[:4] == ("row", "rate", "published", "observed")
    assert made.header[4:] == ("ours", "observed", "gap", "ours (paper)", "observed", "gap")
    assert len(made.rows) == 20
    assert made.rows[0][:7] == ("dense", "dense", "86.43", "–", "90.50 ± 0.71", "0.00 %", "+4.07")
    row = next(r for r in made.rows if r[:2] == ("pmp laplace", "98 %"))
    assert row[2:] == ("70.80", "97.90 %", "86.00 ± 1.41", "98.00 %", "+15.20", "70.00", "98.12 %", "−0.80")
    assert main([str(write(tmp_path / "results.csv", table)), "--paper", "--metric", "class_accuracy"]) == 0
    assert "85.00 ± 1.41" in capsys.readouterr().out
    with pytest.raises(DataError, match="no finished run on fpha"):
        paper_tables(gather(rows([1.0], data="hands")))
    with pytest.raises(ConfigError, match="--metric must be accuracy"):
        paper_tables(gather(table), "bytes")


def test_the_paper_s_first_table() -> None:
    lstm = rows([79.0, 80.0], **{**DENSE, "net": "lstm-1", "variant": "lstm-1"})
    first, second = paper_tables(gather([*rows([90.0, 91.0], **DENSE), *lstm]))
    assert first.rows == (
        ("gcn", "86.43", "90.50 ± 0.71", "+4.07"),
        ("lstm-1", "78.73", "79.50 ± 0.71", "+0.77"),
        ("lstm-2", "80.14", "–", "–"),
    )
    assert second.header[4:] == ("ours", "observed", "gap"), "an LSTM is no row of the second table"


def test_curves(tmp_path: Path) -> None:
    table = [
        *STUDY,
        *rows([80.0, 81.0, 82.0], rate=0.99, weights_kept=394, distilled=1),
        *rows([50.0], data="hands"),
    ]
    lines = curves([g for g in gather(table) if g.data == "fpha"], "accuracy")
    assert [point[0] for point in lines["pmp laplace, distilled"]] == [394, 788]
    low, high = stats.t.interval(0.95, 2, 81.0, stats.sem([80.0, 81.0, 82.0]))
    assert lines["pmp laplace, distilled"][0][1:] == pytest.approx((81.0, low, high))
    path = write(tmp_path / "results.csv", table)
    for name, start in (("c.png", b"\x89PNG"), ("c.svg", b"<?xml"), ("c.pdf", b"%PDF")):
        main([str(path), "--curve", str(tmp_path / name)])
        assert (tmp_path / name).read_bytes().startswith(start)
    svg = (tmp_path / "c.svg").read_bytes()
    main([str(path), "--curve", str(tmp_path / "again.svg")])
    assert (tmp_path / "again.svg").read_bytes() == svg, "the same picture for the same results"


BAD_FILES = {
    "missing column": ("id,data\na,b\n", "line 1: a results file needs the column 'method'"),
    "short row": (None, "line 3: expected 26 columns, found 2"),
    "bad number": (None, "line 2: a value is not of its column's type .*'many'"),
    "empty": ("", "line 1: a results file needs the column 'id'"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files_are_told_with_their_line(case: str, tmp_path: Path) -> None:
    text, found = BAD_FILES[case]
    path = write(tmp_path / "results.csv", rows([88.0]))
    if case == "short row":
        text = path.read_text() + "a,b\n"
    elif case == "bad number":
        text = path.read_text().replace("39400", "many")
    path.write_text(text or "")
    with pytest.raises(DataError, match=found):
        read_results([path])


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--metric", "beauty"], "--metric must be one of accuracy"),
        (["--curve", "c.bmp"], "--curve must end in .png"),
        (["nowhere"], "nowhere"),
    ],
)
def test_bad_arguments(words: list[str], found: str, tmp_path: Path) -> None:
    path = write(tmp_path / "results.csv", STUDY)
    with pytest.raises(BandstopError, match=found):
        main([str(path), *words])


def test_no_finished_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no run is finished yet"):
        read_results([write(tmp_path / "results.csv", [])])


def test_what_stands_out_does_so_in_every_form() -> None:
    table = [TextTable("t", ("a", "b"), (("x", Strong("1 %")),))]
    assert "**1 %**" in render(table, "md")
    assert r"\textbf{1 \%}" in render(table, "latex")
    assert "<strong>1 %</strong>" in render(table, "html")


def test_an_endless_field_is_refused_in_a_sentence(tmp_path: Path) -> None:
    header = ",".join(field.name for field in dataclasses.fields(ResultRow))
    for text in ("x" * 140_000, header + "\n" + "x" * 140_000 + "\n"):
        (tmp_path / "results.csv").write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=r"results\.csv, line \d: not a readable CSV file"):
            read_results([tmp_path])
