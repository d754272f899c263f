#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
HELPER void transpose(float *restrict to, int to_step, const float *restrict from, int from_step)
{
    lanes r0, s0, r1, s1, r2, s2, r3, s3, r4, s4, r5, s5, r6, s6, r7, s7;
    LOAD(r0, from + 0 * from_step);
    LOAD(r1, from + 1 * from_step);
    LOAD(r2, from + 2 * from_step);
    LOAD(r3, from + 3 * from_step);
    LOAD(r4, from + 4 * from_step);
    LOAD(r5, from + 5 * from_step);
    LOAD(r6, from + 6 * from_step);
    LOAD(r7, from + 7 * from_step);
    s0 = __builtin_shufflevector(r0, r1, 0, 8, 1, 9, 4, 12, 5, 13);
    s1 = __builtin_shufflevector(r0, r1, 2, 10, 3, 11, 6, 14, 7, 15);
    s2 = __builtin_shufflevector(r2, r3, 0, 8, 1, 9, 4, 12, 5, 13);
    s3 = __builtin_shufflevector(r2, r3, 2, 10, 3, 11, 6, 14, 7, 15);
    s4 = __builtin_shufflevector(r4, r5, 0, 8, 1, 9, 4, 12, 5, 13);
    s5 = __builtin_shufflevector(r4, r5, 2, 10, 3, 11, 6, 14, 7, 15);
    s6 = __builtin_shufflevector(r6, r7, 0, 8, 1, 9, 4, 12, 5, 13);
    s7 = __builtin_shufflevector(r6, r7, 2, 10, 3, 11, 6, 14, 7, 15);
    r0 = __builtin_shufflevector(s0, s2, 0, 1, 8, 9, 4, 5, 12, 13);
    r1 = __builtin_shufflevector(s0, s2, 2, 3, 10, 11, 6, 7, 14, 15);
    r2 = __builtin_shufflevector(s1, s3, 0, 1, 8, 9, 4, 5, 12, 13);
    r3 = __builtin_shufflevector(s1, s3, 2, 3, 10, 11, 6, 7, 14, 15);
    r4 = __builtin_shufflevector(s4, s6, 0, 1, 8, 9, 4, 5, 12, 13);
    r5 = __builtin_shufflevector(s4, s6, 2, 3, 10, 11, 6, 7, 14, 15);
    r6 = __builtin_shufflevector(s5, s7, 0, 1, 8, 9, 4, 5, 12, 13);
    r7 = __builtin_shufflevector(s5, s7, 2, 3, 10, 11, 6, 7, 14, 15);
    s0 = __builtin_shufflevector(r0, r4, 0, 1, 2, 3, 8, 9, 10, 11);
    s4 = __builtin_shufflevector(r0, r4, 4, 5, 6, 7, 12, 13, 14, 15);
    s1 = __builtin_shufflevector(r1, r5, 0, 1, 2, 3, 8, 9, 10, 11);
    s5 = __builtin_shufflevector(r1, r5, 4, 5, 6, 7, 12, 13, 14, 15);
    s2 = __builtin_shufflevector(r2, r6, 0, 1, 2, 3, 8, 9, 10, 11);
    s6 = __builtin_shufflevector(r2, r6, 4, 5, 6, 7, 12, 13, 14, 15);
    s3 = __builtin_shufflevector(r3, r7, 0, 1, 2, 3, 8, 9, 10, 11);
    s7 = __builtin_shufflevector(r3, r7, 4, 5, 6, 7, 12, 13, 14, 15);
    STORE(to + 0 * to_step, s0);
    STORE(to + 1 * to_step, s1);
    STORE(to + 2 * to_step, s2);
    STORE(to + 3 * to_step, s3);
    STORE(to + 4 * to_step, s4);
    STORE(to + 5 * to_step, s5);
    STORE(to + 6 * to_step, s6);
    STORE(to + 7 * to_step, s7);
}
#else
HELPER void transpose(float *restrict to, int to_step, const float *restrict from, int from_step)
{
    int i, j;
    for (i = 0; i < 8; ++i) for (j = 0; j < 8; ++j) to[j * to_step + i] = from[i * from_step + j];
}
#endif
