static void take(${name}_live *s, const float *joints) /* 0: the last frame once more */
{
    float *row = s->ring + s->frames % ${NAME}_LIVE_LENGTH * (3 * ${NAME}_JOINTS);
    uint32_t i;
    if (!joints) joints = s->ring + (s->frames - 1) % ${NAME}_LIVE_LENGTH * (3 * ${NAME}_JOINTS);
    for (i = 0; i < 3 * ${NAME}_JOINTS; ++i) row[i] = joints[i];
}

static void fill(${name}_live *s) /* all frames of the window, from the oldest on */
{
    uint32_t i, from = s->frames % ${NAME}_LIVE_LENGTH;
    ${name}_begin(&s->recogniser, ${NAME}_LIVE_LENGTH);
    for (i = 0; i < ${NAME}_LIVE_LENGTH; ++i) {
        ${name}_push_frame(&s->recogniser, s->ring + from * (3 * ${NAME}_JOINTS));
        if (++from == ${NAME}_LIVE_LENGTH) from = 0;
    }
}
