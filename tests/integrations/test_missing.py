"""Without its package an integration says in one sentence what to install."""

import builtins
import importlib
import sys

import pytest

from bandstop.errors import MissingExtra


@pytest.mark.parametrize("package", ["lightning", "transformers", "accelerate"])
def test_says_what_to_install(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = builtins.__import__

    def without(name: str, *args: object, **kwargs: object) -> object:
        if name.split(".")[0] == package:
            raise ImportError(name)
        return found(name, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.delitem(sys.modules, f"bandstop.integrations.{package}", raising=False)
    with pytest.raises(MissingExtra, match=rf"bandstop\[{package}\]"):
        importlib.import_module(f"bandstop.integrations.{package}")
