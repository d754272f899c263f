"""Modules of a checked-out reference implementation, imported from where they are and nowhere else."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any


class _Nothing(type):
    """A class whose every attribute is such a class: what an unused import needs."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing(name, (), {})


class _Absent(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing(name, (), {})


class _StandIns(MetaPathFinder, Loader):
    """Empty modules in place of packages that the reference imports but the borrowed part never uses."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        wanted = any(name == stand_in or name.startswith(stand_in + ".") for stand_in in self.names)
        return ModuleSpec(name, self, is_package=True) if wanted else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Absent(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


@contextmanager
def _place(root: Path, stand_ins: Sequence[str], given: Mapping[str, ModuleType]) -> Iterator[None]:
    before = dict(sys.modules)
    finder = _StandIns(stand_ins)
    sys.modules.update(given)
    sys.meta_path.insert(0, finder)
    sys.path.insert(0, str(root))
    try:
        yield
    finally:
        sys.path.remove(str(root))
        sys.meta_path.remove(finder)
        # References use the same top-level names ("utils", "args"): each must find its own.
        for name in set(sys.modules) - set(before):
            if not str(getattr(sys.modules[name], "__file__", None) or root).startswith(str(root)):
                continue
            del sys.modules[name]


def borrow(
    root: Path,
    *names: str,
    stand_ins: Sequence[str] = (),
    given: Mapping[str, ModuleType] | None = None,
) -> list[ModuleType]:
    """The named modules of the reference at ``root``."""
    with _place(root, stand_ins, given or {}):
        return [importlib.import_module(name) for name in names]


def command_line(**values: Any) -> ModuleType:
    """An ``args`` module in place of one that would read our command line."""
    module = ModuleType("args")
    module.args = type("Arguments", (), values)()  # type: ignore[attr-defined]
    return module


def commit(root: Path) -> str:
    """The commit that is checked out at ``root``."""
    return subprocess.run(
        ["git", "-C", str(root), "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
