HELPER void rows${n}(float *restrict dst, const float *restrict src, int rows, const index_t *row,
                  const index_t *count, const index_t *column, const float *weight, const float *bias, int step, int kind)
{
    int r, e;
    NO_UNROLL for (r = 0; r < rows; ++r, bias += step) {
        float *out = dst + row[r];
        lanes ${lanes};
        if (step == 1) { ${broadcast} } else { ${load} }
        ${clear}
        for (e = *count++; e > 1; e -= 2, column += 2, weight += 2) {
            const float *in = src + column[0], *on = src + column[1], w = weight[0], u = weight[1];
            ${add}
            ${add_second}
        }
        if (e) {
            const float *in = src + *column++, w = *weight++;
            ${add}
        }
        ${join}
        if (kind == 1) { ${relu} }
        ${store}
        if (kind > 1) finish(out, ${values}, kind);
    }
}
