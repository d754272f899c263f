HELPER void rows${n}of${entries}(float *restrict dst, const float *restrict src, int rows, const index_t *row,
                  const index_t *column, const float *weight, const float *bias, int step, int kind)
{
    int r;
    NO_UNROLL for (r = 0; r < rows; ++r, bias += step) {
        float *out = dst + row[r];
        lanes ${lanes};
        if (step == 1) { ${broadcast} } else { ${load} }
        ${written}
        column += ${entries}; weight += ${entries};
        if (kind == 1) { ${relu} }
        ${store}
        if (kind > 1) finish(out, ${values}, kind);
    }
}
