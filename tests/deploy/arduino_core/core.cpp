#include "Arduino.h"
#include <cstdio>
SerialPort Serial;
void SerialPort::begin(unsigned long) {}
void SerialPort::setTimeout(unsigned long) {}
int SerialPort::available() {
  int c = std::getchar();
  while (c == ' ' || c == '\n') c = std::getchar();
  if (c == EOF) return 0;
  std::ungetc(c, stdin);
  return 1;
}
long SerialPort::parseInt() {
  long found = 0;
  return std::scanf("%ld", &found) == 1 ? found : 0;
}
float SerialPort::parseFloat() {
  float found = 0;
  return std::scanf("%f", &found) == 1 ? found : 0;
}
void SerialPort::print(const char *text) { std::printf("%s", text); }
void SerialPort::println(const char *text) { std::printf("%s\n", text); }
void SerialPort::println(int number) { std::printf("%d\n", number); }
void SerialPort::println(double number, int digits) { std::printf("%.*f\n", digits, number); }
int main() {
  setup();
  while (Serial.available()) loop();
  return 0;
}
