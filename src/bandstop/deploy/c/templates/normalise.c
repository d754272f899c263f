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
    const float x = row[i] - row[j], y = row[${P} + i] - row[${P} + j], z = row[2 * ${P} + i] - row[2 * ${P} + j];
    return x * x + y * y + z * z;
}

/* Joints relative to the root, the root to its mean over time, all in units of body size and of each joint's own scale. */
static void normalise(float *chunks)
{
    float size = 0.0f, mean[3] = {0.0f, 0.0f, 0.0f};
    uint32_t m, v, a;
    for (m = 0; m < ${M}; ++m) {
        const float *row = chunks + ${MOMENT};
        for (a = 0; a < 3; ++a) mean[a] += row[a * ${P} + ${ROOT_AT}] / ${M}.0f;
${SIZE}
    }
    size = ${FINAL};
    if (!(size > 1e-9f)) size = 1e-9f;
    for (m = 0; m < ${M}; ++m)
        for (a = 0; a < 3; ++a) {
            float *row = chunks + ${MOMENT} + a * ${P}, root = row[${ROOT_AT}];
            for (v = 0; v < ${V}; ++v) {
                float s = (row[${AT}] - (v == ${ROOT} ? mean[a] : root)) / size * ${SCALE}[v];
                row[${AT}] = s > ${LIMIT} ? ${LIMIT} : s < -${LIMIT} ? -${LIMIT} : s;
            }
        }
}
