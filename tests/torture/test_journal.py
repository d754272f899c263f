"""A torture that was killed goes on, and its result says what was tried."""

from pathlib import Path

import pytest

from torture.case import Case, Place, Result, plain_sentence
from torture.journal import Journal, tree_digest
from torture.run import run_cases
from torture.summary import summary, summary_line


def case(name: str, *results: Result) -> Case:
    left = list(results)
    return Case("files", name, lambda place: left.pop(0))


def test_done_cases_are_not_run_again_and_failed_ones_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = case("good", Result(3)), case("bad", Result(2, ("broken",)), Result(2))
    for failures in (1, 0):
        journal = Journal(tmp_path / "j.jsonl", seed=0, tree="t")
        run_cases([good, bad], journal, tmp_path)
        found = summary(journal, {"files": [good, bad]})
        assert found.groups["files"]["count"] == 5 and len(found.failures) == failures
    assert "2 cases, 1 done before" in capsys.readouterr().out
    assert summary_line(found.groups) == "torture: 5 mutated files: 0 failures"


def test_a_torn_line_other_seeds_and_other_trees_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    one = case("one", Result())
    Journal(path, seed=0, tree="t").add(one, Result(), 0.1)
    path.write_text(path.read_text() + '{"group": "fil')
    again = Journal(path, seed=0, tree="t")
    assert again.done(one)
    two = case("two", Result())
    again.add(two, Result(), 0.1)
    assert Journal(path, seed=0, tree="t").done(two)
    assert not Journal(path, seed=1, tree="t").done(one)
    assert not Journal(path, seed=0, tree="other").done(one)
    assert Journal(path, seed=0, tree="other", keep=True).done(one)


def test_a_case_that_breaks_is_a_failure_with_words(tmp_path: Path) -> None:
    def broken(place: Place) -> Result:
        raise KeyError("gone")

    journal = Journal(tmp_path / "j.jsonl", seed=0, tree="t")
    run_cases([Case("files", "x", broken)], journal, tmp_path)
    assert "the torture itself failed" in journal.lines["files", "x"]["failures"][0]
    with pytest.raises(ValueError, match="one name"):
        run_cases([case("a"), case("a")], journal, tmp_path)


def test_the_digest_of_a_tree_is_that_of_its_sources(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("1")
    before = tree_digest(tmp_path)
    (tmp_path / "a.pyc").write_text("1")
    assert tree_digest(tmp_path) == before
    (tmp_path / "a.py").write_text("2")
    assert tree_digest(tmp_path) != before


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("", "says nothing"),
        ("a\nb", "has several lines"),
        ("\x07", "holds control characters"),
        ("x" * 5000, "has 5000 characters"),
        ("Traceback (most recent call last):", "is a traceback"),
        ("a.csv: the file is empty", ""),
    ],
)
def test_what_a_sentence_is(words: str, problem: str) -> None:
    assert plain_sentence(words) == problem
