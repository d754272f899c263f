/* Reads "frames" and then x y z of every joint of every frame; prints the class and its score.
   Build it in this folder with: cc -O2 -I.. main.c ../${name}.c -o main */
#include <stdio.h>
#include "${name}.h"

static ${name} state;

int main(void)
{
    float joints[3 * ${NAME}_JOINTS], scores[${NAME}_CLASSES];
    unsigned frames, t;
    int i, best;
    while (scanf("%u", &frames) == 1) {
        if (${name}_begin(&state, frames) < 0) {
            fprintf(stderr, "a sequence has 1 to %u frames, found %u\n", ${NAME}_MOST_FRAMES, frames);
            return 2;
        }
        for (t = 0; t < frames; ++t) {
            for (i = 0; i < 3 * ${NAME}_JOINTS; ++i)
                if (scanf("%f", &joints[i]) != 1) return 2;
            ${name}_push_frame(&state, joints);
        }
        best = ${name}_classify(&state, scores);
        if (best < 0) printf("no answer (%d)\n", best);
        else printf("%s %.6f\n", ${name}_class_names[best], (double)scores[best]);
    }
    return 0;
}
