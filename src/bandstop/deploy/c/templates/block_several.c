        for (; p + ${count} <= width; p += ${count}, bias += ${step}, dst += ${count} * dst_step, src += ${count} * src_step) {
            const float *w = weight;
${body}
        }
