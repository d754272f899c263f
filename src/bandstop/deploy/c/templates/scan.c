HELPER void scan(float *restrict dst, const float *restrict src, int rows, const index_t *row,
                 const index_t *count, const index_t *column, const float *weight, const float *bias, int kind)
{
    int r, e;
    for (r = 0; r < rows; ++r) {
        float a = bias[r], b = 0.0f, c = 0.0f, d = 0.0f;
        for (e = count[r]; e > 3; e -= 4, weight += 4, column += 4) {
            a += weight[0] * src[column[0]];
            b += weight[1] * src[column[1]];
            c += weight[2] * src[column[2]];
            d += weight[3] * src[column[3]];
        }
        for (; e > 0; --e) a += *weight++ * src[*column++];
        dst[row[r]] = act_by(kind, (a + b) + (c + d));
    }
}
