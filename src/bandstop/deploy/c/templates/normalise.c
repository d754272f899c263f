/* Joints relative to the root, the root to its mean over time, all in units of body size and of each joint's own scale. */
static void normalise(float *chunks)
{
    float size = 0.0f, mean[3] = {0.0f, 0.0f, 0.0f};
    uint32_t m, v, a;
    for (m = 0; m < ${M}; ++m) {
        const float *row = chunks + ${MOMENT};
        for (a = 0; a < 3; ++a) mean[a] += row[a * ${P} + ${ROOT_AT}] / ${M}.0f;${SIZE}
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
