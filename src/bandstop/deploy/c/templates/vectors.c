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
