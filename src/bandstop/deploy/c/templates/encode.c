static void encode(const float *from, int16_t *to)
{
    int i;
    for (i = 0; i < ${size}; ++i) {
        float v = from[i] * ${scale};
        v = v > 32767.0f ? 32767.0f : v < -32767.0f ? -32767.0f : v;
        to[i] = (int16_t)(v < 0.0f ? v - 0.5f : v + 0.5f);
    }
}
