"""Run folders as training writes them, made without training."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

HAND_EDGES = [[0, f] for f in range(1, 6)] + [
    pair for f in range(5) for pair in ([f + 1, 6 + 3 * f], [6 + 3 * f, 7 + 3 * f], [7 + 3 * f, 8 + 3 * f])
]
JOINTS = 21
Shapes = dict[str, tuple[int, ...]]
Row = dict[str, Any]


def hand_pose() -> np.ndarray:
    """A flat open hand, a little curled out of its plane."""
    pose = np.zeros((JOINTS, 3), np.float32)
    for finger, angle in enumerate((0.9, 0.35, 0.08, -0.18, -0.45)):
        direction = np.array([np.sin(angle), np.cos(angle), 0.0])
        start, step = (0.5, 0.38) if finger == 0 else (1.0, 0.33 - 0.04 * abs(finger - 2))
        pose[finger + 1] = start * direction
        for joint in range(3):
            pose[6 + 3 * finger + joint] = (start + step * (joint + 1)) * direction + [0, 0, -0.1 * joint]
    return pose


def confusion(rng: np.random.Generator, classes: int, each: int = 13, error: float = 0.15) -> np.ndarray:
    table = np.zeros((classes, classes), int)
    for row in range(classes):
        for _ in range(each):
            wrong = rng.random() < error
            # Mistakes cluster on a few neighbours, as those of real recognisers do.
            table[row, (row + rng.choice([1, 2, classes // 2])) % classes if wrong else row] += 1
    return table


def sparse(rng: np.random.Generator, shape: tuple[int, ...], kept: int) -> np.ndarray:
    flat = np.zeros(int(np.prod(shape)), np.float32)
    flat[rng.choice(flat.size, kept, replace=False)] = rng.laplace(0, 1, kept)
    return flat.reshape(shape)


def laplace_bins(centres: np.ndarray, scale: float) -> np.ndarray:
    mass = np.exp(-np.abs(centres) / scale)
    return mass / mass.sum()


def log_lines(rng: np.random.Generator, epochs: int, rate: float | None, temperature: bool) -> list[Row]:
    lines = []
    centres = np.linspace(-8, 8, 100)
    for epoch in range(1, epochs + 1):
        done = epoch / epochs
        now = None if rate is None else rate * (1 - (1 - min(done / 0.7, 1)) ** 3)
        threshold = None if now is None else -np.log(1 - now)
        line: dict[str, Any] = {
            "epoch": epoch,
            "loss": 4 * np.exp(-5 * done) + 0.1 + 0.05 * rng.random(),
            "kl": None if rate is None else 0.8 * np.exp(-4 * done) + 0.02,
            "train_accuracy": 100 * (1 - np.exp(-6 * done)),
            "validation_accuracy": 88 * (1 - np.exp(-5 * done)) if epoch % 2 else None,
            "rate": now or 0.0,
            "kept": round(39400 * (1 - (now or 0.0))),
            "temperature": 1e-3**done if temperature else None,
            "threshold": threshold,
            "lr": 0.01,
            "seconds": 0.1,
        }
        if rate is not None and (epoch == 1 or epoch % max(epochs // 8, 1) == 0):
            observed = laplace_bins(centres, 1 + 0.4 * (1 - done)) + 0.004 * rng.random(100)
            line["histogram"] = {
                "centres": centres.tolist(),
                "observed": (observed / observed.sum()).tolist(),
                "prior": laplace_bins(centres, 1.0).tolist(),
                "threshold": threshold,
                "range": 8.0,
            }
            line["layers"] = {f"layer {n}": {"threshold": threshold + 0.1 * n, "gain": 0.2} for n in (-1, 1)}
        lines.append(line)
    return lines


def shapes_of(net: str, classes: int) -> Shapes:
    if net == "lstm":
        return {
            "lstm.weight_ih_l0": (400, 63),
            "lstm.weight_hh_l0": (400, 100),
            "classifier.weight": (classes, 100),
        }
    if net == "tcn":
        return {
            "blocks.0.conv.weight": (16, JOINTS * 7, 1),
            "blocks.1.conv.weight": (24, 16, 5),
            "classifier.weight": (classes, 24),
        }
    return {
        "encoder.weight": (16, 96),
        "graph.adjacency": (8, JOINTS, JOINTS),
        "graph.filters": (8, 16, 32),
        "classifier.weight": (classes, JOINTS * 32),
    }


def kept_of(shapes: Shapes, pruned: bool) -> dict[str, int]:
    """How many weights of each layer are kept: 2 % of all, or every one."""
    totals = {name: int(np.prod(shape)) for name, shape in shapes.items()}
    total = sum(totals.values())
    wanted = round(0.02 * total) if pruned else total
    share = {name: round(wanted * size / total) for name, size in totals.items()}
    share[next(iter(share))] += wanted - sum(share.values())
    return share


def layer_rows(shapes: Shapes, kept: dict[str, int], pruned: bool) -> list[Row]:
    rows = []
    for name, shape in shapes.items():
        total, live = int(np.prod(shape)), kept[name] - kept[name] // 20 if pruned else kept[name]
        row = {"name": name, "shape": list(shape), "total": total, "kept": kept[name], "live": live}
        row |= {"macs_dense": total * 3, "macs_live": live * 3}
        rows.append(row | {"threshold": 3.9 if pruned else None, "gain": 0.12 if pruned else None})
    return rows


def metrics_of(
    table: np.ndarray, names: list[str], layers: list[Row], *, pruned: bool, epochs: int, seed: int
) -> dict[str, Any]:
    right, members = table.diagonal(), table.sum(1)
    total, kept = sum(row["total"] for row in layers), sum(row["kept"] for row in layers)
    return {
        "accuracy": round(100 * float(right.sum() / members.sum()), 3),
        "class_accuracy": round(100 * float((right / members).mean()), 3),
        "confusion": table.tolist(),
        "class_names": names,
        "weights_total": total,
        "weights_kept": kept,
        "weights_live": sum(row["live"] for row in layers),
        "parameters_total": total + 141,
        "parameters_kept": kept + 141,
        "macs_dense": 1_234_567,
        "macs_live": 23_456 if pruned else 1_234_567,
        "bytes_dense": 4 * (total + 141),
        "bytes_sparse": 6 * kept + 4 * 141,
        "rate_asked": 0.98 if pruned else None,
        "rate_observed": 1 - kept / total,
        "budget": {"kind": "rate", "amount": 0.98, "scope": "prunable"} if pruned else None,
        "method": "pmp" if pruned else "dense",
        "seed": seed,
        "epochs": epochs,
        "seconds": 41.5,
        "machine": "2 cores, 1 thread",
        "split": "test split: 575 sequences",
        "layers": layers,
    }


def write_model(
    folder: Path, tensors: dict[str, np.ndarray], names: list[str], config: Any, pose: bool
) -> None:
    normaliser = {"root": 0, "edges": HAND_EDGES, "node_scale": [1.0] * JOINTS, "chunks": 32}
    if config["net"]["kind"] == "tcn":
        normaliser["parts"] = [{"name": part} for part in ("places", "steps", "duration")]
    stored = {
        "config": config,
        "class_names": names,
        "normaliser": normaliser,
        "edges": HAND_EDGES,
        "pose": hand_pose().tolist() if pose else [],
        "joint_names": [f"joint {number}" for number in range(JOINTS)],
    }
    metadata = {key: json.dumps(value) for key, value in stored.items()}
    save_file(tensors, folder / "model.safetensors", metadata=metadata)


def write_run(
    folder: Path,
    *,
    pruned: bool = True,
    net: str = "gcn",
    classes: int = 12,
    log: bool = True,
    pose: bool = True,
    gate: str = "soft",
    epochs: int = 40,
    seed: int = 0,
    **changes: Any,
) -> Path:
    """Write a run folder; ``changes`` replace entries of metrics.json."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    shapes = shapes_of(net, classes)
    kept = kept_of(shapes, pruned)
    tensors = {name: sparse(rng, shape, kept[name]) for name, shape in shapes.items()}
    names = [f"open_bottle_{number}" if number % 3 else f"wave {number}" for number in range(classes)]
    layers = layer_rows(shapes, kept, pruned)
    found = metrics_of(confusion(rng, classes), names, layers, pruned=pruned, epochs=epochs, seed=seed)
    found |= changes
    config = {
        "data": "hands",
        "method": found["method"],
        "rate": found["rate_asked"],
        "seed": seed,
        "net": {"kind": net, "heads": 8, "filters": 32},
        "prune": {"gate": gate, "leak": 1.0, "power": 2.0, "sigma": 1.0, "kl": 0.0, "live": True},
        "distill": {"teachers": [], "share": 0.7},
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2))
    (folder / "metrics.json").write_text(json.dumps(found))
    write_model(folder, tensors, names, config, pose)
    if log:
        lines = log_lines(rng, epochs, 0.98 if pruned else None, gate == "logistic")
        (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Path]:
    """Writes a run folder of the given name under the test's own folder."""

    def make(name: str = "run", **settings: Any) -> Path:
        return write_run(tmp_path / name, **settings)

    return make
