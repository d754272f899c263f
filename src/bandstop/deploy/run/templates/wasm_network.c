#include "${name}.h"
#define OUT(n) __attribute__((export_name(n)))
static float scores[${NAME}_CLASSES];
OUT("scores") float *get_scores(void);
OUT("scores") float *get_scores(void) { return scores; }
OUT("classes") int get_classes(void);
OUT("classes") int get_classes(void) { return ${NAME}_CLASSES; }
OUT("class_name") const char *get_name(int i);
OUT("class_name") const char *get_name(int i) { return i >= 0 && i < ${NAME}_CLASSES ? ${name}_class_names[i] : ""; }
static ${number} signal[${NAME}_SIGNAL], work[${NAME}_WORK];
OUT("signal") ${number} *get_signal(void);
OUT("signal") ${number} *get_signal(void) { return signal; }
OUT("network") void network(void);
OUT("network") void network(void) { ${name}_network(signal, scores, work); }
