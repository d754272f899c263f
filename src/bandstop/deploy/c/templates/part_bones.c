            for (a = 0; a < 3; ++a) /* bones: from the joint before it */
                row[(${FIRST} + a) * ${P} + v] =
                    row[a * ${P} + v] * ${OWN}[v] - row[a * ${P} + ${END}[v]] * ${OTHER}[v];
