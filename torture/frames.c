/* Hostile frames for an exported recogniser: FRAMES of them in sequences of any length, from SEED. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "net.h"
#ifdef LIVE
#include "net_live.h"
#endif

static uint64_t dice;

static uint32_t draw(void) /* xorshift: quick, and the same everywhere */
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return (uint32_t)(dice >> 32);
}

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static float hostile(uint32_t mood)
{
    static const uint32_t odd[] = {
        0x7fc00000u, 0x7f800001u, 0xffc12345u, 0x7f800000u, 0xff800000u, /* not numbers, infinities */
        0x00000001u, 0x80000001u, 0x007fffffu, 0x00800000u,              /* denormals, the smallest normal */
        0x7f7fffffu, 0xff7fffffu, 0x4e6e6b28u, 0x4e6e6b29u, 0xce6e6b28u, /* huge, about 1e9 */
        0x00000000u, 0x80000000u, 0x3f800000u, 0xbf800000u};
    switch (mood) {
    case 0: return from_bits(draw());
    case 1: return from_bits(odd[draw() % (sizeof odd / sizeof *odd)]);
    case 2: return 0.0f;
    case 3: return (float)(draw() % 2000) * 1e6f - 1e9f;
    case 4: return ((float)(draw() % 2000) - 1000.0f) * 1e-41f;
    case 5: return 123.456f;
    default: return (float)(draw() % 2000) - 1000.0f;
    }
}

#ifndef NETWORK
static void fill(float *values, int count, uint32_t mood)
{
    int i;
    for (i = 0; i < count; ++i)
        values[i] = hostile(mood < 7 ? mood : draw() % 50 == 0 ? 1 : 7);
}

#endif

#if !defined(LIVE) && !defined(NETWORK)
static int good(const float *scores) /* every score a number within bounds */
{
    int i;
    for (i = 0; i < NET_CLASSES; ++i)
        if (!(scores[i] > -1e30f && scores[i] < 1e30f)) return 0;
    return 1;
}
#endif

#if defined(LIVE)
static int sequence(unsigned frames)
{
    static net_live state;
    float joints[3 * NET_JOINTS];
    net_event event;
    uint32_t mood = draw() % 10;
    unsigned t;
    net_live_begin(&state);
    for (t = 0; t < frames; ++t) {
        int answer;
        if (draw() % 60 == 0) mood = draw() % 10;
        fill(joints, 3 * NET_JOINTS, mood);
        answer = net_live_push_frame(&state, joints, &event);
        if (answer != 0 && answer != 1) return 3;
        if (answer && (event.label < 0 || event.label >= NET_GESTURES || event.begin > event.end ||
                       event.end > event.at || event.at > t + 1 || !(event.confidence >= 0.0f) ||
                       !(event.confidence <= 1.0001f)))
            return 4;
    }
    return 0;
}
#elif defined(NETWORK)
static int sequence(unsigned frames) /* the network alone: signals instead of frames */
{
    static VALUE signal[NET_SIGNAL], work[NET_WORK + 16];
    float scores[NET_CLASSES];
    unsigned t;
    for (t = 0; t < frames; ++t) {
        uint32_t mood = draw() % 10;
        int i;
        for (i = 0; i < NET_SIGNAL; ++i) {
            float value = hostile(mood < 7 ? mood : draw() % 50 == 0 ? 1 : 7);
            memcpy(&signal[i], &value, sizeof *signal);
        }
        net_network(signal, scores, work);
    }
    return 0;
}
#else
static int sequence(unsigned frames)
{
    static net state;
    float joints[3 * NET_JOINTS], scores[NET_CLASSES] = {0};
    uint32_t mood = draw() % 10, length = draw() % 7 ? frames : draw() % 5 ? draw() % 200 : draw();
    unsigned t;
    int answer;
#if NET_OPEN_ENDED
    if (draw() % 2) length = 0;
#endif
    answer = net_begin(&state, length);
    if (answer < 0 && length >= 1 && length <= NET_MOST_FRAMES) return 3;
    for (t = 0; t < frames; ++t) {
        if (draw() % 60 == 0) mood = draw() % 10;
        fill(joints, 3 * NET_JOINTS, mood);
        answer = net_push_frame(&state, joints);
        if (answer < -4 || answer > 1) return 4;
        if (draw() % 64 == 0 && net_classify(&state, scores) >= 0 && !good(scores)) return 6;
    }
    answer = net_classify(&state, scores);
    if (answer >= NET_CLASSES || answer < -4) return 5;
    return answer >= 0 && !good(scores) ? 6 : 0;
}
#endif

int main(void)
{
    unsigned long left = FRAMES;
    dice = 0x9e3779b97f4a7c15ull ^ ((uint64_t)SEED << 20);
    while (left > 0) {
        unsigned frames = draw() % 40 == 0 ? draw() % 3000 : draw() % 120;
        int problem;
        if (frames > left) frames = (unsigned)left;
        problem = sequence(frames);
        if (problem) {
            printf("problem %d with %lu frames left\n", problem, left);
            return problem;
        }
        left -= frames;
    }
    puts("calm");
    return 0;
}
