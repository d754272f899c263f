/* Not a number, infinite or beyond 1e9: told by the bits, so that no fast-math setting can assume it away. */
static int beyond(float v)
{
    union { float f; uint32_t i; } bits;
    bits.f = v;
    return (bits.i & 0x7fffffffu) > 0x4e6e6b28u;
}

int ${name}_begin(${name} *r, uint32_t length)
{
    uint32_t i;
    for (i = 0; i < ${SIGNAL}; ++i) r->signal[i] = 0.0f;
    r->length = r->frames = r->waiting = r->good = r->done = 0;
#if ${NAME}_OPEN_ENDED
    r->full = r->part = 0;
    r->span = 1;
    if (length == 0) return 0;
#endif
    if (length == 0 || length > ${NAME}_MOST_FRAMES) return ${NAME}_BAD_LENGTH;
    r->length = length;
    return 0;
}

int ${name}_push_frame(${name} *r, const float joints[${V3}])
{
    uint32_t i, from = r->frames, answer_is_bad = 0;
    const uint32_t most = r->length ? r->length : ${OPEN_MOST};
    if (r->frames >= most || (r->done && r->length)) return ${NAME}_TOO_MANY;
    for (i = 0; i < ${V3}; ++i)
        if (beyond(joints[i])) answer_is_bad = 1;
    r->frames += 1;
    if (answer_is_bad && !r->good) {
        r->waiting += 1;
        return ${NAME}_BAD_FRAME;
    }
    if (!answer_is_bad) {
        if (!r->good)
            for (i = 0; i < 3; ++i) r->origin[i] = joints[3 * ${ROOT} + i];
        for (i = 0; i < ${V3}; ++i) r->last[i] = joints[i] - r->origin[i % 3];
        r->good = 1;
        from -= r->waiting;
        r->waiting = 0;
    }
#if ${NAME}_OPEN_ENDED
    if (!r->length) {
        for (; from < r->frames; ++from) collect(r, r->last);
        return answer_is_bad ? ${NAME}_BAD_FRAME : 1;
    }
#endif
    spread(r->signal, r->last, from, r->frames, r->length);
    return answer_is_bad ? ${NAME}_BAD_FRAME : r->frames == r->length ? 1 : 0;
}

int ${name}_classify(${name} *r, float scores[${NAME}_CLASSES])
{
    int i, best = 0;
    if (!r->good || r->frames < r->length) return ${NAME}_TOO_FEW;
#if ${NAME}_OPEN_ENDED
    if (!r->length) {
        gather(r);
        r->done = 0;
    }
#endif
    if (!r->done) {
        normalise(r->signal);${AFTER}
        r->done = 1;
    }
    ${CALL}
    for (i = 1; i < ${NAME}_CLASSES; ++i)
        if (scores[i] > scores[best]) best = i;
    return best;
}
