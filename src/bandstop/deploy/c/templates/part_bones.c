            for (a = 0; a < 3; ++a) /* bones: from the joint before it */
                row[(${FIRST} + a) * ${P} + ${AT}] =
                    row[a * ${P} + ${AT}] * ${OWN}[v] - row[a * ${P} + ${END}[v]] * ${OTHER}[v];
