/* stack_speed: a sparse network as C99, made by bandstop.
   The network: 25 kept connections.
   This program: 25 stored weights, 50 multiply-accumulates per inference.
   All memory is the caller's: no globals that change, no allocation, nothing from the C library. */
#ifndef STACK_SPEED_H
#define STACK_SPEED_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STACK_SPEED_CLASSES 2
#define STACK_SPEED_SIGNAL 8
#define STACK_SPEED_WORK 16

extern const char *const stack_speed_class_names[STACK_SPEED_CLASSES];

/* The network alone. signal: the input's values in order. */
void stack_speed_network(const float *signal, float *scores, float *work);

#ifdef __cplusplus
}
#endif
#endif
