/* ${name}_live: see ${name}_live.h */
#include "${name}_live.h"

static const uint16_t usual_frames[${NAME}_GESTURES] = {${DURATIONS}};

static int is_beyond(float v) /* not a number, infinite or beyond 1e9, told by the bits */
{
    union { float f; uint32_t i; } bits;
    bits.f = v;
    return (bits.i & 0x7fffffffu) > 0x4e6e6b28u;
}

static float exp_of(float x) /* of x up to 0: 2^k times a series of the rest */
{
    union { float f; uint32_t i; } power;
    float rest;
    int32_t k;
    if (x < -80.0f) return 0.0f;
    k = (int32_t)(x * 1.44269504f - 0.5f);
    rest = x - (float)k * 0.69314718f;
    power.i = (uint32_t)(k + 127) << 23;
    return power.f * (1.0f + rest * (1.0f + rest * (0.5f + rest * (0.16666667f + rest * (0.041666667f
        + rest * (0.0083333333f + rest * 0.0013888889f))))));
}

/* Probabilities of the window's classes into the oldest row of `recent`, and their mean over the rows. */
static void remember(${name}_live *s, const float *scores)
{
    float *row = s->recent + (s->looks % ${NAME}_LIVE_SMOOTH) * ${NAME}_CLASSES, top = scores[0], sum = 0.0f;
    uint32_t c, k;
    for (c = 1; c < ${NAME}_CLASSES; ++c)
        if (scores[c] > top) top = scores[c];
    for (c = 0; c < ${NAME}_CLASSES; ++c) sum += row[c] = exp_of((scores[c] - top) * ${PER_TEMPERATURE});
    for (c = 0; c < ${NAME}_CLASSES; ++c) row[c] /= sum;
    s->looks += 1;
    for (c = 0; c < ${NAME}_CLASSES; ++c) {
        sum = 0.0f;
        for (k = 0; k < ${NAME}_LIVE_SMOOTH; ++k) sum += s->recent[k * ${NAME}_CLASSES + c];
        s->confidence[c] = sum / (float)${NAME}_LIVE_SMOOTH;
    }
}

static int decide(${name}_live *s, ${name}_event *event)
{
    const float *seen = s->confidence;
    uint32_t usual;
    int32_t best = 0, c;
    for (c = 1; c < ${NAME}_GESTURES; ++c)
        if (seen[c] > seen[best]) best = c;
    if (s->last_class >= 0 && seen[s->last_class] < ${RELEASE}) s->armed = 1;
    if (s->candidate >= 0) {
        s->waited += 1;
        if (seen[best] > s->best) {
            s->best = seen[best];
            s->candidate = best;
            s->peak = s->frames;
        }
    } else if (seen[best] >= ${NAME}_LIVE_THRESHOLD && s->frames >= s->quiet_until && (s->armed || best != s->last_class)) {
        s->best = seen[best];
        s->candidate = best;
        s->peak = s->frames;
        s->waited = 0;
    }
    if (s->candidate < 0 || (int32_t)s->waited < ${PATIENCE}) return 0;
    usual = usual_frames[s->candidate];
    event->label = s->candidate;
    event->confidence = s->best;
    event->at = s->frames;
    event->end = s->peak > ${LAG}u + 1u ? s->peak - ${LAG}u : 1u;
    event->begin = event->end > usual ? event->end - usual : 0u;
    s->last_class = s->candidate;
    s->candidate = -1;
    s->armed = 0;
    s->quiet_until = s->frames + ${REFRACTORY}u;
    return 1;
}

void ${name}_live_begin(${name}_live *s)
{
    uint32_t i;
    for (i = 0; i < ${NAME}_LIVE_SMOOTH * ${NAME}_CLASSES; ++i) s->recent[i] = 0.0f;
    for (i = 0; i < ${NAME}_CLASSES; ++i) s->scores[i] = s->confidence[i] = 0.0f;
    s->best = 0.0f;
    s->frames = s->looks = s->waited = s->peak = s->quiet_until = 0;
    s->candidate = s->last_class = -1;
    s->armed = 1;
    ${name}_begin(&s->recogniser, ${NAME}_LIVE_LENGTH);
}

${WINDOW}
int ${name}_live_push_frame(${name}_live *s, const float joints[3 * ${NAME}_JOINTS], ${name}_event *event)
{
    uint32_t i, bad = 0;
    for (i = 0; i < 3 * ${NAME}_JOINTS; ++i)
        if (is_beyond(joints[i])) bad = 1;
    if (bad && s->frames == 0) return 0;
    take(s, bad ? 0 : joints);
    s->frames += 1;
    if (s->frames < ${NAME}_LIVE_LENGTH || s->frames % ${NAME}_LIVE_HOP) return 0;
    fill(s);
    ${name}_classify(&s->recogniser, s->scores);
    remember(s, s->scores);
    return decide(s, event);
}
