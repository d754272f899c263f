/* Turn the sequence: in its first chunk joint ${ONE} lies on the x axis then, and joint ${OTHER} above it, where z is zero. */
static void turn(float *chunks)
{
    const float *first = chunks + ${FIRST_MOMENT};
    float p[3], q[3], z[3], sum = 0.0f, along = 0.0f;
    uint32_t m, v, a;
    for (a = 0; a < 3; ++a) {
        p[a] = first[a * ${P} + ${ONE_AT}] * ${ONE_SCALE};
        q[a] = first[a * ${P} + ${OTHER_AT}] * ${OTHER_SCALE};
        sum += p[a] * p[a];
    }
    sum = root_of(sum);
    if (!(sum > ${FLAT})) return;
    for (a = 0; a < 3; ++a) p[a] /= sum;
    for (a = 0; a < 3; ++a) along += q[a] * p[a];
    for (sum = 0.0f, a = 0; a < 3; ++a) {
        q[a] -= along * p[a];
        sum += q[a] * q[a];
    }
    sum = root_of(sum);
    if (!(sum > ${FLAT})) return;
    for (a = 0; a < 3; ++a) q[a] /= sum;
    for (a = 0; a < 3; ++a) z[a] = p[(a + 1) % 3] * q[(a + 2) % 3] - p[(a + 2) % 3] * q[(a + 1) % 3];
    for (m = 0; m < ${M}; ++m)
        for (v = 0; v < ${V}; ++v) {
            float *at = chunks + ${MOMENT} + ${AT};
            const float i = at[0], j = at[${P}], k = at[2 * ${P}];
            at[0] = p[0] * i + p[1] * j + p[2] * k;
            at[${P}] = q[0] * i + q[1] * j + q[2] * k;
            at[2 * ${P}] = z[0] * i + z[1] * j + z[2] * k;
        }
}
