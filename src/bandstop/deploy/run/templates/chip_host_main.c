#include "${name}.h"
/* Semihosting: the host's file "frames.bin" in, a line of answers out. */
static int host(int verb, const void *block)
{
    register int r0 __asm__("r0") = verb;
    register const void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}
static int file;
static int take(void *to, uint32_t bytes)
{
    const uintptr_t block[3] = {(uintptr_t)file, (uintptr_t)to, bytes};
    return host(6, block) == 0;
}
static ${name} state;
static float joints[3 * ${NAME}_JOINTS], scores[${NAME}_CLASSES];
int main(void)
{
    const uintptr_t open[3] = {(uintptr_t)"frames.bin", 1, 10};
    const uintptr_t leave[2] = {0x20026, 0};
    uint32_t frames, t;
    file = host(1, open);
    while (take(&frames, 4) && frames) {
        int answer, k = 8;
        char text[10] = "        \n";
        ${name}_begin(&state, frames);
        for (t = 0; t < frames && take(joints, sizeof joints); ++t) ${name}_push_frame(&state, joints);
        answer = ${name}_classify(&state, scores);
        if (answer < 0) text[0] = '-';
        for (t = (uint32_t)(answer < 0 ? -answer : answer); k == 8 || t; t /= 10) text[--k] = (char)('0' + t % 10);
        host(4, text);
    }
    host(0x18, (const void *)leave[0]);
    return 0;
}
