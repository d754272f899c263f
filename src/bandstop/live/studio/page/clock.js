// Frames of a camera come when they come; recordings and recognisers want an even clock.

// Puts timed frames on a clock of `rate` frames a second by linear interpolation; push() returns the frames that are due.
// A pause of more than LONGEST_GAP (the hand was away, or another file began) is not bridged.
const LONGEST_GAP = 1500;

export function evenClock(rate) {
  const step = 1000 / rate;
  let before = null; // {time, joints}
  let next = 0;
  return {
    push(time, joints) {
      if (before === null || time - before.time > LONGEST_GAP || time <= before.time) { // a gap: begin anew
        before = { time, joints };
        next = time + step;
        return [Float32Array.from(joints)];
      }
      const due = [];
      for (; next <= time; next += step) {
        const share = (next - before.time) / (time - before.time);
        due.push(Float32Array.from(joints, (value, i) => before.joints[i] + (value - before.joints[i]) * share));
      }
      before = { time, joints };
      return due;
    },
    reset() { before = null; },
  };
}

// One array of floats from many frames.
export function joined(frames) {
  const all = new Float32Array(frames.reduce((sum, frame) => sum + frame.length, 0));
  let at = 0;
  for (const frame of frames) { all.set(frame, at); at += frame.length; }
  return all;
}

export function toText(floats) {
  const bytes = new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength);
  let text = "";
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text);
}

export function fromText(text) {
  return new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
}
