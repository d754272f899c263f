"""Convolutions over time on signals composed of parts: every export answers as torch does on raw frames."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from bandstop.deploy.lower import lower, lower_variants
from bandstop.deploy.model import DeployModel
from bandstop.deploy.onnx.file import onnx_runner, to_onnx
from bandstop.deploy.packed.file import from_bytes, to_bytes
from bandstop.deploy.plan import LANES
from bandstop.deploy.plan.choose import cheapest_plan
from bandstop.deploy.run.native import Native
from bandstop.deploy.verify import agreement, reference_scores, signals_of
from bandstop.errors import ExportError
from bandstop.nets import NetConfig, build_net
from bandstop.record.signal import PARTS
from bandstop.skeleton.parts import Part
from tests.deploy.nets_for_tests import JOINTS, c_files, sequences
from tests.deploy.parts_models import parts_model

MODEL = parts_model()
SHARED = ("places", "steps", "moment")


def streamed(native: Native, model: DeployModel) -> None:
    wanted = reference_scores(model, signals_of(model, sequences()))
    for raw, scores in zip(sequences(), wanted, strict=True):
        answer, found, _ = native.stream(raw)
        assert answer == scores.argmax()
        assert np.abs(found - scores).max() < 1e-4 * max(1, np.abs(wanted).max())


@pytest.mark.parametrize("aim", ["speed", "size"])
def test_c_answers_as_torch(aim) -> None:
    streamed(Native(c_files(MODEL, aim=aim), flags=("-O1", "-march=native")), MODEL)


@pytest.mark.parametrize("name", [name for name in PARTS if name != "places"])
def test_c_computes_each_part_alone(name) -> None:
    model = parts_model(("places", name))
    streamed(Native(c_files(model, aim="size"), flags=("-O1",)), model)


def test_what_joints_share_may_stand_between_other_parts() -> None:
    model = parts_model(("places", "moment", "steps", "duration"))
    for aim in ("speed", "size"):
        streamed(Native(c_files(model, aim=aim), flags=("-O1", "-march=native")), model)
    inputs = signals_of(model, sequences())
    assert np.abs(onnx_runner(to_onnx(model))(inputs) - reference_scores(model, inputs)).max() < 1e-4


def test_a_moment_takes_one_value_of_a_chunk() -> None:
    without = parts_model(("places", "steps"))
    signals = [lower(m.net, m.example).sizes["signal"] for m in (without, parts_model(SHARED))]
    assert signals[1] - signals[0] == 32


def test_the_gcn_takes_parts_too() -> None:
    model = parts_model(("places", "bones", "moment", "distances"), kind="gcn")
    streamed(Native(c_files(model), flags=("-O1", "-march=native")), model)


@pytest.mark.parametrize(
    "net",
    [
        {},
        {"widths": (8, 8), "kernels": (3, 3), "strides": (2, 1)},
        {"widths": (8, 8, 8), "kernels": (1, 3, 2), "strides": (1, 3, 2)},
        {"widths": (8, 8), "kernels": (1, 1), "strides": (1, 1)},
        {"widths": (8,), "kernels": (1,), "strides": (2,)},
    ],
)
def test_moments_lie_in_any_order(net) -> None:
    """All programs of a network compute the same, however their moments lie."""
    model = parts_model(("places", "distances"), rate=0.8, **net)
    for chunks in (31, 32):
        made = dataclasses.replace(model.normaliser, chunks=chunks)  # type: ignore[type-var]
        config = NetConfig(**{"kind": "tcn", **net})
        built = build_net(config, joints=JOINTS, signal=made.values, classes=5, chunks=chunks).eval()
        inputs = torch.randn(3, JOINTS, made.values)
        wanted = built(inputs).detach().numpy()
        for program in lower_variants(built, inputs[:1], lanes=LANES):
            assert np.abs(program(inputs.numpy()) - wanted).max() < 1e-4


def test_a_convolution_is_computed_in_whole_vectors() -> None:
    plan = str(cheapest_plan(lower_variants(MODEL.net, MODEL.example, lanes=LANES)))
    assert "moments1: rows" in plan and "moments2: rows" in plan


def test_frames_without_a_known_end() -> None:
    native = Native(c_files(MODEL, aim="size", open_ended=True), open_ended=True)
    raw = sequences()[-1][:60]
    _, found, _ = native.stream(raw, length=0)
    wanted = reference_scores(MODEL, signals_of(MODEL, [raw]))[0]
    assert np.abs(found - wanted).max() < 1e-4 * np.abs(wanted).max()


@pytest.mark.parametrize("number", ["int8", "int16"])
def test_fixed_point_follows(number) -> None:
    inputs = signals_of(MODEL, sequences())
    native = Native(c_files(MODEL, inputs, number=number))
    found = np.stack([native.stream(raw)[1] for raw in sequences()])
    close = agreement(found, reference_scores(MODEL, inputs))
    assert close.largest_difference < (0.01 if number == "int16" else 0.1) * close.largest_score


def test_each_kept_weight_is_stored_once() -> None:
    program = lower(MODEL.net, MODEL.example, compact=True)
    means = MODEL.net.moments[-1]  # type: ignore[union-attr, operator, index]
    assert program.entries <= MODEL.kept + means
    files = c_files(MODEL, signals_of(MODEL, sequences()), number="int8")
    assert files.program.entries <= MODEL.kept + means


def test_onnx_and_bytes() -> None:
    inputs = signals_of(MODEL, sequences())
    wanted = reference_scores(MODEL, inputs)
    assert np.abs(onnx_runner(to_onnx(MODEL))(inputs) - wanted).max() < 1e-4
    back = from_bytes(to_bytes(MODEL, values="half"))
    assert back.normaliser is not None and back.normaliser.parts[1:3] == MODEL.normaliser.parts[1:3]  # type: ignore[union-attr]
    found = reference_scores(back, signals_of(back, sequences()))
    assert agreement(found, wanted).largest_difference < 0.02 * np.abs(wanted).max()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parts": (*MODEL.normaliser.parts[:1], Part("steps", (1.0,)))}, "a scale for each joint"),  # type: ignore[union-attr]
        ({"duration": None}, "go together"),
    ],
)
def test_damaged_parts_are_refused(change, message) -> None:
    broken = dataclasses.replace(MODEL, normaliser=dataclasses.replace(MODEL.normaliser, **change))  # type: ignore[type-var]
    with pytest.raises(ExportError, match=message):
        from_bytes(to_bytes(broken))
