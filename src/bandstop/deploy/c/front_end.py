"""C of the front end: raw joints in, frame by frame, chunked and normalised as in training, class out."""

from __future__ import annotations

from string import Template

import numpy as np

from bandstop.deploy.c.motion import motion_code
from bandstop.deploy.c.text import Tables
from bandstop.skeleton.normalise import Normaliser

__all__ = ["SIGNAL_LIMIT", "front_end", "most_frames"]

SIGNAL_LIMIT = 1e4


def most_frames(chunks: int) -> int:
    """The longest sequence whose chunk boundaries are exact in 32-bit integers."""
    return min(1 << 24, (1 << 31) // chunks)


ACCUMULATE = Template("""
/* Add `joints` (already relative to the origin) for the frames [from, to) of `length`. A chunk of at least one frame is the
   average over its exact share of the frames; shorter chunks interpolate at their centres. */
static void spread(float *chunks, const float *joints, uint32_t from, uint32_t to, uint32_t length)
{
    uint32_t m, t, v, a;
    for (m = length < ${M} ? 0 : from * ${M} / length; m < ${M}; ++m) {
        float weight = 0.0f, *row = chunks + m * ${ROW};
        if (length >= ${M}) {
            const uint32_t low = m * length, high = low + length, start = from * ${M}, stop = to * ${M};
            if (low >= stop) break;
            weight = (float)((high < stop ? high : stop) - (low > start ? low : start)) / (float)length;
        } else {
            const uint32_t twice = (2 * m + 1) * length, last = 2 * ${M} * (length - 1);
            const uint32_t centre = twice < ${M} ? 0 : twice - ${M} < last ? twice - ${M} : last;
            for (t = from; t < to; ++t) {
                const uint32_t at = 2 * ${M} * t, far = at > centre ? at - centre : centre - at;
                if (far < 2 * ${M}) weight += (float)(2 * ${M} - far) / (2.0f * ${M});
            }
        }
        if (weight > 0.0f)
            for (v = 0; v < ${V}; ++v)
                for (a = 0; a < 3; ++a) row[a * ${P} + v] += weight * joints[3 * v + a];
    }
}

#if ${NAME}_OPEN_ENDED
/* Bounded memory for input without a known end: twice as many bins as chunks, halved when they are full. */
static void collect(${name} *r, const float *joints)
{
    float *bin = r->bins + r->full * ${V3};
    uint32_t i, b;
    for (i = 0; i < ${V3}; ++i) bin[i] = (r->part ? bin[i] : 0.0f) + joints[i];
    if (++r->part < r->span) return;
    r->part = 0;
    if (++r->full < 2 * ${M}) return;
    for (b = 0; b < ${M}; ++b)
        for (i = 0; i < ${V3}; ++i) r->bins[b * ${V3} + i] = r->bins[2 * b * ${V3} + i] + r->bins[(2 * b + 1) * ${V3} + i];
    r->full = ${M};
    r->span *= 2;
}

static void gather(${name} *r)
{
    uint32_t b, i, bins = r->full + (r->part ? 1u : 0u);
    for (i = 0; i < ${SIGNAL}; ++i) r->signal[i] = 0.0f;
    for (b = 0; b < bins; ++b) {
        const uint32_t count = b < r->full ? r->span : r->part;
        float mean[${V3}];
        for (i = 0; i < ${V3}; ++i) mean[i] = r->bins[b * ${V3} + i] / (float)count;
        spread(r->signal, mean, b * r->span, b * r->span + count, r->frames);
    }
}
#endif
""")

NORMALISE = Template("""
static float root_of(float v) /* square root: a guess from the bits, then Newton */
{
    union { float f; uint32_t i; } y;
    float half = 0.5f * v;
    int k;
    if (!(v > 1e-30f)) return 0.0f;
    y.f = v;
    y.i = 0x5f375a86u - (y.i >> 1);
    for (k = 0; k < 4; ++k) y.f *= 1.5f - half * y.f * y.f;
    return v * y.f;
}

static float distance(const float *row, uint32_t i, uint32_t j)
{
    const float x = row[i] - row[j], y = row[${P} + i] - row[${P} + j], z = row[2 * ${P} + i] - row[2 * ${P} + j];
    return x * x + y * y + z * z;
}

/* Joints relative to the root, the root to its mean over time, all in units of body size and of each joint's own scale. */
static void normalise(float *chunks)
{
    float size = 0.0f, mean[3] = {0.0f, 0.0f, 0.0f};
    uint32_t m, v, a;
    for (m = 0; m < ${M}; ++m) {
        const float *row = chunks + m * ${ROW};
        for (a = 0; a < 3; ++a) mean[a] += row[a * ${P} + ${ROOT}] / ${M}.0f;
${SIZE}
    }
    size = ${FINAL};
    if (!(size > 1e-9f)) size = 1e-9f;
    for (m = 0; m < ${M}; ++m)
        for (a = 0; a < 3; ++a) {
            float *row = chunks + m * ${ROW} + a * ${P}, root = row[${ROOT}];
            for (v = 0; v < ${V}; ++v) {
                float s = (row[v] - (v == ${ROOT} ? mean[a] : root)) / size * ${SCALE}[v];
                row[v] = s > ${LIMIT} ? ${LIMIT} : s < -${LIMIT} ? -${LIMIT} : s;
            }
        }
}
""")

INTERFACE = Template("""
/* Not a number, infinite or beyond 1e9: told by the bits, so that no fast-math setting can assume it away. */
static int beyond(float v)
{
    union { float f; uint32_t i; } bits;
    bits.f = v;
    return (bits.i & 0x7fffffffu) > 0x4e6e6b28u;
}

int ${name}_begin(${name} *r, uint32_t length)
{
    uint32_t i;
    for (i = 0; i < ${SIGNAL}; ++i) r->signal[i] = 0.0f;
    r->length = r->frames = r->waiting = r->good = r->done = 0;
#if ${NAME}_OPEN_ENDED
    r->full = r->part = 0;
    r->span = 1;
    if (length == 0) return 0;
#endif
    if (length == 0 || length > ${NAME}_MOST_FRAMES) return ${NAME}_BAD_LENGTH;
    r->length = length;
    return 0;
}

int ${name}_push_frame(${name} *r, const float joints[${V3}])
{
    uint32_t i, from = r->frames, answer_is_bad = 0;
    const uint32_t most = r->length ? r->length : ${OPEN_MOST};
    if (r->frames >= most || (r->done && r->length)) return ${NAME}_TOO_MANY;
    for (i = 0; i < ${V3}; ++i)
        if (beyond(joints[i])) answer_is_bad = 1;
    r->frames += 1;
    if (answer_is_bad && !r->good) {
        r->waiting += 1;
        return ${NAME}_BAD_FRAME;
    }
    if (!answer_is_bad) {
        if (!r->good)
            for (i = 0; i < 3; ++i) r->origin[i] = joints[3 * ${ROOT} + i];
        for (i = 0; i < ${V3}; ++i) r->last[i] = joints[i] - r->origin[i % 3];
        r->good = 1;
        from -= r->waiting;
        r->waiting = 0;
    }
#if ${NAME}_OPEN_ENDED
    if (!r->length) {
        for (; from < r->frames; ++from) collect(r, r->last);
        return answer_is_bad ? ${NAME}_BAD_FRAME : 1;
    }
#endif
    spread(r->signal, r->last, from, r->frames, r->length);
    return answer_is_bad ? ${NAME}_BAD_FRAME : r->frames == r->length ? 1 : 0;
}

int ${name}_classify(${name} *r, float scores[${NAME}_CLASSES])
{
    int i, best = 0;
    if (!r->good || r->frames < r->length) return ${NAME}_TOO_FEW;
#if ${NAME}_OPEN_ENDED
    if (!r->length) {
        gather(r);
        r->done = 0;
    }
#endif
    if (!r->done) {
        normalise(r->signal);${AFTER}
        r->done = 1;
    }
    ${CALL}
    for (i = 1; i < ${NAME}_CLASSES; ++i)
        if (scores[i] > scores[best]) best = i;
    return best;
}
""")


def front_end(name: str, normaliser: Normaliser, joints: int, pitch: int, call: str, tables: Tables) -> str:
    """C of ``begin``, ``push_frame`` and ``classify``; ``call`` is the statement that runs the network."""
    scale = tables.add("float", 1 / np.array(normaliser.node_scale, dtype=np.float64))
    if normaliser.edges:
        ends = [
            tables.add("uint8_t" if joints < 256 else "uint16_t", side)
            for side in zip(*normaliser.edges, strict=True)
        ]
        bones = len(normaliser.edges)
        size = f"        for (v = 0; v < {bones}; ++v) size += root_of(distance(row, {ends[0]}[v], {ends[1]}[v]));"
        final = f"size / {float(bones * normaliser.chunks)}f"
    else:
        size = f"        for (v = 0; v < {joints}; ++v) size += distance(row, v, {normaliser.root});"
        final = f"root_of(size / {float(joints * normaliser.chunks)}f)"
    values = {
        "name": name,
        "NAME": name.upper(),
        "M": f"{normaliser.chunks}",
        "V": f"{joints}",
        "V3": f"{3 * joints}",
        "P": f"{pitch}",
        "ROW": f"{3 * pitch}",
        "SIGNAL": f"{pitch * normaliser.values}",
        "ROOT": f"{normaliser.root}",
        "SIZE": size,
        "FINAL": final,
        "SCALE": scale,
        "LIMIT": f"{SIGNAL_LIMIT}f",
        "OPEN_MOST": f"({name.upper()}_OPEN_ENDED ? {name.upper()}_MOST_FRAMES : 0u)",
        "CALL": call,
    }
    motion, values["AFTER"] = "", ""
    if normaliser.duration is not None:
        motion = motion_code(normaliser.duration, values)
        values["AFTER"] = "\n        add_motion(r->signal, r->frames);"
    ahead = "".join(part.substitute(values) for part in (ACCUMULATE, NORMALISE))
    return ahead + motion + INTERFACE.substitute(values)
