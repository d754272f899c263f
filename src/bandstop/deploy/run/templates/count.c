#include <stdlib.h>
#include "${name}.h"
static ${number} signal[${NAME}_SIGNAL], work[${NAME}_WORK];
static float scores[${NAME}_CLASSES];
int main(int count, char **words)
{
    int i, rounds = count > 1 ? atoi(words[1]) : 1;
    for (i = 0; i < ${NAME}_SIGNAL; ++i) signal[i] = (${number})((i * 37 % 200 - 100) * ${step});
    for (i = 0; i < rounds; ++i) ${name}_network(signal, scores, work);
    return scores[0] > 1e30f;
}
