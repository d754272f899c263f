HELPER void block${n}(float *restrict dst, int rows, const float *restrict src, int columns, const index_t *column,
                   const float *weight, const float *bias, int width, int dst_step, int src_step, int whole, int kind)
{
    int p = 0, e, i;
    float part[${values}];
    lanes ${lanes}, v;
    {
${several}        for (; p < width; ++p, bias += ${values}, dst += dst_step, src += src_step) {
            const float *w = weight;
${single}
        }
    }
}
