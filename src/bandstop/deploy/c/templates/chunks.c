/* Add `joints` (already relative to the origin) for the frames [from, to) of `length`. A chunk of at least one frame is the
   average over its exact share of the frames; shorter chunks interpolate at their centres. */
static void spread(float *chunks, const float *joints, uint32_t from, uint32_t to, uint32_t length)
{
    uint32_t m, t, v, a;
    for (m = length < ${M} ? 0 : from * ${M} / length; m < ${M}; ++m) {
        float weight = 0.0f, *row = chunks + ${MOMENT};
        if (length >= ${M}) {
            const uint32_t low = m * length, high = low + length, start = from * ${M}, stop = to * ${M};
            if (low >= stop) break;
            weight = (float)((high < stop ? high : stop) - (low > start ? low : start)) / (float)length;
        } else {
            const uint32_t twice = (2 * m + 1) * length, last = 2 * ${M} * (length - 1);
            const uint32_t centre = twice < ${M} ? 0 : twice - ${M} < last ? twice - ${M} : last;
            for (t = from; t < to; ++t) {
                const uint32_t at = 2 * ${M} * t, far = at > centre ? at - centre : centre - at;
                if (far < 2 * ${M}) weight += (float)(2 * ${M} - far) / (2.0f * ${M});
            }
        }
        if (weight > 0.0f)
            for (v = 0; v < ${V}; ++v)
                for (a = 0; a < 3; ++a) row[a * ${P} + ${AT}] += weight * joints[3 * v + a];
    }
}

#if ${NAME}_OPEN_ENDED
/* Bounded memory for input without a known end: twice as many bins as chunks, halved when they are full. */
static void collect(${name} *r, const float *joints)
{
    float *bin = r->bins + r->full * ${V3};
    uint32_t i, b;
    for (i = 0; i < ${V3}; ++i) bin[i] = (r->part ? bin[i] : 0.0f) + joints[i];
    if (++r->part < r->span) return;
    r->part = 0;
    if (++r->full < 2 * ${M}) return;
    for (b = 0; b < ${M}; ++b)
        for (i = 0; i < ${V3}; ++i) r->bins[b * ${V3} + i] = r->bins[2 * b * ${V3} + i] + r->bins[(2 * b + 1) * ${V3} + i];
    r->full = ${M};
    r->span *= 2;
}

static void gather(${name} *r)
{
    uint32_t b, i, bins = r->full + (r->part ? 1u : 0u);
    for (i = 0; i < ${SIGNAL}; ++i) r->signal[i] = 0.0f;
    for (b = 0; b < bins; ++b) {
        const uint32_t count = b < r->full ? r->span : r->part;
        float mean[${V3}];
        for (i = 0; i < ${V3}; ++i) mean[i] = r->bins[b * ${V3} + i] / (float)count;
        spread(r->signal, mean, b * r->span, b * r->span + count, r->frames);
    }
}
#endif
