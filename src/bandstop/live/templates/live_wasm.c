#include "${name}_live.h"
#define OUT(n) __attribute__((export_name(n)))
static ${name}_live stream;
static ${name}_event event;
static float live_joints[3 * ${NAME}_JOINTS];
OUT("live_frame") float *live_frame(void);
OUT("live_frame") float *live_frame(void) { return live_joints; }
OUT("live_event") ${name}_event *live_event(void);
OUT("live_event") ${name}_event *live_event(void) { return &event; }
OUT("live_confidence") float *live_confidence(void);
OUT("live_confidence") float *live_confidence(void) { return stream.confidence; }
OUT("live_scores") float *live_scores(void);
OUT("live_scores") float *live_scores(void) { return stream.scores; }
OUT("live_looks") unsigned live_looks(void);
OUT("live_looks") unsigned live_looks(void) { return stream.looks; }
OUT("live_begin") void live_begin(void);
OUT("live_begin") void live_begin(void) { ${name}_live_begin(&stream); }
OUT("live_push_frame") int live_push_frame(void);
OUT("live_push_frame") int live_push_frame(void) { return ${name}_live_push_frame(&stream, live_joints, &event); }
OUT("live_joints") int joints_of_a_frame(void);
OUT("live_joints") int joints_of_a_frame(void) { return ${NAME}_JOINTS; }
OUT("classes") int get_classes(void);
OUT("classes") int get_classes(void) { return ${NAME}_CLASSES; }
OUT("class_name") const char *get_name(int i);
OUT("class_name") const char *get_name(int i) { return i >= 0 && i < ${NAME}_CLASSES ? ${name}_class_names[i] : ""; }
