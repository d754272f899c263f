"""One workspace for tensors that are not needed at the same time."""

from __future__ import annotations

from bandstop.deploy.ir.program import Affine, Program

__all__ = ["workspace"]


def workspace(program: Program, *, output: bool) -> tuple[dict[str, int], int]:
    """The offset of each tensor, and how many values all of them take.

    ``output``: the scores get an offset too.

    A tensor is needed from the operation that writes it to the last that reads it. The largest come first,
    each at the lowest offset that is free for all that time.
    """
    spans: dict[str, tuple[int, int]] = {}
    for time, operation in enumerate(program.operations):
        spans[operation.dst] = (time, time)
        sources = {t.src for t in operation.terms} if isinstance(operation, Affine) else {operation.src}
        for src in sources & spans.keys():
            spans[src] = (spans[src][0], time)
    if not output:
        spans.pop(program.output, None)
    offsets: dict[str, int] = {}
    for name in sorted(spans, key=lambda n: -program.sizes[n]):
        first, last = spans[name]
        taken = sorted(
            (offsets[other], offsets[other] + program.sizes[other])
            for other in offsets
            if spans[other][0] <= last and spans[other][1] >= first
        )
        start = 0
        for low, high in taken:
            if start + program.sizes[name] <= low:
                break
            start = max(start, high)
        offsets[name] = start
    return offsets, max((offsets[n] + program.sizes[n] for n in offsets), default=0)
