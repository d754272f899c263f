/* ${name}: a sparse network as C99, made by bandstop.
   The network: ${size}.
   This program: ${entries} stored weights, ${macs} multiply-accumulates per inference.
   All memory is the caller's: no globals that change, no allocation, nothing from the C library. */
#ifndef ${NAME}_H
#define ${NAME}_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ${NAME}_CLASSES ${CLASSES}
#define ${NAME}_SIGNAL ${SIGNAL}
#define ${NAME}_WORK ${WORK}

extern const char *const ${name}_class_names[${NAME}_CLASSES];

/* The network alone. ${layout} */
void ${name}_network(const ${number} *signal, float *scores, ${number} *work);
${stream}
#ifdef __cplusplus
}
#endif
#endif
