"""Loops that the speed emitter calls, written once each in the file; vector types where the compiler has them."""

from __future__ import annotations

import re
from collections.abc import Callable

from bandstop.deploy.c.interleave import WEAVE
from bandstop.deploy.c.turned import TURN

__all__ = ["PLAIN", "SMOOTH", "kernel_text"]

PLAIN = """HELPER float act_relu(float v) { return v > 0.0f ? v : 0.0f; }
HELPER float act_leaky(float v) { return v > 0.0f ? v : 0.01f * v; }"""

SMOOTH = """/* exp by range reduction: 2^n times a polynomial on [-ln2/2, ln2/2], relative error below 2e-7. */
HELPER float exp_of(float v)
{
    union { float f; int32_t i; } scale;
    float n, r, p;
    int32_t k;
    if (!(v > -87.0f)) v = -87.0f;
    if (v > 87.0f) v = 87.0f;
    k = (int32_t)(v * 1.44269504f + (v < 0.0f ? -0.5f : 0.5f));
    n = (float)k;
    r = (v - n * 0.693359375f) + n * 2.12194440e-4f;
    p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    scale.i = (int32_t)((uint32_t)(k + 127) << 23);
    return (p * r * r + r + 1.0f) * scale.f;
}
HELPER float act_sigmoid(float v) { return 1.0f / (1.0f + exp_of(-v)); }
HELPER float act_tanh(float v)
{
    float e, a = v < 0.0f ? -v : v;
    if (a < 0.1f) { /* where 1 - 2/(1 + e) would cancel */
        float s = v * v;
        return v * (1.0f + s * (-0.333333333f + s * (0.133333333f - s * 0.0539682540f)));
    }
    e = 1.0f - 2.0f / (1.0f + exp_of(2.0f * a));
    return v < 0.0f ? -e : e;
}"""

PICK = """HELPER float act_by(int kind, float v)
{
    return kind == 1 ? act_relu(v) : kind == 2 ? act_leaky(v) : kind == 3 ? act_tanh(v) : kind == 4 ? act_sigmoid(v) : v;
}"""

# Rows of few entries: unrolled, their loops need more instructions than the cache holds decoded (a tenth slower at 98 %).
VECTORS = """#if defined(__clang__)
#define ROLLED _Pragma("clang loop unroll(disable)")
#else
#define ROLLED
#endif
#if defined(__GNUC__)
typedef float lanes __attribute__((vector_size(32)));
typedef float lanes_at __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t lanes_bits __attribute__((vector_size(32)));
#define SPREAD(a, v) (a) = (lanes){0} + (v)
#define RELU(a) (a) = (lanes)((lanes_bits)(a) & (lanes_bits)((a) > 0.0f))
#define LOAD(a, p) (a) = *(const lanes_at *)(p)
#define STORE(p, a) *(lanes_at *)(p) = (a)
#define ADD(a, w, p) (a) += (w) * *(const lanes_at *)(p)
#define MADD(a, w, v) (a) += (w) * (v)
#define PLUS(a, b) (a) += (b)
#define MADD_AT(a, w, v) (a) += *(const lanes_at *)(w) * (v)
#define WOVEN_ADD(a, w, ...) (a) += *(const lanes_at *)(w) * (lanes){__VA_ARGS__}
#define SETTLE __asm__ volatile("" ::: "memory")
#define HIDE(p) __asm__ volatile("" : "+r"(p))
#else
typedef struct { float f[8]; } lanes;
#define SPREAD(a, v) do { int l; for (l = 0; l < 8; ++l) (a).f[l] = (v); } while (0)
#define RELU(a) do { int l; for (l = 0; l < 8; ++l) (a).f[l] = act_relu((a).f[l]); } while (0)
#define LOAD(a, p) do { int l; for (l = 0; l < 8; ++l) (a).f[l] = (p)[l]; } while (0)
#define STORE(p, a) do { int l; for (l = 0; l < 8; ++l) (p)[l] = (a).f[l]; } while (0)
#define ADD(a, w, p) do { int l; for (l = 0; l < 8; ++l) (a).f[l] += (w) * (p)[l]; } while (0)
#define MADD(a, w, v) do { int l; for (l = 0; l < 8; ++l) (a).f[l] += (w) * (v).f[l]; } while (0)
#define PLUS(a, b) do { int l; for (l = 0; l < 8; ++l) (a).f[l] += (b).f[l]; } while (0)
#define MADD_AT(a, w, v) do { int l; for (l = 0; l < 8; ++l) (a).f[l] += (w)[l] * (v).f[l]; } while (0)
#define WOVEN_ADD(a, w, ...) do { const float v[8] = {__VA_ARGS__}; int l; for (l = 0; l < 8; ++l) (a).f[l] += (w)[l] * v[l]; } while (0)
#define SETTLE (void)0
#define HIDE(p) (void)0
#endif
HELPER void finish(float *out, int count, int kind)
{
    int i;
    if (kind) for (i = 0; i < count; ++i) out[i] = act_by(kind, out[i]);
}"""

