"""Loops that the speed emitter calls, each written once in the file.

Their texts are the files in ``templates``.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from bandstop.deploy.c.text import filled
from bandstop.deploy.plan import LANES

__all__ = ["kernel_text"]


def _each(names: list[str], text: str) -> str:
    """One macro call per vector: ``{a}`` is its name, ``{at}`` the offset of its first value."""
    return " ".join(text.format(a=name, at=LANES * i) for i, name in enumerate(names))


def _rows(n: int, entries: int = 0) -> str:
    """Rows of ``entries`` weights each, written out.

    Or of any number, in two sums so that none waits for another.
    """
    names = [f"a{i}" for i in range(n)]
    others = [f"b{i}" for i in range(n)]
    add = _each(names, "ADD({a}, w, in + {at});")
    values = {
        "n": n,
        "values": LANES * n,
        "broadcast": _each(names, "BROADCAST({a}, *bias);"),
        "load": _each(names, "LOAD({a}, bias + {at});"),
        "relu": _each(names, "RELU({a});"),
        "store": _each(names, "STORE(out + {at}, {a});"),
    }
    if entries:
        written = (
            f"{{ const float *in = src + column[{e}], w = weight[{e}]; {add} }}" for e in range(entries)
        )
        return filled(
            "rows_of.c", lanes=", ".join(names), entries=entries, written="\n        ".join(written), **values
        )
    return filled(
        "rows.c",
        lanes=", ".join(names + others),
        clear=_each(others, "BROADCAST({a}, 0.0f);"),
        add=add,
        add_second=_each(others, "ADD({a}, u, on + {at});"),
        join=" ".join(f"PLUS({a}, {b});" for a, b in zip(names, others, strict=True)),
        **values,
    )


def _dense_rows(n: int) -> str:
    """Four rows at a time share each load of the source."""
    names = [f"a{q}{i}" for q in range(4) for i in range(n)]
    add = (
        f"LOAD(v, in + {LANES * i}); " + " ".join(f"MADD(a{q}{i}, weight[{q}], v);" for q in range(4))
        for i in range(n)
    )
    store = (
        f"out = dst + row[r + {q}]; "
        + " ".join(f"STORE(out + {LANES * i}, a{q}{i});" for i in range(n))
        + f" if (kind > 1) finish(out, {LANES * n}, kind);"
        for q in range(4)
    )
    return filled(
        "dense_rows.c",
        n=n,
        step=4 * LANES * n,
        lanes=", ".join(names),
        load=_each(names, "LOAD({a}, bias + {at});"),
        add="\n            ".join(add),
        relu=_each(names, "RELU({a});"),
        store="\n        ".join(store),
    )


def _block(n: int) -> str:
    """Up to four repeats (``width``) at a time share each load of the weights."""
    together = min(4, 12 // n)
    several = filled(
        "block_several.c", count=together, step=LANES * n * together, body=_block_body(n, together)
    )
    return filled(
        "block.c",
        n=n,
        values=LANES * n,
        lanes=", ".join(f"a{q}{i}" for q in range(together) for i in range(n)),
        several=f"{several}\n" if together > 1 else "",
        single=_block_body(n, 1),
    )


def _block_body(n: int, count: int) -> str:
    """The sums of ``count`` repeats, each of ``n`` vectors."""
    pairs = [(q, i) for q in range(count) for i in range(n)]
    add = (
        f"LOAD(v, w + {LANES * i}); " + " ".join(f"MADD(a{q}{i}, x{q}, v);" for q in range(count))
        for i in range(n)
    )
    store_part = (
        " ".join(f"STORE(part + {LANES * i}, a{q}{i});" for i in range(n))
        + f" for (i = 0; i < rows; ++i) dst[{q} * dst_step + i] = part[i];"
        for q in range(count)
    )
    finish = (f"\n            if (kind > 1) finish(dst + {q} * dst_step, rows, kind);" for q in range(count))
    return filled(
        "block_body.c",
        values=LANES * n,
        load=" ".join(f"LOAD(a{q}{i}, bias + {LANES * (n * q + i)});" for q, i in pairs),
        reads=", ".join(f"x{q} = in[{q} * src_step]" if q else "x0 = in[0]" for q in range(count)),
        add="\n                ".join(add),
        relu=" ".join(f"RELU(a{q}{i});" for q, i in pairs),
        store=" ".join(f"STORE(dst + {q} * dst_step + {LANES * i}, a{q}{i});" for q, i in pairs),
        store_part="\n                ".join(store_part),
        finish="".join(finish),
    )


def kernel_text(used: set[str]) -> str:
    """C of the kernels ``used`` and of what they need.

    ``smooth`` asks for the functions that need an exponential.
    """
    makers: dict[str, Callable[..., str]] = {"rows": _rows, "dense_rows": _dense_rows, "block": _block}
    shapes = [re.fullmatch(r"([a-z_]+?)(\d+)(?:of(\d+))?", name) for name in sorted(used)]
    numbered = [(str(m[1]), [int(n) for n in m.groups()[1:] if n]) for m in shapes if m]
    parts = [filled("relu.c")]
    if numbered or used & {"scan", "smooth", "vectors", "interleave", "transpose"}:
        parts += [filled("smooth.c"), filled("activation.c")]
    if numbered or used & {"vectors", "interleave", "transpose"}:
        parts.append(filled("vectors.c"))
    parts += [makers[name](*sizes) for name, sizes in numbered]
    loops = ("transpose", "scan", "add_term", "interleave")
    return "\n".join(parts + [filled(f"{name}.c") for name in loops if name in used])
