"""The modules of the package as syntax trees, and what each of them takes from the others.
Nothing is imported.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["ROOT", "Taken", "exported", "find", "modules", "python_files", "room", "taken", "tree"]

ROOT = Path(__file__).parents[2]
PACKAGE = "bandstop"


@dataclass(frozen=True)
class Taken:
    """One name that a file imports from the package;
    ``name`` is empty where the module itself is imported.
    """

    file: str
    line: int
    module: str
    name: str


def python_files(*folders: str) -> list[Path]:
    """All Python files below folders of the repository."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in python_files(f"src/{PACKAGE}"):
        parts = path.relative_to(ROOT / "src").with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def tree(path: Path) -> ast.Module:
    """A file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def room(module: str) -> str:
    """The room that a module stands in; the root's own files are rooms by themselves."""
    return [*module.split("."), ""][1]


@cache
def exported(module: str) -> frozenset[str]:
    """The names in a module's ``__all__``; none where it has none."""
    for node in tree(modules()[module]).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            assert isinstance(node, ast.Assign)
            return frozenset(ast.literal_eval(node.value))
    return frozenset()


def taken(path: Path) -> list[Taken]:
    """What a file imports from the package, wherever in the file the import stands."""
    found = []
    file = str(path.relative_to(ROOT))
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == PACKAGE:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                is_module = whole in modules()
                found.append(
                    Taken(file, node.lineno, *((whole, "") if is_module else (node.module, alias.name)))
                )
        elif isinstance(node, ast.Import):
            found += [
                Taken(file, node.lineno, alias.name, "") for alias in node.names if alias.name in modules()
            ]
    return found


def find(module: str, name: str, seen: frozenset[str] = frozenset()) -> str:
    """The module that defines a name, followed through the doors that hand it on."""
    for step in taken(modules()[module]):
        if step.name == name and step.module != module and step.module not in seen:
            return find(step.module, name, seen | {module})
        if step.name == "*" and name in exported(step.module):
            return find(step.module, name, seen | {module})
        if not step.name and step.module == f"{module}.{name}":
            return step.module
    return module
