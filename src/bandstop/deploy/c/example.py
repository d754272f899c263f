"""A short program that reads frames from standard input and prints the class: the example beside every export."""

from __future__ import annotations

from string import Template

from bandstop.deploy.model import DeployModel

__all__ = ["example_main"]

STREAM = Template("""/* Reads "frames" and then x y z of every joint of every frame; prints the class and its score. */
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
            fprintf(stderr, "a sequence has 1 to %u frames, found %u\\n", ${NAME}_MOST_FRAMES, frames);
            return 2;
        }
        for (t = 0; t < frames; ++t) {
            for (i = 0; i < 3 * ${NAME}_JOINTS; ++i)
                if (scanf("%f", &joints[i]) != 1) return 2;
            ${name}_push_frame(&state, joints);
        }
        best = ${name}_classify(&state, scores);
        if (best < 0) printf("no answer (%d)\\n", best);
        else printf("%s %.6f\\n", ${name}_class_names[best], (double)scores[best]);
    }
    return 0;
}
""")

PLAIN = Template("""/* Reads the network's input values from standard input; prints every class's score. */
#include <stdio.h>
#include "${name}.h"

int main(void)
{
    static float signal[${NAME}_SIGNAL], work[${NAME}_WORK], scores[${NAME}_CLASSES];
    int i;
    for (i = 0; i < ${NAME}_SIGNAL; ++i)
        if (scanf("%f", &signal[i]) != 1) return 2;
    ${name}_network(signal, scores, work);
    for (i = 0; i < ${NAME}_CLASSES; ++i) printf("%s %.6f\\n", ${name}_class_names[i], (double)scores[i]);
    return 0;
}
""")


def example_main(model: DeployModel, name: str) -> str:
    """Text of ``main.c``."""
    template = PLAIN if model.normaliser is None else STREAM
    return template.substitute(name=name, NAME=name.upper())
