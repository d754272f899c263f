"""Frames of every bad kind: no crash under the sanitizers, and always the defined answer."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from bandstop.deploy.c.files import CFiles
from bandstop.deploy.run.native import Native
from bandstop.deploy.run.toolchain import FAST, STRICT
from bandstop.deploy.verify import reference_scores, signals_of
from tests.deploy.nets_for_tests import c_files, make_model, sequence
from tests.deploy.parts_models import parts_model
from tests.needs import SANITIZERS

BAD_FRAME, TOO_FEW, TOO_MANY, BAD_LENGTH = -1, -2, -3, -4
MODEL = make_model(0.96)


@pytest.fixture(scope="module", params=[("-O1",), FAST], ids=["plain", "fast maths"])
def native(request):
    return Native(c_files(MODEL, aim="size", open_ended=True), flags=request.param)


def test_too_few_and_too_many(native):
    raw = sequence(50)
    assert native.stream(raw, length=60)[0] == TOO_FEW
    answer, scores, pushed = native.stream(raw, length=40)
    assert pushed[39] == 1 and set(pushed[40:]) == {TOO_MANY}
    assert np.abs(scores - reference_scores(MODEL, signals_of(MODEL, [raw[:40]]))[0]).max() < 5e-6
    assert answer == scores.argmax()
    assert native.stream(raw[:0], length=5)[0] == TOO_FEW
    assert native.stream(raw[:0], length=0)[0] == TOO_FEW


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 3e9, -1e30])
@pytest.mark.parametrize("length", [9, 32, 80])
def test_a_bad_frame_is_the_last_good_one_again(native, bad, length):
    raw = sequence(length)
    broken, mended = raw.copy(), raw.copy()
    broken[4:6, 7, 1] = bad
    mended[4:6] = raw[3]
    broken[:2, 3] = bad  # nothing good yet: the first good frame stands in
    mended[:2] = raw[2]
    broken[-1, 0, 2] = bad
    mended[-1] = raw[-2]
    wanted = reference_scores(MODEL, signals_of(MODEL, [mended]))[0]
    for given in (None, 0) if length <= 64 else (None,):
        _, scores, pushed = native.stream(broken, length=given)
        assert np.abs(scores - wanted).max() < 5e-6
        assert [i for i, p in enumerate(pushed) if p == BAD_FRAME] == [0, 1, 4, 5, length - 1]


def test_nothing_but_bad_frames(native):
    assert native.stream(np.full((40, 21, 3), np.nan, np.float32))[0] == TOO_FEW


@pytest.mark.parametrize("scale", [0.0, 1e-30, 1e-9, 1e-3, 1e6, 9.9e8])
def test_any_size_has_a_finite_answer(native, scale):
    raw = (np.random.default_rng(0).uniform(-1, 1, (45, 21, 3)) * scale).astype(np.float32)
    answer, scores, _ = native.stream(raw)
    assert np.isfinite(scores).all() and 0 <= answer < 45
    same = np.zeros_like(raw) + raw[:, :1]  # no bones at all: size zero
    answer, scores, _ = native.stream(same)
    assert np.isfinite(scores).all() and 0 <= answer < 45


FUZZER = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "net.h"
static net state;
int main(void)
{
    unsigned seed = 1, round, t;
    for (round = 0; round < 3000; ++round) {
        float joints[3 * NET_JOINTS], scores[NET_CLASSES];
        unsigned length, frames;
        int i, answer;
        srand(seed++);
        length = (unsigned)rand() % 7 == 0 ? (unsigned)rand() * 3u : (unsigned)rand() % 90;
        frames = (unsigned)rand() % 100;
        if (net_begin(&state, length) < 0 && length >= 1 && length <= NET_MOST_FRAMES) return 3;
        for (t = 0; t < frames; ++t) {
            for (i = 0; i < 3 * NET_JOINTS; ++i) {
                unsigned bits = ((unsigned)rand() << 16) ^ (unsigned)rand();
                if (rand() % 3 && round % 4) joints[i] = (float)(rand() % 2000) - 1000.0f;
                else memcpy(&joints[i], &bits, 4);
                if (rand() % 3 == 0 && round % 4 == 1) joints[i] = 0.0f;
            }
            answer = net_push_frame(&state, joints);
            if (answer < -4 || answer > 1) return 4;
            if (rand() % 40 == 0) net_classify(&state, scores);
        }
        for (i = 0; i < NET_CLASSES; ++i) scores[i] = 0.0f;
        answer = net_classify(&state, scores);
        if (answer >= NET_CLASSES || answer < -4) return 5;
        for (i = 0; i < NET_CLASSES; ++i) if (!(scores[i] > -1e30f && scores[i] < 1e30f)) return 6;
    }
    puts("calm");
    return 0;
}
"""


def _kinds() -> list[tuple[str, CFiles]]:
    inputs = signals_of(MODEL, [sequence(50)])
    return [
        ("speed", c_files(MODEL, name="net", open_ended=True)),
        ("dense", c_files(make_model(0.3), name="net")),
        ("size", c_files(MODEL, aim="size", name="net", open_ended=True)),
        ("int8", c_files(MODEL, inputs, number="int8", name="net", open_ended=True)),
        ("lstm", c_files(make_model(0.9, kind="lstm", hidden=8), name="net")),
    ]


def _composed() -> dict[str, CFiles]:
    """Convolutions over time on all parts of a signal, in every form."""
    model = parts_model(rate=0.8, widths=(8, 8, 8))
    inputs = signals_of(model, [sequence(50)])
    return {
        "speed": c_files(model, name="net"),
        "speed open-ended": c_files(model, name="net", open_ended=True),
        "size": c_files(model, aim="size", name="net"),
        "int8 open-ended": c_files(model, inputs, number="int8", name="net", open_ended=True),
        "int16": c_files(model, inputs, number="int16", name="net"),
    }


@pytest.mark.parametrize("kind", range(5), ids=["speed", "dense", "size", "int8", "lstm"])
def test_fuzzed_frames_under_sanitizers(tmp_path, kind, sanitizer):
    calm(tmp_path, _kinds()[kind][1], sanitizer)


@pytest.mark.parametrize("form", ["speed", "speed open-ended", "size", "int8 open-ended", "int16"])
def test_fuzzed_frames_of_composed_signals_under_sanitizers(tmp_path, form, sanitizer):
    calm(tmp_path, _composed()[form], sanitizer)


def calm(folder: Path, files: CFiles, compiler: str) -> None:
    (folder / "net.h").write_text(files.header)
    (folder / "net.c").write_text(files.source)
    (folder / "fuzz.c").write_text(FUZZER)
    sources = [folder / "net.c", folder / "fuzz.c"]
    command = [compiler, *STRICT, "-O1", "-g", *SANITIZERS, *sources, "-o", folder / "fuzz"]
    subprocess.run(command, check=True)
    done = subprocess.run([folder / "fuzz"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout == "calm\n", done.stderr[-2000:]
