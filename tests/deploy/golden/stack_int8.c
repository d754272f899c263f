/* stack_int8: made by bandstop from a network of 25 kept connections; see stack_int8.h */
#include "stack_int8.h"

#if defined(__cplusplus)
#define restrict __restrict
#endif
#if defined(__GNUC__)
#define HELPER __attribute__((unused)) static inline
#else
#define HELPER static
#endif

typedef struct {
    const uint8_t *count;
    const uint8_t *row;
    const uint8_t *distance;
    const int8_t *weight;
    const int32_t *bias;
    const uint8_t *shift;
    uint16_t rows, width, dst_step, src_step, unit, relu;
} layer;
static const uint8_t table0[12] = {
    3, 4, 4, 2, 2, 3, 3, 2, 2, 4, 4, 3
};
static const uint8_t table1[12] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
};
static const uint8_t table2[36] = {
    0, 1, 4, 0, 1, 1, 4, 1, 1, 1, 4, 2, 1, 4, 1, 0, 5, 1, 1, 5, 1, 2, 5, 4, 1, 0, 4, 1, 1, 1, 4, 1, 1, 2, 4,
    1
};
static const int8_t table3[36] = {
    64, -64, -96, -80, 32, -32, -48, -80, 32, -32, -48, -80, 32, -16, -80, 64, -16, -80, 64, -16, -80, 64,
    -16, -48, 64, 32, 16, -48, 64, 32, 16, -48, 64, 64, 32, -96
};
static const int32_t table4[12] = {
    524288, 262144, 262144, 262144, 2097152, 2097152, 2097152, 2097152, 1048576, 1048576, 1048576, 2097152
};
static const uint8_t table5[12] = {
    9, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 9
};
static const uint8_t table6[2] = {
    7, 7
};
static const uint8_t table7[2] = {
    0, 1
};
static const uint8_t table8[14] = {
    0, 1, 1, 3, 1, 4, 1, 0, 3, 1, 1, 3, 1, 1
};
static const int8_t table9[14] = {
    -80, 32, -32, -48, 64, -16, -80, 32, 16, -48, 64, 48, -16, -80
};
static const int32_t table10[2] = {
    -1310720, 524288
};
static const layer layers[2] = {
    {table0, table1, table2, table3, table4, table5, 12, 1, 1, 1, 1, 1},
    {table6, table7, table8, table9, table10, table6, 2, 1, 2, 12, 1, 0}
};
static void mix(const layer *l, const int16_t *src, int16_t *dst)
{
    const uint8_t *distance = l->distance;
    const int8_t *weight = l->weight;
    uint32_t r, p, e;
    for (r = 0; r < l->rows; ++r) {
        const uint32_t count = l->count[r], shift = l->shift[r];
        int16_t *out = dst + l->row[r];
        for (p = 0; p < l->width; ++p, out += l->dst_step) {
            const int16_t *in = src + p * l->src_step;
            int32_t sum = l->bias ? l->bias[r] : 0;
            for (e = 0; e < count; ++e) {
                in += (uint32_t)distance[e] * l->unit;
                sum += (int32_t)weight[e] * *in;
            }
            /* Exporting has checked that no input can make the sum reach 2^31. */
            sum = (sum + (int32_t)(((uint32_t)1 << shift) >> 1)) >> shift;
            if (sum > 32767) sum = 32767;
            if (sum < (l->relu ? 0 : -32767)) sum = l->relu ? 0 : -32767;
            *out = (int16_t)sum;
        }
        distance += count;
        weight += count;
    }
}
void stack_int8_network(const int16_t *restrict signal, float *restrict scores, int16_t *restrict work)
{
    int i;
    mix(&layers[0], signal, work + 0);
    mix(&layers[1], work + 0, work + 12);
    for (i = 0; i < 2; ++i) scores[i] = (float)work[12 + i] * 6.1035156e-5f;
}
const char *const stack_int8_class_names[2] = {
    "no",
    "yes"
};
