"""The exported C against PyTorch: every layout, both compilers, and the whole path from raw frames."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from bandstop.deploy.c.files import assemble
from bandstop.deploy.c.speed import emit_speed
from bandstop.deploy.lower import Variant, lower
from bandstop.deploy.model import DeployModel
from bandstop.deploy.plan.choose import make_plan
from bandstop.deploy.plan.cost import MACHINE, rows_possible
from bandstop.deploy.plan.transpose import transposable
from bandstop.deploy.run.native import Native
from bandstop.deploy.run.toolchain import STRICT
from bandstop.deploy.verify import reference_scores, signals_of
from bandstop.errors import ExportError
from tests.deploy.nets_for_tests import c_files, make_model, make_net, sequence, sequences


@pytest.mark.parametrize("aim", ["speed", "size"])
@pytest.mark.parametrize(
    "rate,config", [(0.0, {}), (0.6, {}), (0.9, {"dense": 16}), (0.98, {}), (0.99, {"combine": "concat"})]
)
def test_network_and_stream_equal_torch(rate, config, aim, compiler):
    model = make_model(rate, **config)
    native = Native(c_files(model, aim=aim), compiler=(compiler,), flags=("-O1", "-march=native"))
    inputs = torch.randn(6, 21, 96).numpy()
    wanted = reference_scores(model, inputs)
    assert np.abs(native.network(inputs) - wanted).max() < 2e-6 * max(1, np.abs(wanted).max())
    wanted = reference_scores(model, signals_of(model, sequences()))
    for raw, scores in zip(sequences(), wanted, strict=True):
        answer, found, pushed = native.stream(raw)
        assert answer == scores.argmax()
        assert np.abs(found - scores).max() < 5e-6
        assert pushed == [0] * (len(raw) - 1) + [1]


def test_every_way_of_writing_is_used_and_right():
    """Layouts forced one by one on the same network, so that none is right only where it is chosen."""
    model = make_model(0.93)
    program = lower(model.net, model.example, variant=Variant(pitch=24))
    plan, met = make_plan(program), set()
    inputs = torch.randn(4, 21, 96).numpy()
    wanted = reference_scores(model, inputs)
    for form in ("rows", "dense rows", "blocks", "transposed", "scan"):
        operations = []
        for planned in plan.operations:
            can_be = transposable if form == "transposed" else rows_possible
            possible = form in ("blocks", "scan") or can_be(planned.operation, program.sizes)
            met.add(form if possible else "scan")
            everything = np.ones_like(planned.live)
            chosen = form if possible else "scan"
            operations.append(replace(planned, form=chosen, live=everything, positions=None, size=0))
        forced = replace(plan, operations=tuple(operations))
        assert np.abs(forced_scores(model, forced, inputs) - wanted).max() < 2e-6
    assert met == {"rows", "dense rows", "blocks", "transposed", "scan"}


@pytest.mark.parametrize(
    ("cheap", "forms"),
    [
        (
            {
                "interleaved": 0.0,
                "interleaved_far": 0.0,
                "interleaved_long": 0.0,
                "interleaved_step": 0.0,
                "interleaved_group": 0.0,
                "code_limit": 1e9,
            },
            {"interleaved"},
        ),
        ({"interleave_loop_step": 0.0, "interleave_loop_group": 0.0}, {"interleaved loop"}),
        (
            {"interleave_loop_step": 0.0, "interleave_loop_group": 0.0, "row_weight": -10.0},
            {"interleaved loop", "left transposed"},
        ),
    ],
)
def test_results_that_lie_in_another_order(cheap, forms, compiler):
    """Interleaved or left transposed results are read where they lie.

    Costs are bent so that these are chosen.
    """
    model = make_model(0.95, combine="concat")
    inputs = torch.randn(4, 21, 96).numpy()
    program = lower(model.net, model.example, variant=Variant(pitch=24))
    forced = {"features"} if "left transposed" in forms else set()
    plan = make_plan(program, machine=replace(MACHINE, **cheap), interleaved=forced)
    assert forms <= {planned.form for planned in plan.operations}
    found = forced_scores(model, plan, inputs, compiler)
    assert np.abs(found - reference_scores(model, inputs)).max() < 5e-6


def forced_scores(model, plan, inputs, compiler="gcc"):
    """Scores of the C of one given plan, compiled with every warning an error."""
    files = assemble(model, emit_speed(plan), name="forced")
    return Native(files, compiler=(compiler,), flags=("-O1", "-march=native")).network(inputs)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("aim", ["speed", "size"])
def test_lstm(aim, layers):
    model = make_model(0.8, kind="lstm", hidden=20, layers=layers)
    native = Native(c_files(model, aim=aim), flags=("-O1",))
    inputs = torch.randn(5, 21, 96).numpy() * 3
    assert np.abs(native.network(inputs) - reference_scores(model, inputs)).max() < 5e-6


@pytest.mark.parametrize("aim", ["speed", "size"])
def test_sequential(aim):
    torch.manual_seed(1)
    layers = [
        nn.Conv1d(3, 8, 5, padding=2, stride=2),
        nn.LeakyReLU(),
        nn.Conv1d(8, 6, 3, padding=1),
        nn.Tanh(),
        nn.Flatten(),
    ]
    net = nn.Sequential(*layers, nn.Linear(60, 9), nn.Sigmoid(), nn.Linear(9, 4)).eval()
    model = DeployModel(net, None, ("a", "b", "c", "d"), input_shape=(3, 19))
    native = Native(c_files(model, aim=aim), flags=("-O1",))
    inputs = torch.randn(7, 3, 19).numpy()
    assert np.abs(native.network(inputs) - reference_scores(model, inputs)).max() < 2e-6


def test_no_edges_uses_distance_to_the_root():
    model = make_model(0.9)
    model = replace(model, normaliser=replace(model.normaliser, edges=(), root=4))
    native = Native(c_files(model, aim="size"), flags=("-O1",))
    for raw in sequences():
        wanted = reference_scores(model, signals_of(model, [raw]))[0]
        assert np.abs(native.stream(raw)[1] - wanted).max() < 5e-6


def test_open_ended_is_exact_until_bins_are_halved_and_close_after():
    model = make_model(0.9)
    native = Native(c_files(model, aim="size", open_ended=True), flags=("-O1",))
    for length, limit in (
        (1, 5e-6),
        (20, 5e-6),
        (32, 5e-6),
        (63, 5e-6),
        (64, 5e-6),
        (300, 0.05),
        (5000, 0.05),
    ):
        raw = sequence(length)
        wanted = reference_scores(model, signals_of(model, [raw]))[0]
        answer, found, _ = native.stream(raw, length=0)
        assert answer >= 0
        assert np.abs(found - wanted).max() < limit


def test_state_is_the_callers_and_two_do_not_disturb_each_other(tmp_path, compiler):
    files = c_files(make_model(0.95), aim="size", name="net")
    (tmp_path / "net.h").write_text(files.header)
    (tmp_path / "net.c").write_text(files.source)
    objects = subprocess.run(
        [compiler, "-c", "-O1", "-fno-pic", tmp_path / "net.c", "-o", tmp_path / "net.o"], check=True
    )
    assert objects.returncode == 0
    symbols = subprocess.run(["nm", tmp_path / "net.o"], capture_output=True, text=True, check=True).stdout
    kinds = {line.split()[-2] for line in symbols.splitlines()}
    assert not kinds & {"B", "b", "C", "D", "d"}, "nothing that changes may be global"
    undefined = {line.split()[-1] for line in symbols.splitlines() if " U " in line}
    assert undefined <= {"memset", "memcpy", "_GLOBAL_OFFSET_TABLE_"}, "nothing from the C library"
    wanted = f'_Static_assert(sizeof(net) == {files.state_bytes}, "size");'
    (tmp_path / "size.c").write_text(f'#include "net.h"\n{wanted}\n')
    subprocess.run([compiler, "-c", tmp_path / "size.c", "-o", tmp_path / "size.o"], check=True)


def test_example_main_reads_frames(tmp_path, compiler):
    model = make_model(0.97)
    files = c_files(model, aim="size", name="net")
    for name, text in {**files.texts, "example/main.c": files.main}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    program = tmp_path / "program"
    example = next(line for line in files.main.splitlines() if "Build it in this folder with: cc" in line)
    line = example.split("with: cc ")[1].removesuffix("*/").replace("-o main", f"-o {program}").split()
    subprocess.run([compiler, *STRICT, *line], cwd=tmp_path / "example", check=True)
    raw = sequence(40)
    text = f"{len(raw)}\n" + " ".join(f"{v:.9g}" for v in raw.ravel())
    shown = subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout
    best = reference_scores(model, signals_of(model, [raw]))[0].argmax()
    assert shown.startswith(f"{model.class_names[best]} ")
    assert len(files.main.splitlines()) <= 33
    assert subprocess.run([program], input="0", capture_output=True, text=True).returncode == 2


def test_names_are_checked():
    with pytest.raises(ExportError, match="lower-case"):
        c_files(make_model(0.99), name="9; int main")
    model = make_model(0.99)
    short = DeployModel(model.net, model.normaliser, ("one",))
    with pytest.raises(ExportError, match="45 outputs and 1 class names"):
        c_files(short)


def test_odd_class_names_survive():
    names = ('say "hi"', "a\\b", "??=trigraph", "größe", "new\nline", *(f"c{i}" for i in range(40)))
    model = replace(make_model(0.99), class_names=names)
    native = Native(c_files(model, name="net"), flags=("-O0",))
    import ctypes

    table = (ctypes.c_char_p * 45).in_dll(native._library, "net_class_names")
    assert tuple(item.decode() for item in table) == names


def test_make_net_is_what_it_says():
    net = make_net(0.98)
    assert 0.01 < float((net.classifier.weight != 0).float().mean()) < 0.03
