"""bandstop: train a neural network to an exact budget of connections in a single run."""

from bandstop.budget import Budget
from bandstop.errors import BandstopError
from bandstop.pruner import Pruner
from bandstop.recipe import Recipe
from bandstop.topology import trace

__all__ = ["BandstopError", "Budget", "Pruner", "Recipe", "__version__", "trace"]

__version__ = "0.1.0"
