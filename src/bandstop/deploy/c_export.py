"""Exported C, compiled here and compared with the network: the network function and the streaming front end."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from bandstop.deploy.c.files import CFiles
from bandstop.deploy.model import DeployModel
from bandstop.deploy.run.native import Native
from bandstop.deploy.verify import Agreement, Floats, agreement, check, reference_scores, signals_of
from bandstop.errors import ExportError

__all__ = ["check_c", "check_open_ended"]


def check_c(
    model: DeployModel,
    files: CFiles,
    sequences: Sequence[Floats],
    inputs: Floats,
    *,
    tolerance: float = 1e-4,
    classes: float = 1.0,
) -> tuple[Native, dict[str, object]]:
    """Compile the files here and compare the network function and the streaming front end with PyTorch."""
    started = time.perf_counter()
    native = Native(files)
    report: dict[str, object] = {"compile_seconds": round(time.perf_counter() - started, 3)}
    wanted = reference_scores(model, inputs)
    limits = {"tolerance": tolerance, "classes": classes}
    report["network"] = check("the C network", native.network, inputs, wanted, **limits).as_dict()
    if model.normaliser is not None and len(sequences):

        def stream(_: Floats) -> Floats:
            answers = [native.stream(s) for s in sequences]
            wrong = [a for a, scores, _ in answers if a != int(scores.argmax())]
            if wrong:
                raise ExportError(
                    f"the C front end answered {wrong[0]} to a sequence that it should classify"
                )
            return np.stack([scores for _, scores, _ in answers])

        wanted = reference_scores(model, signals_of(model, sequences))
        report["stream"] = check(
            "the C front end", stream, inputs[: len(sequences)], wanted, **limits
        ).as_dict()
    return native, report


def check_open_ended(model: DeployModel, files: CFiles, sequences: Sequence[Floats]) -> Agreement:
    """How far bounded memory moves the scores when the length is not known; measured, not limited."""
    native = Native(files, open_ended=True)
    found = np.stack([native.stream(s, length=0)[1] for s in sequences])
    return agreement(found, reference_scores(model, signals_of(model, sequences)))
