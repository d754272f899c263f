static void take(${name}_live *s, const float *joints) /* 0: the last frame once more; into the sum of ${BLOCK} frames */
{
    float *sum = s->sums + s->frames / ${BLOCK}u % ${BLOCKS}u * (3 * ${NAME}_JOINTS), *last = s->recogniser.last;
    const float *origin = s->recogniser.origin;
    const uint32_t first = s->frames % ${BLOCK}u == 0;
    uint32_t i;
    if (s->frames == 0)
        for (i = 0; i < 3; ++i) s->recogniser.origin[i] = joints[3 * ${ROOT} + i];
    if (joints)
        for (i = 0; i < ${NAME}_JOINTS; ++i) {
            last[3 * i] = joints[3 * i] - origin[0];
            last[3 * i + 1] = joints[3 * i + 1] - origin[1];
            last[3 * i + 2] = joints[3 * i + 2] - origin[2];
        }
    for (i = 0; i < 3 * ${NAME}_JOINTS; ++i) sum[i] = first ? last[i] : sum[i] + last[i];
}

${TABLES}static void fill(${name}_live *s) /* a chunk of the window is the mean of ${GROUP} sums, from the oldest on */
{
    uint32_t m, g, v, a, from = s->frames / ${BLOCK}u % ${BLOCKS}u;
    for (m = 0; m < ${NAME}_CHUNKS; ++m) {
        float *row = s->recogniser.signal + ${MOMENT};
        for (g = 0; g < ${GROUP}; ++g) {
            const float *sum = s->sums + from * (3 * ${NAME}_JOINTS);
            for (a = 0; a < 3; ++a)
                for (v = 0; v < ${NAME}_JOINTS; ++v)
                    row[a * ${PITCH} + ${AT}] = (g ? row[a * ${PITCH} + ${AT}] : 0.0f) + sum[3 * v + a] * ${SHARE};
            if (++from == ${BLOCKS}u) from = 0;
        }
    }
    s->recogniser.frames = ${NAME}_LIVE_LENGTH;
    s->recogniser.good = 1;
    s->recogniser.done = 0;
}
