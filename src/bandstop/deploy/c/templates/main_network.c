/* Reads the network's input values from standard input; prints every class's score.
   Build it in this folder with: cc -O2 -I.. main.c ../${name}.c -o main */
#include <stdio.h>
#include "${name}.h"

int main(void)
{
    static float signal[${NAME}_SIGNAL], work[${NAME}_WORK], scores[${NAME}_CLASSES];
    int i;
    for (i = 0; i < ${NAME}_SIGNAL; ++i)
        if (scanf("%f", &signal[i]) != 1) return 2;
    ${name}_network(signal, scores, work);
    for (i = 0; i < ${NAME}_CLASSES; ++i) printf("%s %.6f\n", ${name}_class_names[i], (double)scores[i]);
    return 0;
}
