/* ${name}_live: gestures in a continuous stream, on top of ${name}.h; made by bandstop.
   begin       forgets everything; call it once before the first frame.
   push_frame  takes the next frame of ${JOINTS} joints (x, y, z); answers 1 and fills `event` in the moment in which a
               gesture is named, else 0. A frame with a value that is not finite or beyond 1e9 is replaced by the last
               good one.
   A look at the last ${LENGTH} frames is taken every ${HOP} frames; the other frames cost ${OTHERS}. All memory is the caller's. */
#ifndef ${NAME}_LIVE_H
#define ${NAME}_LIVE_H
#include "${name}.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ${NAME}_LIVE_LENGTH ${LENGTH}
#define ${NAME}_LIVE_HOP ${HOP}
#define ${NAME}_LIVE_SMOOTH ${SMOOTH}
#define ${NAME}_LIVE_THRESHOLD ${THRESHOLD}
#define ${NAME}_GESTURES (${NAME}_CLASSES - 1) /* the last class is "none" */

typedef struct {
    uint32_t begin, end; /* the gesture's frames, counted from the first one pushed: [begin, end) */
    uint32_t at;         /* how many frames had come when it was named */
    int32_t label;       /* index into ${name}_class_names */
    float confidence;    /* between the threshold and 1 */
} ${name}_event;

typedef struct {
    ${name} recogniser;
    ${MEMORY}
    float recent[${NAME}_LIVE_SMOOTH * ${NAME}_CLASSES];
    float scores[${NAME}_CLASSES];     /* of each class at the last look, */
    float confidence[${NAME}_CLASSES]; /* and its smoothed probability */
    float best;
    uint32_t frames, looks, waited, peak, quiet_until;
    int32_t candidate, last_class, armed;
} ${name}_live;

void ${name}_live_begin(${name}_live *s);
int ${name}_live_push_frame(${name}_live *s, const float joints[3 * ${NAME}_JOINTS], ${name}_event *event);

#ifdef __cplusplus
}
#endif
#endif
