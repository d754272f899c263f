/* stack_int8: a sparse network as C99, made by bandstop.
   The network: 25 kept connections.
   This program: 25 stored weights, 50 multiply-accumulates per inference.
   All memory is the caller's: no globals that change, no allocation, nothing from the C library. */
#ifndef STACK_INT8_H
#define STACK_INT8_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STACK_INT8_CLASSES 2
#define STACK_INT8_SIGNAL 8
#define STACK_INT8_WORK 14

extern const char *const stack_int8_class_names[STACK_INT8_CLASSES];

/* The network alone. signal: the input's values in order. */
void stack_int8_network(const int16_t *signal, float *scores, int16_t *work);

#ifdef __cplusplus
}
#endif
#endif
