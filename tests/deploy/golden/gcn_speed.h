/* gcn_speed: a sparse network as C99, made by bandstop.
   The network: 37 kept connections.
   This program: 47 stored weights, 61 multiply-accumulates per inference.
   All memory is the caller's: no globals that change, no allocation, nothing from the C library. */
#ifndef GCN_SPEED_H
#define GCN_SPEED_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GCN_SPEED_CLASSES 2
#define GCN_SPEED_SIGNAL 48
#define GCN_SPEED_WORK 24

extern const char *const gcn_speed_class_names[GCN_SPEED_CLASSES];

/* The network alone. signal[(3 * chunk + axis) * 8 + joint], normalised. */
void gcn_speed_network(const float *signal, float *scores, float *work);

/* Raw joints, frame by frame: 3 joints of x, y, z, in this order and in the units of training (metres).
   0 wrist, 1 knuckle, 2 tip
   begin       length: how many frames will come (1 to GCN_SPEED_MOST_FRAMES): the answer is exact. With
               GCN_SPEED_OPEN_ENDED defined as 1, length 0 takes frames without end in bounded memory.
   push_frame  1: classify may be called; 0: more frames are wanted; negative: a code below.
               A frame with a value that is not finite or beyond 1e9 answers BAD_FRAME; the last good frame stands in for it.
   classify    the index of the best class and every class's score, or a negative code. */
#define GCN_SPEED_JOINTS 3
#define GCN_SPEED_CHUNKS 2
#define GCN_SPEED_MOST_FRAMES 16777216u
#ifndef GCN_SPEED_OPEN_ENDED
#define GCN_SPEED_OPEN_ENDED 0
#endif
enum { GCN_SPEED_BAD_FRAME = -1, GCN_SPEED_TOO_FEW = -2, GCN_SPEED_TOO_MANY = -3, GCN_SPEED_BAD_LENGTH = -4 };

typedef struct {
    float signal[GCN_SPEED_SIGNAL], work[GCN_SPEED_WORK];
    float last[3 * GCN_SPEED_JOINTS], origin[3];
    uint32_t length, frames, waiting, good, done;
#if GCN_SPEED_OPEN_ENDED
    float bins[2 * GCN_SPEED_CHUNKS * 3 * GCN_SPEED_JOINTS];
    uint32_t full, part, span;
#endif
} gcn_speed;

int gcn_speed_begin(gcn_speed *r, uint32_t length);
int gcn_speed_push_frame(gcn_speed *r, const float joints[3 * GCN_SPEED_JOINTS]);
int gcn_speed_classify(gcn_speed *r, float scores[GCN_SPEED_CLASSES]);

#ifdef __cplusplus
}
#endif
#endif
