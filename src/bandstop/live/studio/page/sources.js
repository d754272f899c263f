// Where landmarks come from: the camera, a video file, or frames of landmarks. Each calls `seen(time, joints)` with a time in
// milliseconds and 63 floats (x, y, z of 21 joints in the wanted order), or null where no hand is seen.

const MEDIAPIPE = new URL("../mediapipe/", import.meta.url).href; // beside this folder, wherever it is served
let landmarker = null;

// MediaPipe's own script, which defines `Hands`; loaded once from this machine.
async function mediapipe() {
  if (landmarker) return landmarker;
  await new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${MEDIAPIPE}hands.js`;
    script.onload = resolve;
    script.onerror = () => reject(new Error("MediaPipe's files are missing: the folder mediapipe has no hands.js"));
    document.head.append(script);
  });
  landmarker = new globalThis.Hands({ locateFile: (file) => MEDIAPIPE + file });
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
    if (alive()) seen(time, hand ? ordered(hand, order, video.videoWidth / video.videoHeight) : null);
  });
  while (alive()) {
    time = clock();
    if (video.readyState >= 2) await hands.send({ image: video });
    await new Promise(requestAnimationFrame);
  }
}

const WHY = {
  NotAllowedError: "the browser was not allowed to use the camera: allow it beside the address and try again",
  NotFoundError: "no camera was found: connect one, or open a file",
  NotReadableError: "the camera is in use by another program",
};

export async function camera(video, order, seen, failed) {
  if (!navigator.mediaDevices) throw new Error("browsers give the camera only to pages of this machine or over https");
  const wanted = { video: { width: 640, height: 480 }, audio: false };
  const stream = await navigator.mediaDevices.getUserMedia(wanted)
    .catch((problem) => { throw new Error(WHY[problem.name] ?? problem.message); });
  video.srcObject = stream;
  await video.play();
  let on = true;
  watch(video, order, seen, () => performance.now(), () => on).catch(failed);
  return { picture: true, stop() { on = false; stream.getTracks().forEach((track) => track.stop()); video.srcObject = null; } };
}

const seek = (video, time) => new Promise((resolve) => {
  if (video.currentTime === time) { resolve(); return; }
  video.onseeked = resolve;
  video.currentTime = time;
});

// Plays a video again and again; with `ended` once, and then says so. A picture is not shown before the last one was looked at,
// however long that takes: the video is stepped by hand.
export async function videoFile(file, video, order, seen, failed, { rate = 30, ended = null } = {}) {
  const address = URL.createObjectURL(file);
  let on = true;
  const stop = () => { on = false; video.removeAttribute("src"); video.load(); URL.revokeObjectURL(address); };
  await new Promise((resolve, reject) => {
    video.onloadeddata = resolve;
    video.onerror = () => { stop(); reject(new Error(`${file.name} is not a video that this browser can play`)); };
    video.src = address;
  });
  video.onerror = null;
  if (!Number.isFinite(video.duration)) await seek(video, 1e7); // recorded by a browser: its length is found at its end
  const hands = await mediapipe();
  let time = 0;
  hands.onResults((found) => {
    const hand = found.multiHandLandmarks?.[0];
    if (on) seen(time, hand ? ordered(hand, order, video.videoWidth / video.videoHeight) : null);
  });
  const length = Number.isFinite(video.duration) ? video.duration : 0;
  const play = async () => {
    for (let i = 0; on; i++) {
      const at = length ? (i / rate) % length : 0;
      if (ended && i / rate >= length) { ended(); return; }
      await seek(video, at);
      time = 1000 * i / rate;
      if (on) await hands.send({ image: video });
    }
  };
  play().catch(failed);
  return { picture: true, stop };
}

// Frames of 63 floats, at `speed` times `rate` frames a second, again and again.
export function landmarkFrames(frames, rate, speed, seen) {
  let i = 0;
  const step = 1000 / rate;
  // The first frame after the last begins anew: its time goes on, so that a file can be watched again and again.
  const timer = setInterval(() => { seen(i * step, frames[i % frames.length]); i++; }, step / speed);
  return { picture: false, stop() { clearInterval(timer); } };
}
