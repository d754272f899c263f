// The numbers of a frame as the module takes them: x, y, z per joint; x, y per joint lie in the plane z = 0.
const numbersOf = (frame, number, joints) => {
  if (frame?.length === 3 * joints) return frame;
  if (frame?.length === 2 * joints)
    return Float32Array.from({ length: 3 * joints }, (_, i) => (i % 3 < 2 ? frame[2 * Math.floor(i / 3) + (i % 3)] : 0));
  const expected = `$${3 * joints} numbers (x, y, z of $${joints} joints) or $${2 * joints} (x, y)`;
  throw new Error(`frame $${number} must hold $${expected}, found $${frame?.length ?? frame}`);
};
