// Where landmarks come from: the camera, a video file, or a file of landmarks. Each calls `seen(time, joints)` with a time in
// milliseconds and 63 floats (x, y, z of 21 joints in the studio's order), or null where no hand is seen.

let landmarker = null;

// MediaPipe's own script, which defines `Hands`; loaded once from this machine.
async function mediapipe() {
  if (landmarker) return landmarker;
  await new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = "/mediapipe/hands.js";
    script.onload = resolve;
    script.onerror = () => reject(new Error("MediaPipe's files are missing: run `bandstop studio --setup` once"));
    document.head.append(script);
  });
  landmarker = new globalThis.Hands({ locateFile: (file) => `/mediapipe/${file}` });
  landmarker.setOptions({ maxNumHands: 1, modelComplexity: 1, minDetectionConfidence: 0.5, minTrackingConfidence: 0.5 });
  await landmarker.initialize();
  return landmarker;
}

// Landmarks in units of the picture's height, in the studio's order of joints.
export function ordered(landmarks, order, aspect) {
  const joints = new Float32Array(3 * order.length);
  order.forEach((from, i) => joints.set([landmarks[from].x * aspect, landmarks[from].y, landmarks[from].z * aspect], 3 * i));
  return joints;
}

async function watch(video, order, seen, clock, alive) {
  const hands = await mediapipe();
  let time = 0;
  hands.onResults((found) => {
    const hand = found.multiHandLandmarks?.[0];
    seen(time, hand ? ordered(hand, order, video.videoWidth / video.videoHeight) : null);
  });
  while (alive()) {
    time = clock();
    if (video.readyState >= 2) await hands.send({ image: video });
    await new Promise(requestAnimationFrame);
  }
}

export async function camera(video, order, seen, failed) {
  const stream = await navigator.mediaDevices.getUserMedia({ video: { width: 640, height: 480 }, audio: false });
  video.srcObject = stream;
  await video.play();
  let on = true;
  watch(video, order, seen, () => performance.now(), () => on).catch(failed);
  return { picture: true, stop() { on = false; stream.getTracks().forEach((track) => track.stop()); video.srcObject = null; } };
}

export async function videoFile(file, video, order, seen, failed) {
  const address = URL.createObjectURL(file);
  video.src = address;
  video.loop = true;
  await video.play();
  let on = true;
  watch(video, order, seen, () => video.currentTime * 1000, () => on).catch(failed);
  return { picture: true, stop() { on = false; video.pause(); video.removeAttribute("src"); URL.revokeObjectURL(address); } };
}

// Frames of a CSV (63 columns, header or not) or of a JSON array of frames.
export function parseLandmarks(name, text) {
  const rows = name.endsWith(".json")
    ? JSON.parse(text).map((frame) => frame.flat(2).map(Number))
    : text.trim().split(/\r?\n/).map((line) => line.split(/[,;\t]/).map(Number));
  const good = rows.filter((row) => row.length === 63 && row.every(Number.isFinite)).map((row) => Float32Array.from(row));
  if (!good.length) throw new Error(`${name} has no row of 63 numbers (x, y, z of 21 joints)`);
  return good;
}

export function landmarkFrames(frames, rate, speed, seen) {
  let i = 0;
  const step = 1000 / rate;
  // The first frame after the last begins anew: its time goes on, so that a file can be watched again and again.
  const timer = setInterval(() => { seen(i * step, frames[i % frames.length]); i++; }, step / speed);
  return { picture: false, stop() { clearInterval(timer); } };
}
