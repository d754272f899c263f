/* Reads frames (x y z of every joint) from standard input without end; prints a line for every gesture. */
#include <stdio.h>
#include "${name}_live.h"

static ${name}_live state;

int main(void)
{
    float joints[3 * ${NAME}_JOINTS];
    ${name}_event event;
    int i;
    ${name}_live_begin(&state);
    for (;;) {
        for (i = 0; i < 3 * ${NAME}_JOINTS; ++i)
            if (scanf("%f", &joints[i]) != 1) return 0;
        if (${name}_live_push_frame(&state, joints, &event))
            printf("%u-%u %s %.4f at %u\n", (unsigned)event.begin, (unsigned)event.end,
                   ${name}_class_names[event.label], (double)event.confidence, (unsigned)event.at);
    }
}
