"""`bandstop evaluate`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
import tyro

from bandstop.cli.parse import parse
from bandstop.errors import DataError
from bandstop.skeleton import load
from bandstop.skeleton.split import train_and_test
from bandstop.training.metrics import quality, size
from bandstop.training.recogniser import load_recogniser

__all__ = ["Evaluate", "main"]


@dataclass(frozen=True)
class Evaluate:
    """Judge a finished run on a data set and print accuracy and size as JSON.

    Examples:
      bandstop evaluate runs/hands98 hands
      bandstop evaluate runs/mine new_recordings/ --split all
    """

    run: tyro.conf.Positional[Path]
    """Run folder, or its model.safetensors."""
    data: tyro.conf.Positional[str]
    """Data, named as for `bandstop train`."""
    split: Literal["test", "train", "all"] = "test"
    """Which part to judge on; data without a split is split as in training. `all` for recordings that training never saw."""


def main(arguments: Sequence[str]) -> int:
    """Print metrics."""
    asked = parse(Evaluate, "evaluate", arguments)
    recogniser = load_recogniser(asked.run)
    source = load(asked.data).repaired()
    judged = "all"
    if asked.split != "all":
        train, test, judged = train_and_test(source)
        source, judged = (
            source.subset(train if asked.split == "train" else test),
            judged.replace("test", asked.split, 1),
        )
    unknown = sorted(set(source.class_names) - set(recogniser.class_names))
    if unknown:
        raise DataError(
            f"the run knows {len(recogniser.class_names)} classes, but the data has others: {', '.join(unknown[:5])}; "
            "evaluate on data with the classes of training",
            path=asked.data,
        )
    place = np.array([recogniser.class_names.index(name) for name in source.class_names])
    labels = torch.as_tensor(place[source.labels])
    scores = recogniser.scores([source[i] for i in range(len(source))])
    found = quality(labels, scores)
    found.pop("confusion")
    example = torch.zeros(1, recogniser.joints, recogniser.normaliser.values)
    sizes = size(recogniser.net, example)
    sizes.pop("layers")
    print(
        json.dumps(
            {"data": asked.data, "split": judged, "sequences": len(source), **found, **sizes}, indent=1
        )
    )
    return 0
