static float power_of(float x) /* e to the x, of x up to 0: 2^k times a series of the rest */
{
    union { float f; uint32_t i; } power;
    float rest;
    int32_t k;
    if (!(x > -80.0f)) return 0.0f;
    k = (int32_t)(x * 1.44269504f - 0.5f);
    rest = x - (float)k * 0.69314718f;
    power.i = (uint32_t)(k + 127) << 23;
    return power.f * (1.0f + rest * (1.0f + rest * (0.5f + rest * (0.16666667f + rest * (0.041666667f
        + rest * (0.0083333333f + rest * 0.0013888889f))))));
}

int ${name}_answer(const float scores[${NAME}_CLASSES], float *confidence)
{
    float top = scores[0], sum = 0.0f, likely;
    int i, best = ${FIRST};
    for (i = 1; i < ${NAME}_CLASSES; ++i)
        if (scores[i] > top) top = scores[i];
    for (i = 0; i < ${NAME}_CLASSES; ++i) {
        sum += power_of((scores[i] - top) * ${PER_TEMPERATURE});
        if (i != ${NONE_CLASS} && scores[i] > scores[best]) best = i;
    }
    likely = power_of((scores[best] - top) * ${PER_TEMPERATURE}) / sum;
    *confidence = likely >= ${NAME}_THRESHOLD ? likely : 1.0f - likely;
    return likely >= ${NAME}_THRESHOLD ? best : -1;
}
