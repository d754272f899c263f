static ${name} state;
static float joints[3 * ${NAME}_JOINTS];
OUT("frame") float *get_frame(void);
OUT("frame") float *get_frame(void) { return joints; }
OUT("values") int get_values(void);
OUT("values") int get_values(void) { return 3 * ${NAME}_JOINTS; }
OUT("begin") int begin(unsigned length);
OUT("begin") int begin(unsigned length) { return ${name}_begin(&state, length); }
OUT("push_frame") int push(void);
OUT("push_frame") int push(void) { return ${name}_push_frame(&state, joints); }
OUT("classify") int classify(void);
OUT("classify") int classify(void) { return ${name}_classify(&state, scores); }
