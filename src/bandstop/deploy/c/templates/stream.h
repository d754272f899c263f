/* Raw joints, frame by frame: ${JOINTS} joints of x, y, z, in this order and in the units of training (${units}).
${joints}   begin       length: how many frames will come (1 to ${NAME}_MOST_FRAMES): the answer is exact. With
               ${NAME}_OPEN_ENDED defined as 1, length 0 takes frames without end in bounded memory.
   push_frame  1: classify may be called; 0: more frames are wanted; negative: a code below.
               A frame with a value that is not finite or beyond 1e9 answers BAD_FRAME; the last good frame stands in for it.
   classify    the index of the best class and every class's score, or a negative code. */
#define ${NAME}_JOINTS ${JOINTS}
#define ${NAME}_CHUNKS ${CHUNKS}
#define ${NAME}_MOST_FRAMES ${MOST}u
#ifndef ${NAME}_OPEN_ENDED
#define ${NAME}_OPEN_ENDED ${open}
#endif
enum { ${NAME}_BAD_FRAME = -1, ${NAME}_TOO_FEW = -2, ${NAME}_TOO_MANY = -3, ${NAME}_BAD_LENGTH = -4 };

typedef struct {
    ${memory}
    float last[3 * ${NAME}_JOINTS], origin[3];
    uint32_t length, frames, waiting, good, done;
#if ${NAME}_OPEN_ENDED
    float bins[2 * ${NAME}_CHUNKS * 3 * ${NAME}_JOINTS];
    uint32_t full, part, span;
#endif
} ${name};

int ${name}_begin(${name} *r, uint32_t length);
int ${name}_push_frame(${name} *r, const float joints[3 * ${NAME}_JOINTS]);
int ${name}_classify(${name} *r, float scores[${NAME}_CLASSES]);
