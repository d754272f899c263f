/* gcn_speed: made by bandstop from a network of 37 kept connections; see gcn_speed.h */
#include "gcn_speed.h"

#if defined(__cplusplus)
#define restrict __restrict
#endif
#if defined(__GNUC__)
#define HELPER __attribute__((unused)) static inline
#else
#define HELPER static
#endif


static const float table0[8] = {
    0.375f, 0.375f, 0.375f, 0.375f, 0.375f, 0.375f, 0.0f, 0.0f
};
static const float table1[8] = {
    -0.3125f, -0.3125f, -0.3125f, 0.25f, 0.25f, 0.25f, 0.0f, 0.0f
};
static const float table2[8] = {
    0.125f, 0.125f, 0.125f, -0.0625f, -0.0625f, -0.0625f, 0.0f, 0.0f
};
static const float table3[8] = {
    -0.125f, -0.125f, -0.125f, -0.3125f, -0.3125f, -0.3125f, 0.0f, 0.0f
};
static const float table4[8] = {
    -0.1875f, -0.1875f, -0.1875f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table5[8] = {
    0.375f, 0.375f, 0.375f, 0.375f, 0.375f, 0.375f, 0.375f, 0.375f
};
static const float table6[8] = {
    0.1953125f, -0.078125f, 0.03125f, -0.0234375f, 0.1171875f, -0.15625f, -0.03125f, 0.0234375f
};
static const float table7[8] = {
    -0.078125f, 0.03125f, -0.09375f, 0.0703125f, 0.046875f, -0.0625f, -0.15625f, 0.1171875f
};
static const float table8[8] = {
    0.078125f, -0.03125f, 0.125f, -0.09375f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table9[8] = {
    0.078125f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table10[8] = {
    -0.03125f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table11[8] = {
    0.03125f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table12[8] = {
    0.375f, 0.375f, 0.375f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table13[8] = {
    -0.046875f, 0.0625f, 0.0625f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table14[8] = {
    -0.625f, 0.25f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table15[8] = {
    0.25f, -0.375f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table16[8] = {
    -0.375f, 0.375f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table17[8] = {
    -0.25f, 0.5f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table18[8] = {
    0.5f, -0.125f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table19[8] = {
    -0.125f, -0.625f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table20[8] = {
    -0.625f, 0.125f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};
HELPER float act_relu(float v) { return v > 0.0f ? v : 0.0f; }
HELPER float act_leaky(float v) { return v > 0.0f ? v : 0.01f * v; }
/* exp by range reduction: 2^n times a polynomial on [-ln2/2, ln2/2], relative error below 2e-7. */
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
}
HELPER float act_by(int kind, float v)
{
    return kind == 1 ? act_relu(v) : kind == 2 ? act_leaky(v) : kind == 3 ? act_tanh(v) : kind == 4 ? act_sigmoid(v) : v;
}
#if defined(__clang__)
#define NO_UNROLL _Pragma("clang loop unroll(disable)")
#else
#define NO_UNROLL
#endif
#if defined(__GNUC__)
typedef float lanes __attribute__((vector_size(32)));
typedef float lanes_at __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t lanes_bits __attribute__((vector_size(32)));
#define BROADCAST(a, v) (a) = (lanes){0} + (v)
#define RELU(a) (a) = (lanes)((lanes_bits)(a) & (lanes_bits)((a) > 0.0f))
#define LOAD(a, p) (a) = *(const lanes_at *)(p)
#define STORE(p, a) *(lanes_at *)(p) = (a)
#define ADD(a, w, p) (a) += (w) * *(const lanes_at *)(p)
#define MADD(a, w, v) (a) += (w) * (v)
#define PLUS(a, b) (a) += (b)
#define MADD_AT(a, w, v) (a) += *(const lanes_at *)(w) * (v)
#define MADD_LANES(a, w, ...) (a) += *(const lanes_at *)(w) * (lanes){__VA_ARGS__}
#define BARRIER __asm__ volatile("" ::: "memory")
#define OPAQUE(p) __asm__ volatile("" : "+r"(p))
#else
typedef struct { float f[8]; } lanes;
#define BROADCAST(a, v) do { int l; for (l = 0; l < 8; ++l) (a).f[l] = (v); } while (0)
#define RELU(a) do { int l; for (l = 0; l < 8; ++l) (a).f[l] = act_relu((a).f[l]); } while (0)
#define LOAD(a, p) do { int l; for (l = 0; l < 8; ++l) (a).f[l] = (p)[l]; } while (0)
#define STORE(p, a) do { int l; for (l = 0; l < 8; ++l) (p)[l] = (a).f[l]; } while (0)
#define ADD(a, w, p) do { int l; for (l = 0; l < 8; ++l) (a).f[l] += (w) * (p)[l]; } while (0)
#define MADD(a, w, v) do { int l; for (l = 0; l < 8; ++l) (a).f[l] += (w) * (v).f[l]; } while (0)
#define PLUS(a, b) do { int l; for (l = 0; l < 8; ++l) (a).f[l] += (b).f[l]; } while (0)
#define MADD_AT(a, w, v) do { int l; for (l = 0; l < 8; ++l) (a).f[l] += (w)[l] * (v).f[l]; } while (0)
#define MADD_LANES(a, w, ...) do { const float v[8] = {__VA_ARGS__}; int l; for (l = 0; l < 8; ++l) (a).f[l] += (w)[l] * v[l]; } while (0)
#define BARRIER (void)0
#define OPAQUE(p) (void)0
#endif
HELPER void finish(float *out, int count, int kind)
{
    int i;
    if (kind) for (i = 0; i < count; ++i) out[i] = act_by(kind, out[i]);
}
void gcn_speed_network(const float *restrict signal, float *restrict scores, float *restrict work)
{
    /* nodes: interleaved */
    {
    const float *p0 = signal + 32;
    OPAQUE(p0);
    { lanes a; BARRIER; LOAD(a, table0); MADD_LANES(a, table1, p0[-32], p0[-31], p0[-30], p0[-32], p0[-31], p0[-30], 0.0f, 0.0f); MADD_LANES(a, table2, p0[-24], p0[-23], p0[-22], p0[0], p0[1], p0[2], 0.0f, 0.0f); MADD_LANES(a, table3, p0[-16], p0[-15], p0[-14], p0[8], p0[9], p0[10], 0.0f, 0.0f); MADD_LANES(a, table4, p0[8], p0[9], p0[10], 0.0f, 0.0f, 0.0f, 0.0f, 0.0f); RELU(a); { float part[8]; STORE(part, a); (work + 0)[0] = part[0]; (work + 0)[1] = part[1]; (work + 0)[2] = part[2]; (work + 0)[3] = part[3]; (work + 0)[4] = part[4]; (work + 0)[5] = part[5]; } }
    }
    /* features: interleaved */
    {
    const float *p0 = work + 32;
    OPAQUE(p0);
    { lanes a; BARRIER; LOAD(a, table5); MADD_LANES(a, table6, p0[-32], p0[-32], p0[-29], p0[-32], p0[-30], p0[-32], p0[-28], p0[-31]); MADD_LANES(a, table7, p0[-31], p0[-31], p0[-28], p0[-31], p0[-27], p0[-29], p0[-27], p0[-30]); MADD_LANES(a, table8, p0[-30], p0[-30], p0[-27], p0[-30], 0.0f, 0.0f, 0.0f, 0.0f); MADD_LANES(a, table9, p0[-29], 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f); MADD_LANES(a, table10, p0[-28], 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f); MADD_LANES(a, table11, p0[-27], 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f); RELU(a); STORE((work + 8) + 0, a); }
    { lanes a; BARRIER; LOAD(a, table12); MADD_LANES(a, table13, p0[-30], p0[-32], p0[-29], 0.0f, 0.0f, 0.0f, 0.0f, 0.0f); RELU(a); { float part[8]; STORE(part, a); ((work + 8) + 8)[0] = part[0]; ((work + 8) + 8)[1] = part[1]; ((work + 8) + 8)[2] = part[2]; } }
    }
    /* scores: interleaved */
    {
    const float *p0 = work + 32;
    OPAQUE(p0);
    { lanes a; BARRIER; LOAD(a, table14); MADD_LANES(a, table14, p0[-24], p0[-24], 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f); MADD_LANES(a, table15, p0[-23], p0[-20], 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f); MADD_LANES(a, table16, p0[-16], p0[-19], 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f); MADD_LANES(a, table17, p0[-18], p0[-16], 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f); MADD_LANES(a, table18, p0[-14], p0[-15], 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f); MADD_LANES(a, table19, p0[-22], p0[-22], 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f); MADD_LANES(a, table20, p0[-21], p0[-17], 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f); { float part[8]; STORE(part, a); (scores + 0)[0] = part[0]; (scores + 0)[1] = part[1]; } }
    }
}
static const float front0[3] = {
    1.0f, 2.0f, 0.5f
};
static const uint8_t front1[2] = {
    0, 1
};
static const uint8_t front2[2] = {
    1, 2
};

/* Add `joints` (already relative to the origin) for the frames [from, to) of `length`. A chunk of at least one frame is the
   average over its exact share of the frames; shorter chunks interpolate at their centres. */
static void spread(float *chunks, const float *joints, uint32_t from, uint32_t to, uint32_t length)
{
    uint32_t m, t, v, a;
    for (m = length < 2 ? 0 : from * 2 / length; m < 2; ++m) {
        float weight = 0.0f, *row = chunks + m * 24;
        if (length >= 2) {
            const uint32_t low = m * length, high = low + length, start = from * 2, stop = to * 2;
            if (low >= stop) break;
            weight = (float)((high < stop ? high : stop) - (low > start ? low : start)) / (float)length;
        } else {
            const uint32_t twice = (2 * m + 1) * length, last = 2 * 2 * (length - 1);
            const uint32_t centre = twice < 2 ? 0 : twice - 2 < last ? twice - 2 : last;
            for (t = from; t < to; ++t) {
                const uint32_t at = 2 * 2 * t, far = at > centre ? at - centre : centre - at;
                if (far < 2 * 2) weight += (float)(2 * 2 - far) / (2.0f * 2);
            }
        }
        if (weight > 0.0f)
            for (v = 0; v < 3; ++v)
                for (a = 0; a < 3; ++a) row[a * 8 + v] += weight * joints[3 * v + a];
    }
}

#if GCN_SPEED_OPEN_ENDED
/* Bounded memory for input without a known end: twice as many bins as chunks, halved when they are full. */
static void collect(gcn_speed *r, const float *joints)
{
    float *bin = r->bins + r->full * 9;
    uint32_t i, b;
    for (i = 0; i < 9; ++i) bin[i] = (r->part ? bin[i] : 0.0f) + joints[i];
    if (++r->part < r->span) return;
    r->part = 0;
    if (++r->full < 2 * 2) return;
    for (b = 0; b < 2; ++b)
        for (i = 0; i < 9; ++i) r->bins[b * 9 + i] = r->bins[2 * b * 9 + i] + r->bins[(2 * b + 1) * 9 + i];
    r->full = 2;
    r->span *= 2;
}

static void gather(gcn_speed *r)
{
    uint32_t b, i, bins = r->full + (r->part ? 1u : 0u);
    for (i = 0; i < 48; ++i) r->signal[i] = 0.0f;
    for (b = 0; b < bins; ++b) {
        const uint32_t count = b < r->full ? r->span : r->part;
        float mean[9];
        for (i = 0; i < 9; ++i) mean[i] = r->bins[b * 9 + i] / (float)count;
        spread(r->signal, mean, b * r->span, b * r->span + count, r->frames);
    }
}
#endif

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
    const float x = row[i] - row[j], y = row[8 + i] - row[8 + j], z = row[2 * 8 + i] - row[2 * 8 + j];
    return x * x + y * y + z * z;
}

/* Joints relative to the root, the root to its mean over time, all in units of body size and of each joint's own scale. */
static void normalise(float *chunks)
{
    float size = 0.0f, mean[3] = {0.0f, 0.0f, 0.0f};
    uint32_t m, v, a;
    for (m = 0; m < 2; ++m) {
        const float *row = chunks + m * 24;
        for (a = 0; a < 3; ++a) mean[a] += row[a * 8 + 0] / 2.0f;
        for (v = 0; v < 2; ++v) size += root_of(distance(row, front1[v], front2[v]));
    }
    size = size / 4.0f;
    if (!(size > 1e-9f)) size = 1e-9f;
    for (m = 0; m < 2; ++m)
        for (a = 0; a < 3; ++a) {
            float *row = chunks + m * 24 + a * 8, root = row[0];
            for (v = 0; v < 3; ++v) {
                float s = (row[v] - (v == 0 ? mean[a] : root)) / size * front0[v];
                row[v] = s > 10000.0f ? 10000.0f : s < -10000.0f ? -10000.0f : s;
            }
        }
}

/* Not a number, infinite or beyond 1e9: told by the bits, so that no fast-math setting can assume it away. */
static int beyond(float v)
{
    union { float f; uint32_t i; } bits;
    bits.f = v;
    return (bits.i & 0x7fffffffu) > 0x4e6e6b28u;
}

int gcn_speed_begin(gcn_speed *r, uint32_t length)
{
    uint32_t i;
    for (i = 0; i < 48; ++i) r->signal[i] = 0.0f;
    r->length = r->frames = r->waiting = r->good = r->done = 0;
#if GCN_SPEED_OPEN_ENDED
    r->full = r->part = 0;
    r->span = 1;
    if (length == 0) return 0;
#endif
    if (length == 0 || length > GCN_SPEED_MOST_FRAMES) return GCN_SPEED_BAD_LENGTH;
    r->length = length;
    return 0;
}

int gcn_speed_push_frame(gcn_speed *r, const float joints[9])
{
    uint32_t i, from = r->frames, answer_is_bad = 0;
    const uint32_t most = r->length ? r->length : (GCN_SPEED_OPEN_ENDED ? GCN_SPEED_MOST_FRAMES : 0u);
    if (r->frames >= most || (r->done && r->length)) return GCN_SPEED_TOO_MANY;
    for (i = 0; i < 9; ++i)
        if (beyond(joints[i])) answer_is_bad = 1;
    r->frames += 1;
    if (answer_is_bad && !r->good) {
        r->waiting += 1;
        return GCN_SPEED_BAD_FRAME;
    }
    if (!answer_is_bad) {
        if (!r->good)
            for (i = 0; i < 3; ++i) r->origin[i] = joints[3 * 0 + i];
        for (i = 0; i < 9; ++i) r->last[i] = joints[i] - r->origin[i % 3];
        r->good = 1;
        from -= r->waiting;
        r->waiting = 0;
    }
#if GCN_SPEED_OPEN_ENDED
    if (!r->length) {
        for (; from < r->frames; ++from) collect(r, r->last);
        return answer_is_bad ? GCN_SPEED_BAD_FRAME : 1;
    }
#endif
    spread(r->signal, r->last, from, r->frames, r->length);
    return answer_is_bad ? GCN_SPEED_BAD_FRAME : r->frames == r->length ? 1 : 0;
}

int gcn_speed_classify(gcn_speed *r, float scores[GCN_SPEED_CLASSES])
{
    int i, best = 0;
    if (!r->good || r->frames < r->length) return GCN_SPEED_TOO_FEW;
#if GCN_SPEED_OPEN_ENDED
    if (!r->length) {
        gather(r);
        r->done = 0;
    }
#endif
    if (!r->done) {
        normalise(r->signal);
        r->done = 1;
    }
    gcn_speed_network(r->signal, scores, r->work);
    for (i = 1; i < GCN_SPEED_CLASSES; ++i)
        if (scores[i] > scores[best]) best = i;
    return best;
}

const char *const gcn_speed_class_names[2] = {
    "no",
    "yes"
};
