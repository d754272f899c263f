"""Hostile frames, a million per exported form, under the sanitizers of two compilers."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from bandstop.deploy import DeployModel, ExportOptions, make_c
from bandstop.deploy.verify import signals_of
from bandstop.errors import ExportError
from bandstop.live.decision import DecisionRule
from bandstop.live.device import live_texts
from bandstop.live.recogniser import LiveSettings
from bandstop.live.windows import WindowPlan
from tests.deploy.nets_for_tests import CLASSES, make_model, normaliser, sequence
from tests.deploy.parts_models import parts_model
from torture.case import Case, Place, Result

__all__ = ["FORMS", "GROUP", "UNIT", "Form", "cases"]

GROUP, UNIT = "frames", "frames"
FRAMES = 1_000_000
COMPILERS = ("gcc", "clang")
SANITIZERS = ("-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all")
FUZZER = Path(__file__).with_name("frames.c")


@dataclass(frozen=True)
class Form:
    """A network and how it is exported; ``way``: frame by frame, live, or the network alone."""

    net: str
    way: str = "stream"
    options: dict[str, Any] | None = None


_NUMBERS = {
    "speed": {}, "size": {"aim": "size"}, "int8": {"number": "int8"}, "int16": {"number": "int16"},
}  # fmt: skip
FORMS: dict[str, Form] = {
    **{
        f"{net} {name}{' open-ended' if open_ended else ''}": Form(net, "stream", {**options, **ending})
        for net in ("gcn", "gcn motion", "tcn parts", "lstm")
        for name, options in _NUMBERS.items()
        if net != "lstm" or "number" not in options  # refused by name
        for open_ended, ending in ((False, {}), (True, {"open_ended": True}))
    },
    **{f"gcn motion live {name}": Form("gcn motion", "live", options) for name, options in _NUMBERS.items()},
    **{f"tcn parts live {name}": Form("tcn parts", "live", options) for name, options in _NUMBERS.items()},
    **{f"lstm live {name}": Form("lstm", "live", _NUMBERS[name]) for name in ("speed", "size")},
    **{f"sequential {name}": Form("sequential", "network", options) for name, options in _NUMBERS.items()},
}  # fmt: skip
"""Name → form."""


def cases(share: float) -> Iterator[Case]:
    """One per form and compiler."""
    frames = max(1000, round(share * FRAMES))
    for name in FORMS:
        for compiler in COMPILERS:
            yield Case(GROUP, f"{name}, {compiler}", _case(name, compiler, frames))
    yield Case(GROUP, "lstm in fixed point", _refused)


def model_of(net: str) -> DeployModel:
    """A pruned network with what goes with it; small, so that a million frames take seconds."""
    small = {"channels": 6, "heads": 3, "filters": 8}
    if net == "sequential":
        torch.manual_seed(0)
        layers = [nn.Conv1d(3, 8, 3, padding=1), nn.BatchNorm1d(8), nn.ReLU(), nn.Flatten(), nn.Linear(80, 4)]
        return DeployModel(nn.Sequential(*layers).eval(), None, tuple("abcd"), input_shape=(3, 10))
    if net == "gcn motion":
        moving = replace(normaliser(), duration=(3.5, 0.7))
        return _moving(moving, small)
    if net == "tcn parts":
        found = parts_model(rate=0.8, widths=(8, 8, 8))
        assert found.normaliser is not None
        return replace(found, normaliser=replace(found.normaliser, facing=(2, 5)))
    return make_model(0.9, **({"kind": "lstm", "hidden": 8} if net == "lstm" else small))


def _moving(moving: Any, small: dict[str, int]) -> DeployModel:
    from bandstop.nets import NetConfig, build_net
    from tests.deploy.nets_for_tests import JOINTS, hand_edges, prune, settle_norms

    torch.manual_seed(0)
    net = build_net(
        NetConfig(kind="gcn", **small),
        joints=JOINTS,
        signal=moving.values,
        classes=CLASSES,
        edges=hand_edges(),
    )
    settle_norms(net)
    prune(net, 0.9)
    names = tuple(f"action {i}" for i in range(CLASSES))
    return DeployModel(net.eval(), moving, names, tuple(f"joint {i}" for i in range(JOINTS)), "millimetres")


def texts_of(form: Form) -> tuple[dict[str, str], list[str]]:
    """The exported files of a form, and what its fuzzer must be told."""
    model = model_of(form.net)
    if model.normaliser is None:
        inputs = np.random.default_rng(0).normal(size=(64, *model.shape)).astype(np.float32)
    else:
        inputs = signals_of(model, [sequence(length) for length in (20, 50, 90)])
    files = make_c(model, ExportOptions(name="net", **(form.options or {})), inputs=inputs)
    if form.way == "live":
        settings = LiveSettings(
            WindowPlan(40, 5), DecisionRule(threshold=0.05, durations=(20,) * (CLASSES - 1))
        )
        return dict(live_texts(files, settings, model.normaliser)), ["-DLIVE"]
    number = {"int8": "int16_t", "int16": "int16_t"}.get((form.options or {}).get("number", ""), "float")
    told = ["-DNETWORK", f"-DVALUE={number}"] if form.way == "network" else []
    return dict(files.texts), told


def _case(name: str, compiler: str, frames: int) -> Callable[[Place], Result]:
    def run(place: Place) -> Result:
        if problem := cannot_sanitize(compiler, place.folder):
            return Result(0, skipped=problem)
        texts, told = texts_of(FORMS[name])
        for file, text in texts.items():
            (place.folder / file).parent.mkdir(exist_ok=True)
            (place.folder / file).write_text(text, encoding="utf-8")
        shutil.copy(FUZZER, place.folder)
        sources = sorted(file for file in texts if file.endswith(".c") and "/" not in file)
        seed = place.random.randrange(2**20)
        told += [f"-DFRAMES={frames}ul", f"-DSEED={seed}u"]
        command = [compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-g", *SANITIZERS, *told]
        built = _do([*command, *sources, "frames.c", "-o", "fuzz"], place.folder)
        if built.returncode:
            return Result(0, (f"{name}: {compiler} refuses it: {built.stderr[:500]}",))
        done = _do(["./fuzz"], place.folder)
        if done.returncode or done.stdout != "calm\n":
            said = (done.stdout + done.stderr)[:700]
            return Result(frames, (f"{name}, {compiler}, seed {seed}: {said}",))
        return Result(frames)

    return run


def _do(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=3000, check=False)


def cannot_sanitize(compiler: str, folder: Path) -> str:
    """Why a compiler cannot build a program under sanitizers; nothing if it can."""
    if not shutil.which(compiler):
        return f"{compiler} is not installed"
    (folder / "probe.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
    built = _do([compiler, *SANITIZERS, "probe.c", "-o", "probe"], folder)
    (folder / "probe.c").unlink()
    return f"{compiler} has no sanitizers" if built.returncode else ""


def _refused(place: Place) -> Result:
    """The one form that does not exist says so."""
    model = model_of("lstm")
    inputs = signals_of(model, [sequence(30)])
    for number in ("int8", "int16"):
        try:
            make_c(model, ExportOptions(number=number), inputs=inputs)  # type: ignore[arg-type]
        except ExportError:
            continue
        return Result(0, (f"an LSTM was exported in {number}",))
    return Result(0)
