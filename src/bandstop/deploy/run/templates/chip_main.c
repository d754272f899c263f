#include "${name}.h"
extern volatile float sensor[3 * ${NAME}_JOINTS];
volatile float sensor[3 * ${NAME}_JOINTS];
volatile int answer;
static ${name} state;
int main(void)
{
    static float joints[3 * ${NAME}_JOINTS], scores[${NAME}_CLASSES];
    int i;
    for (;;) {
        ${name}_begin(&state, 64);
        do for (i = 0; i < 3 * ${NAME}_JOINTS; ++i) joints[i] = sensor[i];
        while (${name}_push_frame(&state, joints) == 0);
        answer = ${name}_classify(&state, scores);
        if (answer >= 0) answer = ${name}_class_names[answer][0];
    }
}
