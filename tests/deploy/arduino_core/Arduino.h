// A stand-in for the Arduino core, as far as the sketches use it: a serial port on standard input and output.
#ifndef ARDUINO_H
#define ARDUINO_H
#include <stdint.h>
struct SerialPort {
  void begin(unsigned long baud);
  void setTimeout(unsigned long milliseconds);
  int available();
  long parseInt();
  float parseFloat();
  void print(const char *text);
  void println(const char *text);
  void println(int number);
  void println(double number, int digits);
};
extern SerialPort Serial;
void setup();
void loop();
#endif
