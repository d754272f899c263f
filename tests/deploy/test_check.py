"""A broken program is refused with a sentence that names the operation and the rule."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from bandstop.deploy.ir.check import check
from bandstop.deploy.ir.program import Affine, Program, Recurrent, Term
from bandstop.deploy.lower import lower
from bandstop.deploy.lower.kind import Variant
from bandstop.deploy.lower.lstm import lower_lstm
from bandstop.errors import ExportError
from tests.deploy.nets_for_tests import make_net


def term(src: str, rows: list[int], columns: list[int], **shape: int) -> Term:
    ends = (np.array(v, dtype=np.int64) for v in (rows, columns))
    return Term(src, *ends, np.ones(len(rows), np.float32), **shape)


def affine(dst: str, *terms: Term, size: int = 2, **fields: object) -> Affine:
    return replace(Affine(dst, terms, np.zeros(size, np.float32)), **fields)


def program(*operations: Affine, **sizes: int) -> Program:
    return Program(operations, {"signal": 3, "hidden": 2, "scores": 2, **sizes}, np.arange(3), 2)


HIDDEN = affine("hidden", term("signal", [0, 1], [2, 0]), activation="relu")
SCORES = affine("scores", term("hidden", [0, 0, 1], [0, 1, 1]))
GOOD = program(HIDDEN, SCORES)
NAN = np.array([0, np.nan], np.float32)
BROKEN = {
    "hidden is written twice": program(HIDDEN, HIDDEN, SCORES),
    "signal is written twice": program(affine("signal", size=3), HIDDEN, SCORES),
    "scores reads hidden before it is written": program(SCORES, HIDDEN),
    "hidden reads elsewhere before it is written": program(
        affine("hidden", term("elsewhere", [0], [0])), SCORES
    ),
    "extra has no size": program(HIDDEN, affine("extra"), SCORES),
    "the output scores is never written": program(HIDDEN),
    "hidden has a size of 0; a tensor has at least one element": program(HIDDEN, SCORES, hidden=0),
    "the input signal has no size": replace(GOOD, sizes={"hidden": 2, "scores": 2}),
    "the network's input lies at element 3 of signal, which has 3": replace(
        GOOD, input_index=np.arange(1, 4)
    ),
    "two values of the network's input lie at one element": replace(GOOD, input_index=np.array([0, 1, 1])),
    "3 classes do not fit the 2 elements of scores": replace(GOOD, classes=3),
    "hidden has the unknown activation 'softplus'": program(replace(HIDDEN, activation="softplus"), SCORES),
    "scores has 2 elements and a bias of shape [3]": program(HIDDEN, replace(SCORES, bias=np.zeros(3))),
    "the bias of scores is not finite": program(HIDDEN, replace(SCORES, bias=NAN)),
    "a weight of scores from hidden is not finite": program(
        HIDDEN, affine("scores", replace(term("hidden", [0, 1], [0, 1]), weights=NAN))
    ),
    "scores has 1 rows, 2 columns and 2 weights from hidden": program(
        HIDDEN, affine("scores", replace(term("hidden", [0, 1], [0, 1]), rows=np.zeros(1, np.int64)))
    ),
    "scores has entries of width 0 from hidden": program(
        HIDDEN, affine("scores", term("hidden", [0], [0], width=0))
    ),
    "an entry of scores from hidden lies at element 2 of scores": program(
        HIDDEN, affine("scores", term("hidden", [1], [0], width=2))
    ),
    "an entry of scores lies at element 2 of hidden": program(
        HIDDEN, affine("scores", term("hidden", [0], [2]))
    ),
    "an entry of scores lies at element -1 of hidden": program(
        HIDDEN, affine("scores", term("hidden", [0], [1], width=2, dst_step=1, src_step=-2))
    ),
}


@pytest.mark.parametrize("words", BROKEN)
def test_a_broken_program_is_refused_with_a_sentence(words):
    with pytest.raises(ExportError) as found:
        check(BROKEN[words], after="simplifying")
    assert str(found.value).startswith(f"after simplifying the program is broken: {words}")
    assert "\n" not in str(found.value)


def _lstm() -> Program:
    net = make_net(0.5, kind="lstm", hidden=4)
    return lower_lstm(net, torch.zeros(1, 21, 96), Variant())


def _changed(**fields: object) -> Program:
    good = _lstm()
    first, last = good.operations
    assert isinstance(first, Recurrent)
    return replace(good, operations=(replace(first, **fields), last))


def _gates(**fields: object) -> Program:
    first = _lstm().operations[0]
    assert isinstance(first, Recurrent)
    return _changed(gates=replace(first.gates, **fields))


@pytest.mark.parametrize(
    ("words", "broken"),
    [
        ("state1 has 0 hidden units", lambda: _changed(hidden=0)),
        ("state1 has 4 elements, which are not its hidden states", lambda: _changed(sequence=True)),
        ("state1 reads features before it is written", lambda: _changed(src="features")),
        ("the gates of state1 must read signal and then hidden", lambda: _gates(terms=())),
        ("gates has 16 elements and a bias of shape [4]", lambda: _gates(bias=np.zeros(4, np.float32))),
        ("an entry of state1 lies at element", lambda: _changed(src_advance=64)),
    ],
)
def test_a_broken_layer_of_an_lstm_is_refused(words, broken):
    assert check(_lstm()).macs > 0
    with pytest.raises(ExportError, match="the program is broken") as found:
        check(broken())
    assert words in str(found.value)


def test_a_good_program_comes_back():
    assert check(GOOD) is GOOD


@pytest.mark.parametrize(("stage", "made"), [("lowering", "lower"), ("simplifying", "simplify")])
def test_programs_are_checked_after_each_pass(monkeypatch, stage, made):
    """A pass that goes wrong is found before code is made of its program."""
    import bandstop.deploy.lower as module

    if made == "simplify":
        monkeypatch.setattr(module, "simplify", lambda program, compact: BROKEN["hidden is written twice"])
    else:
        kind = replace(module.kind_of(make_net(0.9)), lower=lambda *_: BROKEN["hidden is written twice"])
        monkeypatch.setattr(module, "kind_of", lambda net: kind)
    with pytest.raises(ExportError, match=f"after {stage} the program is broken: hidden is written twice"):
        lower(make_net(0.9), torch.zeros(1, 21, 96))
