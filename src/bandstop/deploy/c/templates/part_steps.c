            for (a = 0; a < 3; ++a) /* ${NAMED}: how far it has come since ${LAG} chunk(s) ago */
                row[(${FIRST} + a) * ${P} + ${AT}] =
                    m < ${LAG} ? 0.0f : (row[a * ${P} + ${AT}] - signal[${EARLIER} + a * ${P} + ${AT}]) * ${OWN}[v];
