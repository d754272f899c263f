"""A valid file for every reader, and how it is read."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bandstop.errors import BandstopError
from tests.skeleton.sample_trees import TREES, array_folder, bvh_folder, coco_tree, mediapipe_folder, utd_tree
from torture.samples import data_file, run_folder

__all__ = ["SPECIMENS", "Specimen"]

Read = Callable[[], object]
Make = Callable[[Path, Path], tuple[Sequence[Path], Read]]
"""Of an empty folder and the group's shared one: the files that may be changed, and what reads them."""


@dataclass(frozen=True)
class Specimen:
    """``cost``: how many ordinary files one of these takes the time of."""

    make: Make
    cost: int = 1


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _tree(kind: str) -> Make:
    def make(folder: Path, shared: Path) -> tuple[Sequence[Path], Read]:
        from bandstop.skeleton import describe, load

        spec = TREES[kind](folder)

        def read() -> None:
            found = load(spec)
            describe(found).lines()
            if not np.isfinite(found.repaired().joints).all():
                raise AssertionError("a repaired set holds values that are not finite")

        return _files(folder), read

    return make


def _single(tree: Callable[[Path], str], pattern: str) -> Make:
    def make(folder: Path, shared: Path) -> tuple[Sequence[Path], Read]:
        from bandstop.skeleton import load_file

        tree(folder)
        path = sorted(folder.rglob(pattern))[0]
        return [path], lambda: load_file(path, joints=5).repaired()

    return make


def _run(kind: str, name: str, read: Callable[[Path], object]) -> Make:
    """A file of a run folder; ``read`` takes the folder."""

    def make(folder: Path, shared: Path) -> tuple[Sequence[Path], Read]:
        run = folder / "run"
        shutil.copytree(run_folder(kind, shared), run)
        if not (run / name).is_file():
            raise FileNotFoundError(run / name)
        return [run / name], lambda: read(run)

    return make


def _recogniser(run: Path) -> None:
    from bandstop.training.model_file import load_recogniser

    found = load_recogniser(run)
    rows = np.linspace(0, 9, 12 * found.joints * 3, dtype=np.float32).reshape(12, found.joints, 3)
    found.scores([rows])


def _config(run: Path) -> None:
    from bandstop.training.resume import stored_config

    stored_config(run).resolved()


def _page(run: Path) -> None:
    from bandstop.report.page import write_report

    write_report(run)


def _live(run: Path) -> None:
    from bandstop.live import load_live

    found = load_live(run)
    for frame in np.random.default_rng(0).normal(size=(80, found.recogniser.joints, 3)):
        found.push(frame)


def _predict(run: Path) -> None:
    from bandstop.cli import _dispatch

    rows = np.random.default_rng(0).normal(size=(12, 5, 3)).astype(np.float32)
    np.save(run / "x.npy", rows)
    _dispatch(["predict", str(run), str(run / "x.npy"), "--layout", "same"])


def _extract(run: Path) -> None:
    from bandstop import Budget
    from bandstop.training.extract import extract_run

    out = run.parents[1] / "out"
    shutil.rmtree(out, ignore_errors=True)
    extract_run(run, Budget.rate(0.8), out)


def _resumed(folder: Path, shared: Path) -> tuple[Sequence[Path], Read]:
    """A checkpoint of a training that was stopped, and the log beside it."""
    from torture.stopped import stopped_training

    run, changed = folder / "run", ("checkpoint.safetensors", "log.jsonl")
    shutil.copytree(stopped_training(shared), run)

    def read() -> None:
        from bandstop.training.resume import stored_config
        from bandstop.training.run import train_run

        out = folder.parent / "out"
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(run, out)
        train_run(stored_config(out), out, resume=True)

    return [run / name for name in changed], read


def _packed(folder: Path, shared: Path) -> tuple[Sequence[Path], Read]:
    from bandstop.deploy import DeployModel, from_bytes, to_bytes
    from bandstop.training.model_file import load_recogniser

    paths = []
    for kind, values in (("motion", "8-bit"), ("lstm", "half")):
        found = load_recogniser(run_folder(kind, shared))
        model = DeployModel(found.net, found.normaliser, found.class_names, found.joint_names)
        paths.append(folder / f"{kind}.bsn")
        paths[-1].write_bytes(to_bytes(model, values=values))  # type: ignore[arg-type]
    return paths, lambda: [from_bytes(path.read_bytes()) for path in paths]


PLAN = """name = "small"
about = "two runs"
[data]
small = "{data}"
[base]
epochs = 2
net = {{ channels = 4, heads = 2 }}
optim.batch = 27
[[grid]]
data = "small"
method = ["dense", "mp"]
rate = [0.9]
seed = [0, 1]
settings.chunks = 8
"""


def _plan(folder: Path, shared: Path) -> tuple[Sequence[Path], Read]:
    from bandstop.study.plan import read_plan
    from bandstop.study.runs import expand

    path = folder / "plan.toml"
    path.write_text(PLAN.format(data=data_file(shared)), encoding="utf-8")
    return [path], lambda: expand(read_plan(str(path)), [], ())


def _study(folder: Path, shared: Path) -> tuple[Sequence[Path], Read]:
    from torture.stopped import finished_study

    root = folder / "study"
    shutil.copytree(finished_study(shared), root)
    files = [root / name for name in ("results.csv", "study.json")]
    from bandstop.study.results import read_results
    from bandstop.study.study_folder import StudyFolder

    digests = StudyFolder(root).digests

    def read() -> None:
        problems = []
        for work in (
            lambda: read_results([root]),
            lambda: StudyFolder(root).check_data(digests),
            lambda: StudyFolder(root).digests,
        ):
            try:
                work()
            except BandstopError as problem:
                problems.append(problem)
        if problems:
            raise problems[0]

    return files, read


SPECIMENS: dict[str, Specimen] = {
    **{f"set {kind}": Specimen(_tree(kind)) for kind in TREES},
    "file npy": Specimen(_single(array_folder, "*.npy")),
    "file npz": Specimen(_single(array_folder, "*.npz")),
    "file csv": Specimen(_single(array_folder, "s01_c.csv")),
    "file json": Specimen(_single(mediapipe_folder, "*.json")),
    "file jsonl": Specimen(_single(mediapipe_folder, "*.jsonl")),
    "file coco json": Specimen(_single(coco_tree, "*.json")),
    "file mat": Specimen(_single(utd_tree, "*.mat")),
    "file bvh": Specimen(_single(bvh_folder, "*.bvh")),
    "model": Specimen(_run("pmp", "model.safetensors", _recogniser)),
    "model lstm": Specimen(_run("lstm", "model.safetensors", _recogniser)),
    "model motion": Specimen(_run("motion", "model.safetensors", _recogniser)),
    "predict": Specimen(_run("pmp", "model.safetensors", _predict), 2),
    "config": Specimen(_run("pmp", "config.json", _config)),
    "metrics": Specimen(_run("pmp", "metrics.json", _page), 40),
    "log": Specimen(_run("pmp", "log.jsonl", _page), 40),
    "report of a model": Specimen(_run("pmp", "model.safetensors", _page), 40),
    "report of a config": Specimen(_run("pmp", "config.json", _page), 40),
    "live": Specimen(_run("live", "live.json", _live), 4),
    "latents": Specimen(_run("many rates", "latents.safetensors", _extract), 10),
    "checkpoint": Specimen(_resumed, 10),
    "bsn": Specimen(_packed),
    "plan": Specimen(_plan),
    "study": Specimen(_study),
}
"""Name → the reader's specimen."""
