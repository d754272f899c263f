
/* The class of a network's scores, or -1: none of these. A class is named if its probability reaches the threshold;
   `confidence` becomes that probability, or for none what is left to one. */
#define ${NAME}_THRESHOLD ${THRESHOLD}
int ${name}_answer(const float scores[${NAME}_CLASSES], float *confidence);
