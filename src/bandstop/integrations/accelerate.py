"""Accelerate: a pruner needs no wrapper, only its place in checkpoints and the steps it is to count.

```python
model, optimiser, loader = accelerator.prepare(model, optimiser, loader)
watch(accelerator, pruner)
for x, y in loader:
    with accelerator.accumulate(model):
        accelerator.backward(loss(model(x), y) + pruner.penalty())
        optimiser.step()
        optimiser.zero_grad()
        step(accelerator, pruner)
```
"""

from __future__ import annotations

from bandstop.engine.pruner import Pruner
from bandstop.errors import MissingExtra

try:
    from accelerate import Accelerator  # type: ignore[import-untyped,unused-ignore]
except ImportError:
    raise MissingExtra("accelerate", extra="accelerate") from None

__all__ = ["step", "watch"]


def watch(accelerator: Accelerator, pruner: Pruner) -> None:
    """Save and load the pruner's state with ``accelerator.save_state`` and ``load_state``."""
    accelerator.register_for_checkpointing(pruner)


def step(accelerator: Accelerator, pruner: Pruner) -> None:
    """Step if the optimiser did: not while gradients accumulate, nor when a scaled step overflowed."""
    if accelerator.sync_gradients and not accelerator.optimizer_step_was_skipped:
        pruner.step()
