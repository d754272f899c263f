"""The engine: any ``nn.Module`` to an exact budget in one training. Its door is the public face of
bandstop.
"""

from bandstop.engine.attach.hold import hold
from bandstop.engine.multirate.pruner import MultiRatePruner
from bandstop.engine.pruner import Pruner
from bandstop.engine.recipe import Recipe
from bandstop.engine.trace import trace
from bandstop.errors import BandstopError, BandstopWarning
from bandstop.method.budget import Budget
from bandstop.method.gate import Garrote, Gate, Hard, Logistic, Soft
from bandstop.method.priors import Gaussian, Laplace, Prior, StudentT, Uniform
from bandstop.method.priors_tabulated import Tabulated
from bandstop.method.schedules import Constant, Geometric, Ramp, Schedule, Window

__all__ = [
    "BandstopError",
    "BandstopWarning",
    "Budget",
    "Constant",
    "Garrote",
    "Gate",
    "Gaussian",
    "Geometric",
    "Hard",
    "Laplace",
    "Logistic",
    "MultiRatePruner",
    "Prior",
    "Pruner",
    "Ramp",
    "Recipe",
    "Schedule",
    "Soft",
    "StudentT",
    "Tabulated",
    "Uniform",
    "Window",
    "hold",
    "trace",
]
