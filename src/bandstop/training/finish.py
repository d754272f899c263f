"""The end of a run: the finished network is judged and measured, and written with its metrics."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

import torch
from torch import nn

from bandstop.files import write_text
from bandstop.training.config import RunConfig
from bandstop.training.data import TrainingData
from bandstop.training.folder import METRICS
from bandstop.training.metrics import predict, quality, size
from bandstop.training.recogniser import MODEL_FILE, Recogniser, save_recogniser

__all__ = ["write_result"]


def write_result(
    config: RunConfig,
    out: Path,
    net: nn.Module,
    data: TrainingData,
    layers: dict[str, dict[str, Any]],
    *,
    seconds: float,
) -> dict[str, Any]:
    """Write model and metrics of a plain, finished ``net``; returns the metrics. ``layers``: thresholds and gains by name."""
    source = data.source
    recogniser = Recogniser(
        net,
        data.normaliser,
        source.class_names,
        source.joint_names,
        config,
        tuple(map(tuple, data.pose.tolist())),
    )
    measured = size(net, data.judge_signals[:1])
    for row in measured["layers"]:
        row |= layers.get(row["name"], {"threshold": None, "gain": None})
    budget = config.budget
    metrics = {
        **quality(data.judge_labels, predict(net, data.judge_signals)),
        "split": data.judged_on,
        "class_names": list(source.class_names),
        **measured,
        "rate_asked": budget.amount if budget is not None and budget.kind == "rate" else None,
        "rate_observed": 1 - measured["weights_kept"] / measured["weights_total"],
        "budget": None
        if budget is None or config.dense
        else {"kind": budget.kind, "amount": budget.amount, "scope": budget.scope},
        "method": "dense" if config.dense else config.method,
        "prior": None if config.dense else config.prior,
        "distilled_from": list(config.distill.teachers),
        "rates": config.rates,
        "extracted_from": config.extracted_from,
        "seed": config.seed,
        "epochs": config.epochs,
        "seconds": round(seconds, 2),
        "machine": f"{platform.machine()} {platform.system()}, torch {torch.__version__}, {config.threads} thread(s)",
    }
    save_recogniser(recogniser, out / MODEL_FILE)
    write_text(out / METRICS, json.dumps(metrics, indent=1))
    return metrics
