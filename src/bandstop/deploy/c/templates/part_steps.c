            for (a = 0; a < 3; ++a) /* ${NAMED}: how far it has come since ${LAG} chunk(s) ago */
                row[(${FIRST} + a) * ${P} + v] =
                    m < ${LAG} ? 0.0f : (row[a * ${P} + v] - (row - ${LAG} * ${ROW})[a * ${P} + v]) * ${OWN}[v];
