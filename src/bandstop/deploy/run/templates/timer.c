#define _POSIX_C_SOURCE 199309L
#include <time.h>
#include "${name}.h"
static ${number} work[${NAME}_WORK];
void measure(const ${number} *inputs, int count, int rounds, int repeats, double *nanoseconds, float *scores);
void measure(const ${number} *inputs, int count, int rounds, int repeats, double *nanoseconds, float *scores)
{
    struct timespec a, b;
    int r, k, i = 0;
    for (r = 0; r < rounds; ++r) {
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (k = 0; k < repeats; ++k) {
            ${name}_network(inputs + (long)i * ${NAME}_SIGNAL, scores, work);
            i = i + 1 < count ? i + 1 : 0;
        }
        clock_gettime(CLOCK_MONOTONIC, &b);
        nanoseconds[r] = ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / repeats;
    }
}
