"""Exported C is also C++, and two recognisers live in one program."""

from __future__ import annotations

import subprocess

import pytest

from bandstop.deploy.verify import reference_scores, signals_of
from tests.deploy.golden_nets import EXPORTS, FOLDER
from tests.deploy.nets_for_tests import c_files, make_model, sequence, sequences
from tests.needs import needs

STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Werror", "-O1")
COMPILERS = [
    pytest.param(name, marks=needs(name, package=p)) for name, p in (("g++", "g++"), ("clang++", "clang"))
]
PAIR = """#include <cstdio>
#include "left.h"
#include "right.h"
static left one;
static right other;
int main()
{
    static float joints[3 * LEFT_JOINTS], scores[LEFT_CLASSES], others[RIGHT_CLASSES];
    unsigned frames, t;
    if (std::scanf("%u", &frames) != 1) return 2;
    left_begin(&one, frames);
    right_begin(&other, frames);
    for (t = 0; t < frames; ++t) {
        for (int i = 0; i < 3 * LEFT_JOINTS; ++i)
            if (std::scanf("%f", &joints[i]) != 1) return 2;
        left_push_frame(&one, joints);
        right_push_frame(&other, joints);
    }
    std::printf("%s\\n", left_class_names[left_classify(&one, scores)]);
    std::printf("%s\\n", right_class_names[right_classify(&other, others)]);
    return 0;
}
"""


@pytest.mark.parametrize("standard", ["c++11", "c++20"])
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", EXPORTS)
def test_every_form_compiles_as_cplusplus(tmp_path, name, compiler, standard):
    command = [compiler, "-x", "c++", f"-std={standard}", *STRICT, "-c", FOLDER / f"{name}.c"]
    done = subprocess.run([*command, "-o", tmp_path / "out.o"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("compiler", COMPILERS)
def test_large_networks_compile_as_cplusplus(tmp_path, compiler):
    """All kernels, not only those of tiny networks."""
    for number, rate in enumerate((0.3, 0.9, 0.97)):
        for name, text in c_files(make_model(rate, combine="concat"), name="net").texts.items():
            (tmp_path / name).write_text(text)
        command = [compiler, "-x", "c++", "-std=c++17", *STRICT, "-c", tmp_path / "net.c"]
        subprocess.run([*command, "-o", tmp_path / f"{number}.o"], check=True)


@pytest.mark.parametrize("language", ["c", "c++"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_two_recognisers_in_one_program(tmp_path, compiler, language):
    models = {"left": make_model(0.97), "right": make_model(0.9, combine="sum", seed=3)}
    for name, model in models.items():
        files = c_files(
            model, signals_of(model, sequences()), name=name, aim="size", open_ended=name == "left"
        )
        for file, text in files.texts.items():
            (tmp_path / file).write_text(text)
    (tmp_path / "pair.cpp").write_text(PAIR)
    for name in models:
        source = ["-x", language, tmp_path / f"{name}.c", "-c", "-o", tmp_path / f"{name}.o"]
        subprocess.run([compiler, "-O1", *source], check=True)
    parts = [tmp_path / "pair.cpp", *(tmp_path / f"{name}.o" for name in models)]
    subprocess.run([compiler, "-O1", *parts, "-o", tmp_path / "pair"], check=True)
    raw = sequence(33)
    text = f"{len(raw)}\n" + " ".join(f"{v:.9g}" for v in raw.ravel())
    shown = subprocess.run([tmp_path / "pair"], input=text, capture_output=True, text=True, check=True).stdout
    wanted = [reference_scores(m, signals_of(m, [raw]))[0].argmax() for m in models.values()]
    assert shown.splitlines() == [m.class_names[i] for m, i in zip(models.values(), wanted, strict=True)]
