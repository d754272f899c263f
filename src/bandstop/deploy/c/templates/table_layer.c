typedef struct {
    const ${count} *count;
    const ${row} *row;
    const uint8_t *distance;
${arrays}
    uint16_t rows, width, dst_step, src_step, unit, ${last};
} layer;
