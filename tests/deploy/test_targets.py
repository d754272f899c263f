"""Exported programs on other processors: PyTorch's classes on the whole test split of the embedded data."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
import torch

from bandstop.deploy.model import DeployModel
from bandstop.deploy.run.bare_metal import CORTEX_M0PLUS, CORTEX_M4, chip_footprint, chip_image
from bandstop.deploy.run.native import Native
from bandstop.deploy.run.toolchain import STRICT, compile_c, zig_compiler
from bandstop.deploy.verify import reference_scores, signals_of
from bandstop.engine.multirate.batchnorm import recalibrate
from bandstop.record.signal import signal_parts
from bandstop.skeleton.chunk import ChunkTable
from bandstop.skeleton.hands import make_hands
from bandstop.skeleton.normalise import Normaliser
from tests.deploy.nets_for_tests import c_files, make_net
from tests.needs import needs

NETS = {
    "gcn": ("places", {"combine": "sum"}),
    "tcn": ("places+steps+duration+moment", {"kind": "tcn", "widths": (32, 48, 64)}),
}


@pytest.fixture(scope="module", params=NETS)
def hands(request):
    """A pruned network that tells the embedded data's classes apart: a linear fit on its random features."""
    data, (signal, sizes) = make_hands(), NETS[request.param]
    train, test = data.subset(data.split == "train"), data.subset(data.split == "test")
    table, parts = ChunkTable(train), signal_parts(signal)
    chunks = table.chunks(torch.arange(len(table)), 32)
    edges, lengths = torch.as_tensor(data.edges), table.lengths if parts else None
    normaliser = Normaliser.fit(chunks, edges, data.root, lengths, parts)
    net = make_net(0.9, classes=len(data.class_names), normaliser=normaliser, **sizes)
    seen = []
    hook = net.classifier.register_forward_hook(lambda module, given, scores: seen.append(given[0]))
    signals = normaliser(chunks, table.lengths)
    recalibrate(net, [signals])
    seen.clear()
    net(signals)
    hook.remove()
    features = torch.cat([seen[0].flatten(1).detach(), torch.ones(len(chunks), 1)], dim=1)
    targets = torch.nn.functional.one_hot(torch.as_tensor(train.labels), len(data.class_names)).float()
    normal = features.T @ features + torch.eye(features.shape[1])
    fit = torch.linalg.solve(normal, features.T @ targets).T
    weight, bias = fit[:, :-1], fit[:, -1]
    cut = weight.abs().flatten().kthvalue(int(0.8 * weight.numel())).values
    net.classifier.weight.data = torch.where(weight.abs() > cut, weight, torch.zeros(()))
    net.classifier.bias.data = bias.clone()
    model = DeployModel(net, normaliser, data.class_names, data.joint_names or (), units="millimetres")
    raw = [test[i] for i in range(len(test))]
    return model, raw, reference_scores(model, signals_of(model, raw))


def exported(model, raw, number):
    if number == "float32":
        return c_files(model, aim="size")
    return c_files(model, signals_of(model, raw[:100]), number=number)


# QEMU has no M0+ board with enough memory: the M3 board executes ARMv6-M code unchanged.
CHIPS = [(CORTEX_M4, "mps2-an386"), (CORTEX_M0PLUS, "mps2-an385")]


@needs("qemu-system-arm", package="qemu-system-arm")
@pytest.mark.parametrize("number", ["float32", "int8", "int16"])
@pytest.mark.parametrize("chip,board", CHIPS, ids=["M4", "M0+"])
def test_microcontrollers(tmp_path, hands, chip, board, number):
    model, raw, wanted = hands
    files = exported(model, raw, number)
    (tmp_path / "image.elf").write_bytes(chip_image(files, chip, host=True))
    with (tmp_path / "frames.bin").open("wb") as out:
        for frames in raw:
            out.write(np.uint32(len(frames)).tobytes() + frames.astype("<f4").tobytes())
    command = ["qemu-system-arm", "-M", board, "-nographic", "-monitor", "none", "-serial", "none"]
    command += ["-semihosting-config", "enable=on,target=native", "-kernel", "image.elf"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    found = np.array([int(line) for line in (done.stdout + done.stderr).split()])
    assert len(found) == len(raw)
    if number == "float32":
        assert np.array_equal(found, wanted.argmax(1))
    else:  # fixed point may differ from PyTorch, never from the same C on this machine
        native = Native(files, flags=("-O1",))
        assert np.array_equal(found, [native.stream(frames)[0] for frames in raw])
        assert (found == wanted.argmax(1)).mean() > (0.97 if number == "int8" else 0.99)


@pytest.mark.parametrize(
    "target,emulator",
    [
        pytest.param(f"{name}-linux-musl", f"qemu-{name}", marks=needs(f"qemu-{name}", package="qemu-user"))
        for name in ("aarch64", "riscv64")
    ],
)
@pytest.mark.parametrize("aim", ["speed", "size"])
def test_other_architectures(tmp_path, hands, target, emulator, aim):
    model, raw, wanted = hands
    files = c_files(model, aim=aim, name="net")
    for name, text in (("net.h", files.header), ("net.c", files.source), ("main.c", files.main)):
        (tmp_path / name).write_text(text)
    sources = [tmp_path / "net.c", tmp_path / "main.c"]
    flags = ["-target", target, "-static", "-O2", *STRICT]
    compile_c(zig_compiler(), [*flags, *sources, "-o", tmp_path / "program"], what=f"building for {target}")
    text = "\n".join(f"{len(s)}\n" + " ".join(f"{v:.9g}" for v in s.ravel()) for s in raw)
    done = subprocess.run(
        [emulator, tmp_path / "program"], input=text, capture_output=True, text=True, timeout=300
    )
    found = [line.rsplit(" ", 1)[0] for line in done.stdout.splitlines()]
    assert found == [model.class_names[i] for i in wanted.argmax(1)]


def test_the_fixture_tells_classes_apart(hands):
    _, _, wanted = hands
    data = make_hands()
    labels = data.subset(data.split == "test").labels
    assert (wanted.argmax(1) == labels).mean() > 3 / len(data.class_names)
    assert len(np.unique(wanted.argmax(1))) > 6


def test_size_on_a_cortex_m4():
    """The 39 k network at 98 %, with front end and 45 names, in a small part's memory."""
    from tests.deploy.nets_for_tests import make_model

    model = make_model(0.98, combine="sum")
    kept = sum(int((p != 0).sum()) for p in model.net.parameters() if p.ndim > 1)
    assert kept >= 788
    inputs = torch.randn(50, 21, 96).numpy()
    plain = chip_footprint(c_files(model, aim="size"), CORTEX_M4)
    small = chip_footprint(c_files(model, inputs, number="int8"), CORTEX_M4)
    assert plain.flash <= 12_000 and plain.ram + plain.stack <= 24_000
    assert small.flash <= 8_000 and small.ram + small.stack <= 24_000 and small.stack > 0
