"""How honest a recogniser's confidence is, and what "none of these" costs, on the embedded hands.

    python benchmarks/confidence.py --out runs/confidence --write benchmarks/results/confidence.json

Twelve of the sixteen actions are trained. The threshold is chosen on people held out of training, with two of
the other four actions as none of these; it is judged on the test people, with the last two.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from numpy.typing import NDArray

from bandstop.files import write_text
from bandstop.nets import NetConfig
from bandstop.record.rejection import Rejection
from bandstop.skeleton import SequenceSet
from bandstop.skeleton.hands import make_hands
from bandstop.skeleton.split import train_and_test
from bandstop.training.calibrate import choose_rejection, true_labels
from bandstop.training.config import RunConfig
from bandstop.training.model_file import Recogniser, load_recogniser
from bandstop.training.presets import empirical
from bandstop.training.run import train_run

BINS = 15
UNKNOWN = ((3, 9), (6, 14))
"""Actions that stand for none of these: to choose the threshold with, and to judge it with."""


@dataclass(frozen=True)
class Options:
    """What to train."""

    out: Path = Path("runs/confidence")
    """Folder of the runs."""
    write: Path | None = None
    """JSON file of the results."""
    rate: float = 0.98
    """Pruning rate."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Seeds of training and of the held-out people."""
    epochs: int = 60
    """Epochs of each training."""
    hands: int = 5
    """Seed of the embedded hands. How temperatures are smoothed was settled with seed 0."""
    false_alarms: str = "5%"
    """Rate that the threshold is chosen for."""


def calibration_error(confidence: NDArray[np.float64], right: NDArray[np.bool_], bins: int = BINS) -> float:
    """Expected calibration error: ``Σ n_b / n · |share right − mean confidence|`` over equal bins.

    >>> calibration_error(np.array([0.9, 0.9]), np.array([True, False]))
    0.4
    """
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    gaps = [
        abs(right[place == b].mean() - confidence[place == b].mean()) * (place == b).mean()
        for b in set(place)
    ]
    return round(float(sum(gaps)), 4)


def judge(found: Recogniser, rule: Rejection, test: SequenceSet) -> dict[str, Any]:
    """Calibration error before and after, and the answers with the threshold."""
    labels = true_labels(test, found.class_names)
    scores = found.scores([test[i] for i in range(len(test))]).double()
    known, judged = labels >= 0, {}
    for name, temperature in (("plain", 1.0), ("calibrated", rule.temperature)):
        likely = torch.softmax(scores / temperature, dim=1).numpy()
        right = likely.argmax(axis=1) == labels
        judged[name] = calibration_error(likely.max(axis=1)[known], right[known])
    answers = np.array([rule.answer(row, found.class_names).label for row in scores.tolist()])
    return {
        "temperature": rule.temperature,
        "threshold": rule.threshold,
        "calibration_error": judged,
        "accuracy_without_threshold": round(float((scores.argmax(1).numpy() == labels)[known].mean()), 4),
        "known_named_rightly": round(float((answers == labels)[known].mean()), 4),
        "known_named_wrongly": round(float(((answers != labels) & (answers >= 0))[known].mean()), 4),
        "unknown_rejected": round(float((answers < 0)[~known].mean()), 4),
        "false_alarms_share": round(float(((answers != labels) & (answers >= 0)).mean()), 4),
    }


def measure(options: Options, seed: int) -> dict[str, Any]:
    """Train, calibrate and judge one seed."""
    hands = make_hands(seed=options.hands)
    trained = np.array([label for label in range(16) if label not in (*UNKNOWN[0], *UNKNOWN[1])])
    known = hands.subset(np.isin(hands.labels, trained))
    names = tuple(hands.class_names[label] for label in trained)
    known = replace(known, labels=np.searchsorted(trained, known.labels), class_names=names)
    data = f"hands:{options.hands}"
    config = empirical(RunConfig())
    config = replace(
        config,
        data=data,
        rate=options.rate,
        seed=seed,
        epochs=options.epochs,
        signal="motion",
        net=NetConfig(kind="gcn"),
        validation=0.25,
    )
    folder = options.out / f"hands{options.hands}-s{seed}-e{options.epochs}"
    train_run(config, folder, sequences=known, resume=folder.is_dir())
    held = train_and_test(hands, validation=0.25, seed=seed)[1]
    found = load_recogniser(folder)
    people = held & ~np.isin(hands.labels, UNKNOWN[1])
    rule = choose_rejection(found, hands.subset(people), options.false_alarms)
    test = train_and_test(hands)[1] & ~np.isin(hands.labels, UNKNOWN[0])
    return {"seed": seed, **judge(found, rule, hands.subset(test))}


def main() -> None:
    """Measure every seed."""
    options = tyro.cli(Options)
    rows = [measure(options, seed) for seed in options.seeds]
    asked = {"rate": options.rate, "epochs": options.epochs, "false_alarms": options.false_alarms}
    text = json.dumps({**asked, "runs": rows}, indent=1) + "\n"
    print(text)
    if options.write is not None:
        write_text(options.write, text)


if __name__ == "__main__":
    main()
