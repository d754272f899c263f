"""Help: of every verb, in plain words, and quickly, because torch is not loaded to print a text."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from bandstop.cli import VERBS
from bandstop.record.data_forms import KINDS

HEAVY = ("torch", "numpy", "matplotlib", "scipy", "numba", "safetensors")
PROGRAM = f"""
import json, sys, time
from bandstop.cli import main
try:
    code = main(sys.argv[1:])
except SystemExit as stopped:
    code = stopped.code
loaded = [name for name in {HEAVY!r} if name in sys.modules]
print(json.dumps([code, loaded, time.process_time()]), file=sys.stderr)
"""
COMMANDS = [["--help"], ["--version"], *([verb, "--help"] for verb in VERBS)]
WRONG = [["tran"], ["train", "--nonsense"], ["train", "hands", "--rate", "1.5", "--out", "x"], ["export"]]


def alone(words: list[str]) -> tuple[int, list[str], float]:
    """Exit code, heavy modules and processor seconds of a process of its own."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, timeout=60)
    code, loaded, seconds = json.loads(done.stderr.splitlines()[-1])
    return code, loaded, seconds


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_loads_no_torch(words: list[str]) -> None:
    code, loaded, seconds = alone(words)
    assert code == 0 and loaded == []
    assert seconds < (1.5 if words[0] in VERBS else 0.6), (
        "benchmarks/help_time.py measures it without company"
    )


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_a_wrong_command_line_is_refused_without_torch(words: list[str]) -> None:
    code, loaded, _ = alone(words)
    assert code == 2 and loaded == []


def test_every_verb_is_listed_and_has_examples(say: Callable[..., Any]) -> None:
    listed = say()
    assert listed.code == 0 and all(verb in listed.out for verb in VERBS)
    for verb in VERBS:
        said = say(verb, "--help")
        assert said.code == 0 and "Examples:\n" in said.out, verb


def test_arguments_are_named_for_what_they_are(say: Callable[..., Any]) -> None:
    for verb, names in {
        "train": ["DATA", "--out FOLDER"],
        "evaluate": ["RUN", "DATA"],
        "predict": ["RUN", "FILE"],
        "convert": ["DATA", "FILE.npz"],
        "export": ["RUN", "--out FOLDER", "--data DATA"],
        "study": ["PLAN", "--data KEY=DATA", "--set NAME=VALUE"],
        "table": ["STUDY"],
    }.items():
        text = say(verb, "--help").out
        assert all(name in text for name in names), verb
    for verb in VERBS:
        assert not re.search(r"\b(STR|PATH \[PATH)\b", say(verb, "--help").out), verb


def test_the_defaults_shown_are_those_that_hold(say: Callable[..., Any]) -> None:
    def default(flag: str, *words: str) -> str:
        text = " ".join(say("train", *words, "--help").out.replace("│", " ").split())
        return text.split(f"{flag} INT", 1)[1].split("(default: ", 1)[1].split(")", 1)[0]

    assert default("--epochs") == "400"
    assert default("--epochs", "--preset", "paper") == default("--epochs", "--preset=paper") == "600"
    assert default("--epochs", "--preset", "paper-literal") == "2700"
    assert default("--epochs", "--rates", "0.5:0.9") == "1060"
    assert default("--optim.batch", "--preset", "paper") == "600"


def test_live_connections_are_the_default_and_the_flag_says_so(say: Callable[..., Any]) -> None:
    text = " ".join(say("train", "--help").out.replace("│", " ").split())
    said = text.split("--prune.no-live", 1)[1]
    assert said.startswith(" Spend the budget on any connections") and "(default: on live ones only)" in said


def test_help_lists_every_form_of_data_and_shows_no_doctest(say: Callable[..., Any]) -> None:
    text = say("train", "--help").out
    assert all(form in text for forms in KINDS.values() for form in forms)
    for verb in VERBS:
        assert ">>>" not in say(verb, "--help").out, verb


@pytest.mark.parametrize(
    ("flag", "found", "said"),
    [
        ("--drop", "rubbish", "--drop must be unusable, found 'rubbish'"),
        ("--net.kind", "tcnn", "--net.kind must be gcn, lstm or tcn, found 'tcnn'; did you mean tcn?"),
        ("--normalise", "orientation+size", "did you mean size+orientation?"),
    ],
)
def test_a_wrong_choice_is_one_sentence(say: Callable[..., Any], flag: str, found: str, said: str) -> None:
    refused = say("train", "hands", "--out", "x", flag, found)
    assert refused.code == 2 and refused.err.count("\n") == 1 and said in refused.err
