/* gcn_int8: a sparse network as C99, made by bandstop.
   The network: 37 kept connections.
   This program: 37 stored weights, 72 multiply-accumulates per inference.
   All memory is the caller's: no globals that change, no allocation, nothing from the C library. */
#ifndef GCN_INT8_H
#define GCN_INT8_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GCN_INT8_CLASSES 2
#define GCN_INT8_SIGNAL 18
#define GCN_INT8_WORK 24

extern const char *const gcn_int8_class_names[GCN_INT8_CLASSES];

/* The network alone. signal[(3 * chunk + axis) * 3 + joint], normalised. */
void gcn_int8_network(const int16_t *signal, float *scores, int16_t *work);

/* Raw joints, frame by frame: 3 joints of x, y, z, in this order and in the units of training (metres).
   0 wrist, 1 knuckle, 2 tip
   begin       length: how many frames will come (1 to GCN_INT8_MOST_FRAMES): the answer is exact. With
               GCN_INT8_OPEN_ENDED defined as 1, length 0 takes frames without end in bounded memory.
   push_frame  1: classify may be called; 0: more frames are wanted; negative: a code below.
               A frame with a value that is not finite or beyond 1e9 answers BAD_FRAME; the last good frame stands in for it.
   classify    the index of the best class and every class's score, or a negative code. */
#define GCN_INT8_JOINTS 3
#define GCN_INT8_CHUNKS 2
#define GCN_INT8_MOST_FRAMES 16777216u
#ifndef GCN_INT8_OPEN_ENDED
#define GCN_INT8_OPEN_ENDED 0
#endif
enum { GCN_INT8_BAD_FRAME = -1, GCN_INT8_TOO_FEW = -2, GCN_INT8_TOO_MANY = -3, GCN_INT8_BAD_LENGTH = -4 };

typedef struct {
    float signal[GCN_INT8_SIGNAL];
    int16_t input[GCN_INT8_SIGNAL], work[GCN_INT8_WORK];
    float last[3 * GCN_INT8_JOINTS], origin[3];
    uint32_t length, frames, waiting, good, done;
#if GCN_INT8_OPEN_ENDED
    float bins[2 * GCN_INT8_CHUNKS * 3 * GCN_INT8_JOINTS];
    uint32_t full, part, span;
#endif
} gcn_int8;

int gcn_int8_begin(gcn_int8 *r, uint32_t length);
int gcn_int8_push_frame(gcn_int8 *r, const float joints[3 * GCN_INT8_JOINTS]);
int gcn_int8_classify(gcn_int8 *r, float scores[GCN_INT8_CLASSES]);

#ifdef __cplusplus
}
#endif
#endif
