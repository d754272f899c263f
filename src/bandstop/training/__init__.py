"""Training recognisers: the loop, its config, checkpoints and run folders."""

from importlib import import_module
from typing import TYPE_CHECKING

from bandstop.errors import MissingExtra

if TYPE_CHECKING:
    from bandstop.training.model_file import Recogniser, load_recogniser

__all__ = ["Recogniser", "load_recogniser"]


def __getattr__(name: str) -> object:
    """The names of the door load torch when they are used: a help text reads the settings without it."""
    if name not in __all__:
        raise AttributeError(f"module 'bandstop.training' has no attribute {name!r}")
    try:
        return getattr(import_module("bandstop.training.model_file"), name)
    except ModuleNotFoundError as error:
        raise MissingExtra(str(error.name), extra="app") from None
