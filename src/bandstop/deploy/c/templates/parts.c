/* After the places of each chunk, what else it holds. */
static void add_parts(float *signal${FRAMES})
{
    uint32_t m${COUNTERS};${LASTING}
    for (m = 0; m < ${M}; ++m) {
        float *row = signal + ${MOMENT};
${ONCE}${EACH}    }
}
