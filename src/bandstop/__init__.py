"""bandstop: train a neural network to an exact budget of connections in a single run."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from bandstop.engine import *  # noqa: F403
    from bandstop.training import Recogniser, load_recogniser  # noqa: F401
else:

    def __getattr__(name: str) -> object:
        """The public names are those of ``bandstop.engine``, and the recogniser of ``bandstop.training``.

        Torch is loaded when one of them is used, not before.
        """
        if (name.startswith("_") and name != "__all__") or find_spec(f"bandstop.{name}"):
            raise AttributeError(f"module 'bandstop' has no attribute {name!r}")  # a room is imported as such
        home = "bandstop.training" if name in ("Recogniser", "load_recogniser") else "bandstop.engine"
        return getattr(import_module(home), name)
