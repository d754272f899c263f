HELPER void add_term(float *restrict dst, const float *restrict src, int entries, const index_t *row,
                     const index_t *column, const float *weight, int width, int dst_step, int src_step)
{
    int e, i;
    for (e = 0; e < entries; ++e) {
        float *out = dst + row[e];
        const float *in = src + column[e], w = weight[e];
        for (i = 0; i < width; ++i) out[i * dst_step] += w * in[i * src_step];
    }
}
