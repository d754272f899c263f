"""`bandstop predict`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bandstop.cli.parse import FileArguments, ReadingFlags, RunArgument, parse
from bandstop.errors import ConfigError, DataError
from bandstop.record.reading import AS_IT_SAYS, SAME

__all__ = ["Predict", "main"]


@dataclass(frozen=True)
class Predict:
    """Name the action in sequence files: the best class and its probability, one line per file.

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

    import torch

    from bandstop.skeleton import load_file
    from bandstop.training.model_file import load_recogniser

    recogniser = load_recogniser(asked.run)
    files = [file for path in asked.files for file in sequence_files(path)]
    reading = recogniser.config.reading if asked.reading == AS_IT_SAYS else asked.reading
    same = reading.layout == SAME
    sequences = []
    for path in files:
        one = load_file(path, reading, joints=recogniser.joints)
        if (found := one.joints.shape[1]) != recogniser.joints:
            raise DataError(
                f"the run was trained on {recogniser.joints} joints, this file has {found}", path=path
            )
        sequences.append(recogniser.in_its_order(one, same=same, where=path).repaired()[0])
    likelihood = torch.softmax(recogniser.scores(sequences), dim=1)
    for path, row in zip(files, likelihood, strict=True):
        best = row.topk(min(asked.top, len(row)))
        named = [
            (recogniser.class_names[i], float(p))
            for p, i in zip(best.values, best.indices.tolist(), strict=True)
        ]
        if asked.json:
            classes = [{"name": n, "probability": round(p, 4)} for n, p in named]
            print(json.dumps({"file": str(path), "classes": classes}))
        else:
            print(f"{path}: " + ", ".join(f"{n} ({p:.1%})" for n, p in named))
    return 0