SCAN = """HELPER void scan(float *restrict dst, const float *restrict src, int rows, const place_t *row,
                 const place_t *count, const place_t *column, const float *weight, const float *bias, int kind)
{
    int r, e;
    for (r = 0; r < rows; ++r) {
        float a = bias[r], b = 0.0f, c = 0.0f, d = 0.0f;
        for (e = count[r]; e > 3; e -= 4, weight += 4, column += 4) {
            a += weight[0] * src[column[0]];
            b += weight[1] * src[column[1]];
            c += weight[2] * src[column[2]];
            d += weight[3] * src[column[3]];
        }
        for (; e > 0; --e) a += *weight++ * src[*column++];
        dst[row[r]] = act_by(kind, (a + b) + (c + d));
    }
}"""

ADD_TERM = """HELPER void add_term(float *restrict dst, const float *restrict src, int entries, const place_t *row,
                     const place_t *column, const float *weight, int width, int dst_step, int src_step)
{
    int e, i;
    for (e = 0; e < entries; ++e) {
        float *out = dst + row[e];
        const float *in = src + column[e], w = weight[e];
        for (i = 0; i < width; ++i) out[i * dst_step] += w * in[i * src_step];
    }
}"""


def _rows(n: int, entries: int = 0) -> str:
    """Rows of as many ``entries`` each, written out; or of any number, in two sums so that none waits for the one before."""
    names, others = [f"a{i}" for i in range(n)], [] if entries else [f"b{i}" for i in range(n)]
    add = " ".join(f"ADD({a}, w, in + {8 * i});" for i, a in enumerate(names))
    more = " ".join(f"ADD({b}, u, on + {8 * i});" for i, b in enumerate(others))
    join = " ".join(f"PLUS({a}, {b});" for a, b in zip(names, others, strict=False))
    store = " ".join(f"STORE(out + {8 * i}, {a});" for i, a in enumerate(names))
    relu = " ".join(f"RELU({a});" for a in names)
    loop = f"""for (e = *count++; e > 1; e -= 2, column += 2, weight += 2) {{
            const float *in = src + column[0], *on = src + column[1], w = weight[0], u = weight[1];
            {add}
            {more}
        }}
        if (e) {{
            const float *in = src + *column++, w = *weight++;
            {add}
        }}
        {join}"""
    written = "\n        ".join(
        f"{{ const float *in = src + column[{e}], w = weight[{e}]; {add} }}" for e in range(entries)
    )
    written += f"\n        column += {entries}; weight += {entries};"
    load = " ".join(f"LOAD({a}, bias + {8 * i});" for i, a in enumerate(names))
    spread = " ".join(f"SPREAD({a}, *bias);" for a in names)
    return f"""HELPER void rows{n}{f"of{entries}" if entries else ""}(float *restrict dst, const float *restrict src, int rows, const place_t *row,
                  {"" if entries else "const place_t *count, "}const place_t *column, const float *weight, const float *bias, int step, int kind)
{{
    int r{"" if entries else ", e"};
    ROLLED for (r = 0; r < rows; ++r, bias += step) {{
        float *out = dst + row[r];
        lanes {", ".join(names + others)};
        if (step == 1) {{ {spread} }} else {{ {load} }}
        {" ".join(f"SPREAD({b}, 0.0f);" for b in others)}
        {written if entries else loop}
        if (kind == 1) {{ {relu} }}
        {store}
        if (kind > 1) finish(out, {8 * n}, kind);
    }}
}}"""


