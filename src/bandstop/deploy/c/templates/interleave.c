#if defined(__GNUC__)
#define GATHER(s, p, q) ((lanes){(s)[(p) & 65535u], (s)[(p) >> 16 & 65535u], (s)[(p) >> 32 & 65535u], (s)[(p) >> 48], \
    (s)[(q) & 65535u], (s)[(q) >> 16 & 65535u], (s)[(q) >> 32 & 65535u], (s)[(q) >> 48]})
#else
HELPER lanes gather_lanes(const float *s, uint64_t p, uint64_t q)
{
    lanes v;
    int l;
    for (l = 0; l < 4; ++l, p >>= 16, q >>= 16) { v.f[l] = s[p & 65535u]; v.f[l + 4] = s[q & 65535u]; }
    return v;
}
#define GATHER(s, p, q) gather_lanes(s, p, q)
#endif
HELPER void interleave(float *restrict dst, int count, const float *src, const uint16_t *depth, const uint64_t *offset,
                       const float *weight, const float *bias, int kind)
{
    for (; count > 0; count -= 8, bias += 8, dst += 8) {
        lanes a, v;
        int d;
        LOAD(a, bias);
        for (d = *depth++; d > 0; --d, offset += 2, weight += 8) {
            v = GATHER(src, offset[0], offset[1]);
            MADD_AT(a, weight, v);
        }
        if (kind == 1) RELU(a);
        if (count >= 8) { STORE(dst, a); if (kind > 1) finish(dst, 8, kind); }
        else {
            float part[8];
            STORE(part, a);
            for (d = 0; d < count; ++d) dst[d] = act_by(kind, part[d]);
        }
    }
}
