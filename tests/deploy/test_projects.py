"""PlatformIO and CMake projects: they build as they are, answer as PyTorch does, and live side by side."""

from __future__ import annotations

import configparser
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from bandstop.deploy import DeployModel, ExportOptions, export_model
from bandstop.deploy.verify import reference_scores, signals_of
from tests.deploy.nets_for_tests import make_model, sequence, sequences
from tests.needs import needs

CORE = Path(__file__).with_name("arduino_core")
FIRST, SECOND = make_model(0.97), make_model(0.9, seed=1)
RAW = [sequence(length) for length in (5, 40, 90)]


def _exported(folder: Path, model: DeployModel, to: str, name: str) -> Path:
    options = ExportOptions(name=name, aim="size")
    report = export_model(model, to, folder, sequences=sequences(), options=options)
    assert all(file.startswith(f"{name}-{to}/") for file in report["files"])
    return folder / f"{name}-{to}"


def _typed() -> str:
    return "\n".join(f"{len(s)}\n" + " ".join(f"{v:.6f}" for v in s.ravel()) for s in RAW)


def _wanted(model: DeployModel) -> list[str]:
    return [model.class_names[i] for i in reference_scores(model, signals_of(model, RAW)).argmax(1)]


def _answers(program: Path) -> list[str]:
    done = subprocess.run([program], input=_typed(), capture_output=True, text=True, check=True)
    return [line.rsplit(" ", 1)[0] for line in done.stdout.splitlines()]


def _cmake(source: Path, build: Path) -> None:
    for line in (["cmake", "-S", source, "-B", build], ["cmake", "--build", build]):
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@needs("cmake", package="cmake")
def test_a_cmake_project_builds_and_answers(tmp_path: Path) -> None:
    project = _exported(tmp_path, FIRST, "cmake", "gestures")
    _cmake(project, tmp_path / "build")
    assert _answers(tmp_path / "build" / "gestures_example") == _wanted(FIRST)


TWO = """
#include <cstdio>
#include "left.h"
#include "right.h"
static left one;
static right other;
int main() {
  unsigned frames;
  float joints[3 * LEFT_JOINTS], scores[LEFT_CLASSES + RIGHT_CLASSES];
  static_assert(LEFT_JOINTS == RIGHT_JOINTS, "the same frames for both");
  while (std::scanf("%u", &frames) == 1) {
    if (left_begin(&one, frames) < 0 || right_begin(&other, frames) < 0) return 2;
    for (unsigned t = 0; t < frames; ++t) {
      for (float &v : joints) if (std::scanf("%f", &v) != 1) return 2;
      left_push_frame(&one, joints);
      right_push_frame(&other, joints);
    }
    std::printf("%s", left_class_names[left_classify(&one, scores)]);
    std::printf(" %s\\n", right_class_names[right_classify(&other, scores)]);
  }
}
"""


@needs("cmake", package="cmake")
@needs("g++", package="g++")
def test_two_recognisers_in_one_program(tmp_path: Path) -> None:
    for model, name in ((FIRST, "left"), (SECOND, "right")):
        _exported(tmp_path, model, "cmake", name)
    (tmp_path / "two.cpp").write_text(TWO)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(two C CXX)\nset(CMAKE_CXX_STANDARD 11)\n"
        "add_subdirectory(left-cmake)\nadd_subdirectory(right-cmake)\nadd_executable(two two.cpp)\n"
        "target_link_libraries(two PRIVATE left right)\n"
    )
    _cmake(tmp_path, tmp_path / "build")
    done = subprocess.run(
        [tmp_path / "build" / "two"], input=_typed(), capture_output=True, text=True, check=True
    )
    pairs = [f"{one} {other}" for one, other in zip(_wanted(FIRST), _wanted(SECOND), strict=True)]
    assert done.stdout.splitlines() == pairs


@needs("g++", package="g++")
def test_a_platformio_project_builds_on_a_stand_in_core(tmp_path: Path) -> None:
    project = _exported(tmp_path, FIRST, "platformio", "gestures")
    found = {path.relative_to(project).as_posix() for path in project.rglob("*") if path.is_file()}
    library = {f"lib/gestures/{file}" for file in ("library.json", "src/gestures.h", "src/gestures.c")}
    assert found == {"platformio.ini", "src/main.cpp", *library}
    boards = configparser.ConfigParser()
    boards.read(project / "platformio.ini")
    assert f"env:{boards['platformio']['default_envs']}" in boards and boards["env"]["framework"] == "arduino"
    about = json.loads((project / "lib/gestures/library.json").read_text())
    assert about["name"] == "gestures" and about["headers"] == "gestures.h"
    include = [f"-I{project / 'lib/gestures/src'}", f"-I{CORE}"]
    subprocess.run(
        ["gcc", "-O1", *include, "-c", project / "lib/gestures/src/gestures.c", "-o", tmp_path / "c.o"],
        check=True,
    )
    parts = [project / "src/main.cpp", CORE / "core.cpp", tmp_path / "c.o"]
    strict = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-O1"]
    subprocess.run(["g++", *strict, *include, *parts, "-o", tmp_path / "program"], check=True)
    assert _answers(tmp_path / "program") == _wanted(FIRST)


@pytest.mark.parametrize("to", ["cmake", "platformio"])
def test_an_export_again_gives_the_same_files(tmp_path: Path, to: str) -> None:
    first = _exported(tmp_path / "a", FIRST, to, "gestures")
    again = _exported(tmp_path / "b", FIRST, to, "gestures")
    files = sorted(path.relative_to(first) for path in first.rglob("*") if path.is_file())
    assert files and all((first / f).read_bytes() == (again / f).read_bytes() for f in files)
    assert np.unique([len((first / f).read_bytes()) > 0 for f in files]).tolist() == [True]
