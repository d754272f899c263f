static void mix(const layer *l, const ${value} *src, ${value} *dst)
{
    const uint8_t *distance = l->distance;
    const ${weight} *weight = l->weight;
    uint32_t r, p, e;
    for (r = 0; r < l->rows; ++r) {
        const uint32_t count = l->count[r]${shift};
        ${value} *out = dst + l->row[r];
        for (p = 0; p < l->width; ++p, out += l->dst_step) {
            const ${value} *in = src + p * l->src_step;
            ${sum} sum = l->bias ? l->bias[r] : ${start};
            for (e = 0; e < count; ++e) {
                in += (uint32_t)distance[e] * l->unit;
                sum += ${cast}weight[e] * *in;
            }
${finish}
        }
        distance += count;
        weight += count;
    }
}
