"""`bandstop predict`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from bandstop.cli.parse import FileArguments, ReadingFlags, RunArgument, parse
from bandstop.errors import ConfigError, DataError
from bandstop.record.folder import LIVE
from bandstop.record.reading import AS_IT_SAYS, SAME
from bandstop.record.rejection import NONE, Answer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bandstop.training.model_file import Recogniser

__all__ = ["Predict", "main"]


@dataclass(frozen=True)
class Predict:
    """Name the action in sequence files: the best class and its probability, one line per file.

    A run with a threshold (`bandstop calibrate`) may answer "none of these". With a run of `bandstop live`
    files as long as its window are streams: one line per gesture in them.

    Examples:
      bandstop predict runs/mine wave_01.csv wave_02.npy
      bandstop predict runs/mine new_recordings/
      bandstop predict runs/mine recording.json --json --top 3
    """

    run: RunArgument
    """Run folder, or its model.safetensors."""
    files: FileArguments
    """Sequences [frames, joints, 3]: .npy, .npz, .csv, .bvh, .txt, .json or .mat; of a folder all in it."""
    top: int = 1
    """How many classes to name."""
    json: bool = False
    """Print JSON lines instead of text."""
    false_alarms: Annotated[str | None, tyro.conf.arg(metavar="RATE")] = None
    """Answer "none of these" with the threshold for this rate, such as 1/min or 2% (that of `bandstop
    calibrate` or `bandstop live` by default)."""
    reading: ReadingFlags = AS_IT_SAYS


SUFFIXES = (".npy", ".npz", ".csv", ".bvh", ".txt", ".json", ".jsonl", ".mat")


def sequence_files(path: Path) -> list[Path]:
    """The file itself; of a folder all sequence files in it and its sub-folders, by name."""
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
    if not found:
        raise DataError(f"a folder of sequences needs a file that ends in {', '.join(SUFFIXES)}", path=path)
    return found


def main(arguments: Sequence[str]) -> int:
    """Print one line per file; every file is read before anything is printed."""
    asked = parse(Predict, "predict", arguments)
    if asked.top < 1:
        raise ConfigError(f"--top must be at least 1, found {asked.top}")
    if not asked.files:
        raise ConfigError("at least one sequence file is needed: bandstop predict RUN FILE …")

    from bandstop.cli.show_events import print_events
    from bandstop.live import load_live
    from bandstop.training.model_file import load_recogniser

    recogniser = load_recogniser(asked.run)
    sequences = _read(asked, recogniser)
    if (asked.run / LIVE).is_file():
        live = load_live(asked.run, false_alarms=asked.false_alarms)
        if min(map(len, sequences.values())) >= live.settings.plan.length:
            print_events(live, sequences, as_json=asked.json)
            return 0
    _print_answers(asked, recogniser, sequences)
    return 0


def _read(asked: Predict, recogniser: Recogniser) -> dict[Path, NDArray[np.float32]]:
    """The sequence of every file, in the joint order of training."""
    from bandstop.skeleton import load_file

    reading = recogniser.config.reading if asked.reading == AS_IT_SAYS else asked.reading
    same = reading.layout == SAME
    sequences = {}
    for path in (file for given in asked.files for file in sequence_files(given)):
        one = load_file(path, reading, joints=recogniser.joints)
        if (found := one.joints.shape[1]) != recogniser.joints:
            raise DataError(
                f"the run was trained on {recogniser.joints} joints, this file has {found}", path=path
            )
        ordered = recogniser.in_its_order(one, same=same, where=path)
        sequences[path] = recogniser.repaired(ordered, hint="leave this file out")[0]
    return sequences


def _print_answers(
    asked: Predict, recogniser: Recogniser, sequences: dict[Path, NDArray[np.float32]]
) -> None:
    import torch

    from bandstop.cli.deploy_run import rejection_for

    names, rule = recogniser.class_names, recogniser.rejection
    if asked.false_alarms is not None:
        rule = rejection_for(recogniser, asked.false_alarms)
    scores = recogniser.scores(list(sequences.values()))
    likelihood = torch.softmax(scores / (rule.temperature if rule else 1.0), dim=1)
    for path, row, raw in zip(sequences, likelihood, scores.tolist(), strict=True):
        best = row.topk(min(asked.top, len(row)))
        named = [(names[i], float(p)) for p, i in zip(best.values, best.indices.tolist(), strict=True)]
        answer = rule.answer(raw, names) if rule else None
        if asked.json:
            print(json.dumps({"file": str(path), **_said(answer, names), **_classes(named)}))
        else:
            likely = ", ".join(f"{n} ({p:.1%})" for n, p in named)
            if answer is not None and answer.label < 0:
                likely = f"none of these ({answer.confidence:.1%}); {likely}"
            print(f"{path}: {likely}")


def _said(answer: Answer | None, names: Sequence[str]) -> dict[str, object]:
    if answer is None:
        return {}
    name = NONE if answer.label < 0 else names[answer.label]
    return {"answer": name, "confidence": round(answer.confidence, 4)}


def _classes(named: list[tuple[str, float]]) -> dict[str, object]:
    return {"classes": [{"name": n, "probability": round(p, 4)} for n, p in named]}
