            row[${FIRST} * ${P} + v] = lasting;
