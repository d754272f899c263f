"""The rooms of the package: what lies in its root, and what one module may take from another."""

import pytest

from tests.house.modules import ROOT, exported, modules, room, taken

ROOMS = sorted({room(name) for name in modules()} - {""})


def test_only_the_public_face_lies_in_the_root() -> None:
    package = ROOT / "src" / "bandstop"
    files = {path.name for path in package.iterdir() if path.is_file()}
    assert files == {"__init__.py", "__main__.py", "errors.py", "files.py", "py.typed"}


@pytest.mark.parametrize("name", ROOMS)
def test_imports_take_only_what_all_names(name: str) -> None:
    """``__all__`` is a contract: a name that it does not hold is its module's own business."""
    private = [
        f"{step.file}:{step.line} takes {step.name} from {step.module}"
        for module, path in modules().items()
        if room(module) == name
        for step in taken(path)
        if step.name and not step.name.startswith("__") and step.name not in exported(step.module)
    ]
    assert not private, "\n".join(private)
