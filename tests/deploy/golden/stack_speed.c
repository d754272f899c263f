/* stack_speed: made by bandstop from a network of 25 kept connections; see stack_speed.h */
#include "stack_speed.h"

#if defined(__cplusplus)
#define restrict __restrict
#endif
#if defined(__GNUC__)
#define HELPER __attribute__((unused)) static inline
#else
#define HELPER static
#endif


static const float table0[8] = {
    0.0625f, 0.0625f, 0.25f, 0.25f, 0.0625f, 0.5f, 0.5f, 0.25f
};
static const float table1[8] = {
    -0.3125f, -0.3125f, 0.125f, 0.125f, 0.125f, 0.25f, 0.25f, 0.125f
};
static const float table2[8] = {
    0.125f, 0.125f, 0.0625f, 0.0625f, -0.125f, -0.0625f, -0.0625f, 0.0625f
};
static const float table3[8] = {
    -0.125f, -0.125f, -0.1875f, -0.1875f, -0.1875f, -0.3125f, -0.3125f, -0.1875f
};
static const float table4[8] = {
    -0.1875f, -0.1875f, 0.25f, 0.25f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table5[8] = {
    0.0625f, 0.5f, 0.25f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table6[8] = {
    -0.3125f, -0.0625f, -0.1875f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table7[8] = {
    0.125f, -0.3125f, 0.25f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table8[8] = {
    -0.625f, 0.25f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table9[8] = {
    0.25f, 0.125f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table10[8] = {
    -0.25f, -0.375f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table11[8] = {
    -0.375f, 0.5f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table12[8] = {
    0.5f, 0.375f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table13[8] = {
    -0.125f, -0.125f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};
static const float table14[8] = {
    -0.625f, -0.625f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
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
void stack_speed_network(const float *restrict signal, float *restrict scores, float *restrict work)
{
    /* layer1: interleaved */
    {
    const float *p0 = signal + 32;
    OPAQUE(p0);
    { lanes a; BARRIER; LOAD(a, table0); MADD_LANES(a, table1, p0[-32], p0[-31], p0[-32], p0[-31], p0[-32], p0[-32], p0[-31], p0[-30]); MADD_LANES(a, table2, p0[-31], p0[-30], p0[-28], p0[-27], p0[-31], p0[-27], p0[-26], p0[-26]); MADD_LANES(a, table3, p0[-30], p0[-29], p0[-27], p0[-26], p0[-27], p0[-26], p0[-25], p0[-25]); MADD_LANES(a, table4, p0[-26], p0[-25], p0[-26], p0[-25], 0.0f, 0.0f, 0.0f, 0.0f); RELU(a); STORE(work + 0, a); }
    { lanes a; BARRIER; LOAD(a, table5); MADD_LANES(a, table6, p0[-30], p0[-28], p0[-28], 0.0f, 0.0f, 0.0f, 0.0f, 0.0f); MADD_LANES(a, table7, p0[-29], p0[-27], p0[-27], 0.0f, 0.0f, 0.0f, 0.0f, 0.0f); RELU(a); { float part[8]; STORE(part, a); (work + 8)[0] = part[0]; (work + 8)[1] = part[1]; (work + 8)[2] = part[2]; } }
    }
    /* scores: interleaved */
    {
    const float *p0 = work + 32;
    OPAQUE(p0);
    { lanes a; BARRIER; LOAD(a, table8); MADD_LANES(a, table8, p0[-28], p0[-28], 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f); MADD_LANES(a, table9, p0[-32], p0[-24], 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f); MADD_LANES(a, table10, p0[-31], p0[-23], 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f); MADD_LANES(a, table11, p0[-27], p0[-27], 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f); MADD_LANES(a, table12, p0[-26], p0[-22], 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f); MADD_LANES(a, table13, p0[-29], p0[-30], 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f); MADD_LANES(a, table14, p0[-25], p0[-29], 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f); { float part[8]; STORE(part, a); (scores + 0)[0] = part[0]; (scores + 0)[1] = part[1]; } }
    }
}
const char *const stack_speed_class_names[2] = {
    "no",
    "yes"
};
