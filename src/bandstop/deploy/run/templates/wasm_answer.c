static float confidence;
OUT("answer") int get_answer(void);
OUT("answer") int get_answer(void) { return ${name}_answer(scores, &confidence); }
OUT("confidence") float get_confidence(void);
OUT("confidence") float get_confidence(void) { return confidence; }
