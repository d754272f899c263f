// Names gestures in frames that come over the serial port at 115200 baud without end: x y z of every joint, decimal
// numbers with blanks between them. Answers with a line for every gesture: its name and the confidence.
#include <${name}_live.h>

static ${name}_live recogniser_state;
static float joints[3 * ${NAME}_JOINTS];

void setup() {
  Serial.begin(115200);
  Serial.setTimeout(10000); // how long a number may take to arrive, in milliseconds
  ${name}_live_begin(&recogniser_state);
}

void loop() {
  ${name}_event event;
  if (!Serial.available()) return;
  for (int i = 0; i < 3 * ${NAME}_JOINTS; ++i) joints[i] = Serial.parseFloat();
  if (${name}_live_push_frame(&recogniser_state, joints, &event)) {
    Serial.print(${name}_class_names[event.label]);
    Serial.print(" ");
    Serial.println(event.confidence, 4);
  }
}
