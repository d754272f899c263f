            row[${FIRST} * ${P} + ${AT}] = lasting;