def _dense_rows(n: int) -> str:
    """Four rows at a time share each load of the source."""
    names = [f"a{q}{i}" for q in range(4) for i in range(n)]
    load = " ".join(f"LOAD(a{q}{i}, bias + {8 * (n * q + i)});" for q in range(4) for i in range(n))
    add = "\n            ".join(
        f"LOAD(v, in + {8 * i}); " + " ".join(f"MADD(a{q}{i}, weight[{q}], v);" for q in range(4))
        for i in range(n)
    )
    relu = " ".join(f"RELU({a});" for a in names)
    store = "\n        ".join(
        f"out = dst + row[r + {q}]; "
        + " ".join(f"STORE(out + {8 * i}, a{q}{i});" for i in range(n))
        + f" if (kind > 1) finish(out, {8 * n}, kind);"
        for q in range(4)
    )
    return f"""HELPER void dense_rows{n}(float *restrict dst, const float *restrict src, int rows, const place_t *row,
                        int columns, const place_t *column, const float *weight, const float *bias, int kind)
{{
    int r, e;
    for (r = 0; r < rows; r += 4, bias += {32 * n}) {{
        float *out;
        lanes {", ".join(names)}, v;
        {load}
        for (e = 0; e < columns; ++e, weight += 4) {{
            const float *in = src + column[e];
            {add}
        }}
        if (kind == 1) {{ {relu} }}
        {store}
    }}
}}"""


def _block(n: int) -> str:
    """Up to four repeats (``width``) at a time share each load of the weights."""
    together = min(4, 12 // n)
    names = [f"a{q}{i}" for q in range(together) for i in range(n)]

    def body(count: int) -> str:
        load = " ".join(f"LOAD(a{q}{i}, bias + {8 * (n * q + i)});" for q in range(count) for i in range(n))
        add = "\n                ".join(
            f"LOAD(v, w + {8 * i}); " + " ".join(f"MADD(a{q}{i}, x{q}, v);" for q in range(count))
            for i in range(n)
        )
        reads = ", ".join(f"x{q} = in[{q} * src_step]" if q else "x0 = in[0]" for q in range(count))
        relu = " ".join(f"RELU(a{q}{i});" for q in range(count) for i in range(n))
        direct = " ".join(
            f"STORE(dst + {q} * dst_step + {8 * i}, a{q}{i});" for q in range(count) for i in range(n)
        )
        store = f"if (kind == 1) {{ {relu} }}\n            if (whole) {{ {direct} }}\n            else {{\n                "
        store += "\n                ".join(
            " ".join(f"STORE(part + {8 * i}, a{q}{i});" for i in range(n))
            + f" for (i = 0; i < rows; ++i) dst[{q} * dst_step + i] = part[i];"
            for q in range(count)
        )
        store += "\n            }" + "".join(
            f"\n            if (kind > 1) finish(dst + {q} * dst_step, rows, kind);" for q in range(count)
        )
        return f"""            {load}
            for (e = 0; e < columns; ++e, w += {8 * n}) {{
                const float *in = src + column[e];
                const float {reads};
                {add}
            }}
            {store}"""

    many = f"""        for (; p + {together} <= width; p += {together}, bias += {8 * n * together}, dst += {together} * dst_step, src += {together} * src_step) {{
            const float *w = weight;
{body(together)}
        }}
"""
    return f"""HELPER void block{n}(float *restrict dst, int rows, const float *restrict src, int columns, const place_t *column,
                   const float *weight, const float *bias, int width, int dst_step, int src_step, int whole, int kind)
{{
    int p = 0, e, i;
    float part[{8 * n}];
    lanes {", ".join(names)}, v;
    {{
{many if together > 1 else ""}        for (; p < width; ++p, bias += {8 * n}, dst += dst_step, src += src_step) {{
            const float *w = weight;
{body(1)}
        }}
    }}
}}"""


def kernel_text(used: set[str]) -> str:
    """C of the kernels ``used`` and of what they need; ``smooth`` asks for the functions that need an exponential."""
    makers: dict[str, Callable[..., str]] = {"rows": _rows, "dense_rows": _dense_rows, "block": _block}
    shapes = [re.fullmatch(r"([a-z_]+?)(\d+)(?:of(\d+))?", name) for name in sorted(used)]
    numbered = [(str(m[1]), [int(n) for n in m.groups()[1:] if n]) for m in shapes if m]
    parts = [PLAIN]
    if numbered or used & {"scan", "smooth", "vectors", "weave", "turn"}:
        parts += [SMOOTH, PICK]
    if numbered or used & {"vectors", "weave", "turn"}:
        parts.append(VECTORS)
    parts += [makers[name](*sizes) for name, sizes in numbered]
    loops = {"turn": TURN, "scan": SCAN, "add_term": ADD_TERM, "weave": WEAVE}
    return "\n".join(parts + [text for name, text in loops.items() if name in used])
