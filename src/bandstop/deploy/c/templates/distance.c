static float distance(const float *row, uint32_t i, uint32_t j)
{
    const float x = row[i] - row[j], y = row[${P} + i] - row[${P} + j], z = row[2 * ${P} + i] - row[2 * ${P} + j];
    return x * x + y * y + z * z;
}
