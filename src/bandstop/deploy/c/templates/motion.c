/* After the positions of all chunks: the steps from each to the next, and for every joint how long the sequence lasted. */
static void add_motion(float *signal, uint32_t frames)
{
    const float lasting = (log_of(frames) - ${MEAN}) * ${PER_DEVIATION};
    float *steps = signal + ${M} * ${ROW};
    uint32_t i;
    for (i = 0; i < (${M} - 1) * ${ROW}; ++i) steps[i] = (signal[i + ${ROW}] - signal[i]) * ${STEP};
    for (i = 0; i < ${V}; ++i) steps[(${M} - 1) * ${ROW} + i] = lasting;
}
