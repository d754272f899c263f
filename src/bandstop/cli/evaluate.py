"""`bandstop evaluate`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bandstop.cli.parse import DataArgument, ReadingFlags, RunArgument, parse
from bandstop.errors import DataError
from bandstop.record.drop import DropChoice
from bandstop.record.reading import AS_IT_SAYS

__all__ = ["Evaluate", "main"]


@dataclass(frozen=True, kw_only=True)
class Evaluate(DropChoice):
    """Judge a finished run on a data set and print accuracy and size as JSON.

    Examples:
      bandstop evaluate runs/hands98 hands
      bandstop evaluate runs/mine new_recordings/ --split all
    """

    run: RunArgument
    """Run folder, or its model.safetensors."""
    data: DataArgument
    """Data, named as for `bandstop train`."""
    split: Literal["test", "train", "all"] = "test"
    """Which part to judge on; data without a split is split as in training. `all` is for recordings that
    training never saw."""
    reading: ReadingFlags = AS_IT_SAYS


def main(arguments: Sequence[str]) -> int:
    """Print metrics."""
    asked = parse(Evaluate, "evaluate", arguments)

    import numpy as np
    import torch

    from bandstop.cli.show import tell_dropped
    from bandstop.skeleton.repair import DROP
    from bandstop.skeleton.split import train_and_test
    from bandstop.skeleton.unusable import mentioning
    from bandstop.training.measure import quality, size
    from bandstop.training.model_file import load_recogniser
    from bandstop.training.recordings import recordings_for

    recogniser = load_recogniser(asked.run)
    source, dropped = recordings_for(
        recogniser, asked.data, reading=asked.reading, drop=asked.drop, hint=DROP, say=tell_dropped
    )
    judged = "all"
    if asked.split != "all":
        with mentioning(dropped):
            train, test, judged = train_and_test(source)
        source, judged = (
            source.subset(train if asked.split == "train" else test),
            judged.replace("test", asked.split, 1),
        )
    unknown = sorted(set(source.class_names) - set(recogniser.class_names))
    if unknown:
        classes = f"the run knows {len(recogniser.class_names)} classes"
        problem = f"{classes}, but the data has others: {', '.join(unknown[:5])}"
        raise DataError(problem, path=asked.data, hint="evaluate on data with the classes of training")
    place = np.array([recogniser.class_names.index(name) for name in source.class_names])
    labels = torch.as_tensor(place[source.labels])
    scores = recogniser.scores([source[i] for i in range(len(source))])
    example = torch.zeros(1, recogniser.joints, recogniser.normaliser.values)
    measured = {**vars(quality(labels, scores)), **vars(size(recogniser.net, example))}
    shown = {name: value for name, value in measured.items() if name not in ("confusion", "layers")}
    print(json.dumps({"data": asked.data, "split": judged, "sequences": len(source), **shown}, indent=1))
    return 0
