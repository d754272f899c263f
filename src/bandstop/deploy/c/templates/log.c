static float log_of(uint32_t n) /* natural logarithm: halved to between 2/3 and 4/3, then a series */
{
    float x = (float)n, whole = 0.0f, z, q;
    for (; x > 1.3333333f; x *= 0.5f) whole += 0.69314718f;
    z = (x - 1.0f) / (x + 1.0f);
    q = z * z;
    return whole + 2.0f * z * (1.0f + q * (0.33333333f + q * (0.2f + q * 0.14285714f)));
}
