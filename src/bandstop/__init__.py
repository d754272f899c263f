"""bandstop: train a neural network to an exact budget of connections in a single run."""

from bandstop.engine.pruner import Pruner
from bandstop.engine.recipe import Recipe
from bandstop.engine.trace import trace
from bandstop.errors import BandstopError
from bandstop.method.budget import Budget

__all__ = ["BandstopError", "Budget", "Pruner", "Recipe", "__version__", "trace"]

__version__ = "0.1.0"
