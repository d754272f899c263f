            row[${FIRST} * ${P} + ${AT}] = ${VALUE};
