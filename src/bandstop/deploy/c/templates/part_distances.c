            { /* distances: from tip to tip, and from other joints to the root */
                float sum = 0.0f;
                for (a = 0; a < 3; ++a) {
                    const float d = row[a * ${P} + ${AT}] * ${OWN}[v] - row[a * ${P} + ${END}[v]] * ${OTHER}[v];
                    sum += d * d;
                }
                row[${FIRST} * ${P} + ${AT}] = root_of(sum) - ${OFFSET}[v];
            }
