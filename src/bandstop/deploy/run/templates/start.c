#include <stddef.h>
#include <stdint.h>
int main(void);
void reset(void);
void *memset(void *to, int value, size_t count);
void *memcpy(void *restrict to, const void *restrict from, size_t count);
void reset(void)
{
    ${fpu}
    main();
    for (;;) { }
}
__attribute__((section(".vectors"), used)) static const uintptr_t vectors[2] = {0x20400000u, (uintptr_t)reset};
void *memset(void *to, int value, size_t count)
{
    volatile unsigned char *p = to;
    while (count--) *p++ = (unsigned char)value;
    return to;
}
void *memcpy(void *restrict to, const void *restrict from, size_t count)
{
    volatile unsigned char *p = to;
    const unsigned char *q = from;
    while (count--) *p++ = *q++;
    return to;
}
