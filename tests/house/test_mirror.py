"""The tests mirror the rooms, and every module is reached from the tests of its own room."""

import pytest

from tests.house.modules import ROOT, find, modules, python_files, room, taken

# __main__ is run, not imported: tests/test_main.py does so.
ROOMS = sorted({room(name) for name in modules()} - {"", "__main__"})
OTHER_FOLDERS = {"docs", "examples", "house", "tools", "torture"}


def test_every_folder_is_a_room() -> None:
    folders = {path.name for path in (ROOT / "tests").iterdir() if (path / "__init__.py").exists()}
    assert folders - OTHER_FOLDERS <= set(ROOMS)


def test_every_folder_is_a_package() -> None:
    """Else two files of one name in different folders cannot be collected together."""
    folders = {path.parent for path in python_files("tests")}
    assert not [str(folder) for folder in folders if not (folder / "__init__.py").exists()]


def test_no_test_changes_where_modules_are_looked_for() -> None:
    wrong = [path for path in python_files("tests") if "sys.path.in" + "sert" in path.read_text("utf-8")]
    assert not wrong


def _named(name: str) -> set[str]:
    """The modules that tests of a room name: by import, or by a name that they define and a door hands on."""
    files = [*python_files(f"tests/{name}"), *(ROOT / "tests").glob(f"test_{name}.py")]
    steps = [step for path in files for step in taken(path)]
    return {step.module for step in steps} | {find(step.module, step.name) for step in steps if step.name}


@pytest.mark.parametrize("name", ROOMS)
def test_every_module_is_reached(name: str) -> None:
    """A test of the room names the module, or one that imports it."""
    named = _named(name)
    steps = [step for module in named & modules().keys() for step in taken(modules()[module])]
    reached = named | {find(step.module, step.name) if step.name else step.module for step in steps}
    mine = {module for module, path in modules().items() if room(module) == name}
    doors = {module for module in mine if modules()[module].name == "__init__.py"}
    assert not mine - doors - reached
