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
