/* After the places of each chunk, what else it holds. */
static void add_parts(float *signal${FRAMES})
{
    uint32_t m, v${AXIS};${LASTING}
    for (m = 0; m < ${M}; ++m) {
        float *row = signal + ${MOMENT};
        for (v = 0; v < ${V}; ++v) {
${EACH}
        }
    }
}
