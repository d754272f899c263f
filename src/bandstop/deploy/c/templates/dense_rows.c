HELPER void dense_rows${n}(float *restrict dst, const float *restrict src, int rows, const index_t *row,
                        int columns, const index_t *column, const float *weight, const float *bias, int kind)
{
    int r, e;
    for (r = 0; r < rows; r += 4, bias += ${step}) {
        float *out;
        lanes ${lanes}, v;
        ${load}
        for (e = 0; e < columns; ++e, weight += 4) {
            const float *in = src + column[e];
            ${add}
        }
        if (kind == 1) { ${relu} }
        ${store}
    }
}
