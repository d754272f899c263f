// Classifies frames that come over the serial port at 115200 baud: the number of frames, then x y z of every joint
// of every frame, decimal numbers with blanks between them. Answers with a line: the class and its score.
#include <${name}.h>

static ${name} recogniser_state;
static float joints[3 * ${NAME}_JOINTS], scores[${NAME}_CLASSES];

void setup() {
  Serial.begin(115200);
  Serial.setTimeout(10000); // how long a number may take to arrive, in milliseconds
}

void loop() {
  if (!Serial.available()) return;
  const long frames = Serial.parseInt();
  if (frames <= 0) return;
  if (${name}_begin(&recogniser_state, (uint32_t)frames) < 0) {
    Serial.println("a sequence has fewer frames");
    return;
  }
  for (long t = 0; t < frames; ++t) {
    for (int i = 0; i < 3 * ${NAME}_JOINTS; ++i) joints[i] = Serial.parseFloat();
    ${name}_push_frame(&recogniser_state, joints);
  }
  const int best = ${name}_classify(&recogniser_state, scores);
  if (best < 0) {
    Serial.print("no answer ");
    Serial.println(best);
  } else {
    Serial.print(${name}_class_names[best]);
    Serial.print(" ");
    Serial.println(scores[best], 6);
  }
}
