/* stack_size: a sparse network as C99, made by bandstop.
   The network: 25 kept connections.
   This program: 25 stored weights, 50 multiply-accumulates per inference.
   All memory is the caller's: no globals that change, no allocation, nothing from the C library. */
#ifndef STACK_SIZE_H
#define STACK_SIZE_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STACK_SIZE_CLASSES 2
#define STACK_SIZE_SIGNAL 8
#define STACK_SIZE_WORK 12

extern const char *const stack_size_class_names[STACK_SIZE_CLASSES];

/* The network alone. signal: the input's values in order. */
void stack_size_network(const float *signal, float *scores, float *work);

#ifdef __cplusplus
}
#endif
#endif
