"""Following paths through any model: a torch function mode, and in a file each the surrogates it uses.

``RULES`` maps an operation's name to its surrogate. An operation of your own that works entry by entry needs
one line:

>>> RULES["my_activation"] = RULES["relu"]
>>> _ = RULES.pop("my_activation")
"""

from __future__ import annotations

from bandstop.engine.trace.isolation import untouched
from bandstop.engine.trace.kinds import Kind
from bandstop.engine.trace.nest import every_tensor, map_tensors
from bandstop.engine.trace.rules import attention, elementwise, movement, products, recurrent, reductions
from bandstop.engine.trace.tracer import Rule, Tracer

__all__ = ["RULES", "Kind", "Rule", "Tracer", "every_tensor", "map_tensors", "untouched"]

RULES: dict[str, Rule] = {
    **elementwise.RULES,
    **movement.RULES,
    **reductions.RULES,
    **products.RULES,
    **attention.RULES,
    **recurrent.RULES,
}
