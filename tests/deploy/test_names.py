"""Names that users choose: written where that is safe, refused in one sentence where it is not."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bandstop.deploy import ExportOptions, export_model
from bandstop.deploy.c.text import c_comment, c_string
from bandstop.deploy.run.native import Native
from bandstop.errors import ExportError
from tests.deploy.nets_for_tests import c_files, make_model, sequences

MODEL = make_model(0.98)
HOSTILE = ["../../evil", "", "a/b", "a\\b", "tab\there", "line\nbreak", "null\0", ".hidden", "-rf", "x" * 80]
ODD = (
    "a /* b",
    "*/ int x; /*",
    "//",
    "??/",
    '"quoted"',
    "back\\slash",
    "\x07bell",
    "größe",
    "<b>bold</b>",
    "%s%n",
    "",
)


@pytest.mark.parametrize("to", ["c", "arduino", "platformio", "cmake", "wasm", "onnx", "bytes"])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_write_nothing_anywhere(tmp_path, to, name):
    folder = tmp_path / "deep" / "er" / "out"
    with pytest.raises(ExportError, match="choose another name") as found:
        export_model(MODEL, to, folder, sequences=sequences(), options=ExportOptions(name=name))
    assert "\n" not in str(found.value) and str(found.value).isprintable()
    assert not list(tmp_path.rglob("*"))


@pytest.mark.parametrize("number", ["float32", "int8", "int16"])
@pytest.mark.parametrize("name", ["My Net", "9net", "größe", "Net"])
def test_c_names_get_the_same_sentence_in_every_number(number, name):
    with pytest.raises(ExportError, match="a C name has lower-case letters, digits and underscores, found"):
        c_files(MODEL, name=name, number=number)


@pytest.mark.parametrize("name", ["float", "class", "main", "state", "layer", "restrict", "joints"])
def test_words_that_mean_something_else_are_refused(name):
    with pytest.raises(ExportError, match="has a meaning in C or in the exported file"):
        c_files(MODEL, name=name)


@pytest.mark.parametrize("options", [{}, {"aim": "size"}])
def test_odd_names_of_classes_and_joints_compile(options, compiler):
    classes = (*ODD, *(f"c{i}" for i in range(45 - len(ODD))))
    joints = (*ODD, *(f"j{i}" for i in range(21 - len(ODD))))
    model = replace(MODEL, class_names=classes, joint_names=joints, units="mm */ #error /*")
    files = c_files(model, name="net", **options)
    Native(files, compiler=(compiler,), flags=("-O0",))
    assert all(c.isprintable() or c == "\n" for c in files.header)


def test_odd_names_come_back_from_the_report(tmp_path):
    classes = (*ODD, *(f"c{i}" for i in range(45 - len(ODD))))
    model = replace(MODEL, class_names=classes)
    options = ExportOptions(name="a.b-c_D")
    export_model(model, "onnx", tmp_path, sequences=sequences(), options=options)
    assert {path.name for path in tmp_path.iterdir()} >= {"a.b-c_D.onnx", "a.b-c_D-onnx.json"}
    json.loads((tmp_path / "a.b-c_D-onnx.json").read_text())


def test_comments_neither_end_nor_nest():
    for text in (*ODD, "/*/", "*/*/", "////", "a\\"):
        assert not any(pair in c_comment(text) for pair in ("*/", "/*", "??", "//", "\\\n"))
    assert c_string("??/\\") == '"\\077\\077/\\134"'
