"""A file is read in one sitting, a function on one screen."""

import ast

from tests.house.modules import ROOT, python_files, tree

FOLDERS = ("src", "tests", "benchmarks", "examples", "tools", "torture")
MOST_LINES_OF_A_FILE = 300
MOST_LINES_OF_A_FUNCTION = 50


def test_no_file_is_longer_than_300_lines() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in python_files(*FOLDERS)
    }
    long = {name: lines for name, lines in lengths.items() if lines > MOST_LINES_OF_A_FILE}
    assert not long


def test_no_function_is_longer_than_50_lines() -> None:
    long = {}
    for path in python_files(*FOLDERS):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MOST_LINES_OF_A_FUNCTION:
                    long[f"{path.relative_to(ROOT)}:{node.name}"] = lines
    assert not long
