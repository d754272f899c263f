/* lstm_size: a sparse network as C99, made by bandstop.
   The network: 52 kept connections.
   This program: 52 stored weights, 101 multiply-accumulates per inference.
   All memory is the caller's: no globals that change, no allocation, nothing from the C library. */
#ifndef LSTM_SIZE_H
#define LSTM_SIZE_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LSTM_SIZE_CLASSES 2
#define LSTM_SIZE_SIGNAL 18
#define LSTM_SIZE_WORK 14

extern const char *const lstm_size_class_names[LSTM_SIZE_CLASSES];

/* The network alone. signal[(3 * chunk + axis) * 3 + joint], normalised. */
void lstm_size_network(const float *signal, float *scores, float *work);

/* Raw joints, frame by frame: 3 joints of x, y, z, in this order and in the units of training (metres).
   0 wrist, 1 knuckle, 2 tip
   begin       length: how many frames will come (1 to LSTM_SIZE_MOST_FRAMES): the answer is exact. With
               LSTM_SIZE_OPEN_ENDED defined as 1, length 0 takes frames without end in bounded memory.
   push_frame  1: classify may be called; 0: more frames are wanted; negative: a code below.
               A frame with a value that is not finite or beyond 1e9 answers BAD_FRAME; the last good frame stands in for it.
   classify    the index of the best class and every class's score, or a negative code. */
#define LSTM_SIZE_JOINTS 3
#define LSTM_SIZE_CHUNKS 2
#define LSTM_SIZE_MOST_FRAMES 16777216u
#ifndef LSTM_SIZE_OPEN_ENDED
#define LSTM_SIZE_OPEN_ENDED 0
#endif
enum { LSTM_SIZE_BAD_FRAME = -1, LSTM_SIZE_TOO_FEW = -2, LSTM_SIZE_TOO_MANY = -3, LSTM_SIZE_BAD_LENGTH = -4 };

typedef struct {
    float signal[LSTM_SIZE_SIGNAL], work[LSTM_SIZE_WORK];
    float last[3 * LSTM_SIZE_JOINTS], origin[3];
    uint32_t length, frames, waiting, good, done;
#if LSTM_SIZE_OPEN_ENDED
    float bins[2 * LSTM_SIZE_CHUNKS * 3 * LSTM_SIZE_JOINTS];
    uint32_t full, part, span;
#endif
} lstm_size;

int lstm_size_begin(lstm_size *r, uint32_t length);
int lstm_size_push_frame(lstm_size *r, const float joints[3 * LSTM_SIZE_JOINTS]);
int lstm_size_classify(lstm_size *r, float scores[LSTM_SIZE_CLASSES]);

#ifdef __cplusplus
}
#endif
#endif
