/* exp by range reduction: 2^n times a polynomial on [-ln2/2, ln2/2], relative error below 2e-7. */
HELPER float exp_of(float v)
{
    union { float f; int32_t i; } scale;
    float n, r, p;
    int32_t k;
    if (!(v > -87.0f)) v = -87.0f;
    if (v > 87.0f) v = 87.0f;
    k = (int32_t)(v * 1.44269504f + (v < 0.0f ? -0.5f : 0.5f));
    n = (float)k;
    r = (v - n * 0.693359375f) + n * 2.12194440e-4f;
    p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    scale.i = (int32_t)((uint32_t)(k + 127) << 23);
    return (p * r * r + r + 1.0f) * scale.f;
}
HELPER float act_sigmoid(float v) { return 1.0f / (1.0f + exp_of(-v)); }
HELPER float act_tanh(float v)
{
    float e, a = v < 0.0f ? -v : v;
    if (a < 0.1f) { /* where 1 - 2/(1 + e) would cancel */
        float s = v * v;
        return v * (1.0f + s * (-0.333333333f + s * (0.133333333f - s * 0.0539682540f)));
    }
    e = 1.0f - 2.0f / (1.0f + exp_of(2.0f * a));
    return v < 0.0f ? -e : e;
}
