// The page's frame: what all steps share, the tabs, and the source of landmarks.
import * as api from "./api.js";
import { drawHand } from "./draw.js";
import * as outbox from "./outbox.js";
import * as record from "./record.js";
import * as sources from "./sources.js";
import * as take from "./take.js";
import * as train from "./train.js";
import * as trying from "./try.js";

export const $ = (id) => document.getElementById(id);
export const shared = { state: null, training: null, watchers: new Set(), source: null, replaying: false };
const SLOW = 12; // pictures a second below which quick gestures blur
const arrivals = [];
const STEPS = ["record", "train", "try", "take"];

export function say(text) {
  $("message").textContent = text ?? "";
  $("message").hidden = !text;
}

// Runs what a button asks for, and says what went wrong.
export const trial = (work) => async (...given) => {
  try { say(""); return await work(...given); } catch (problem) { say(problem.message); }
};

export function element(name, { attributes = {}, ...properties } = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// The newest training that has come to its end, or null.
export const finished = () => shared.state?.trainings.filter((one) => one.state === "done" && one.points.length).at(-1) ?? null;
// What is known of the size of it that the user has chosen.
export const chosenPoint = (training) => training.points.find((one) => one.name === training.point) ?? training.points.at(-1);
export const kilobytes = (bytes) => (bytes < 1e6 ? `${(bytes / 1000).toFixed(bytes < 1e5 ? 1 : 0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

export async function refresh() {
  shared.state = await api.state();
  $("project").textContent = shared.state.project.split(/[\\/]/).at(-1);
  $("project").title = shared.state.project;
  record.show();
  train.show();
  take.show();
}

function open(step) {
  for (const name of STEPS) {
    const chosen = name === step, tab = $(`tab-${name}`);
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
    $(`step-${name}`).hidden = !chosen;
  }
  $("seen").hidden = step === "train" || step === "take";
  if (step === "take") take.opened();
  if (step === "try") trying.opened(); else trying.left();
  if (location.hash !== `#${step}`) history.replaceState(null, "", `#${step}`);
}

function tabs() {
  for (const name of STEPS) {
    $(`tab-${name}`).addEventListener("click", () => open(name));
    $(`tab-${name}`).addEventListener("keydown", (event) => {
      const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!move) return;
      const next = STEPS[(STEPS.indexOf(name) + move + STEPS.length) % STEPS.length];
      open(next);
      $(`tab-${next}`).focus();
    });
  }
  const asked = location.hash.slice(1);
  open(STEPS.includes(asked) ? asked : "record");
}

// Every frame goes to the picture and to whoever watches: a recording under way, the recogniser that is tried.
export function seen(time, joints) {
  arrivals.push(performance.now());
  if (arrivals.length > 8) arrivals.shift();
  const rate = 1000 * (arrivals.length - 1) / Math.max(1, arrivals.at(-1) - arrivals[0]);
  const slow = shared.source?.live && arrivals.length === 8 && rate < SLOW ? ` The landmarks are slow here, ${rate < 1.5 ? "one picture" : `${rate.toFixed(0)} pictures`} a second: too few for quick gestures.` : "";
  tell((joints ? "A hand is seen." : "No hand is seen.") + slow);
  if (!shared.replaying) drawHand($("skeleton"), joints, shared.state.edges);
  for (const watch of shared.watchers) watch(time, joints);
}

// A screen reader is told of changes only, not of every picture.
function tell(text) { if ($("source-state").textContent !== text) $("source-state").textContent = text; }

export async function use(start) {
  stopSource();
  tell("Starting …");
  $("invitation").hidden = true;
  shared.source = await start();
  $("video").hidden = !shared.source.picture;
  $("video").parentElement.classList.toggle("plain", !shared.source.picture);
  $("stop-source").disabled = false;
  $("use-camera").classList.remove("main");
  record.show();
}

export function stopSource() {
  shared.source?.stop();
  shared.source = null;
  arrivals.length = 0;
  $("video").hidden = true;
  $("stop-source").disabled = true;
  $("use-camera").classList.add("main");
  $("invitation").hidden = false;
  tell("Nothing is seen.");
  drawHand($("skeleton"), null, []);
  if (shared.state) record.show();
}

export const isVideo = (file) => file.type.startsWith("video/") || /\.(mp4|webm|mov|mkv|avi)$/i.test(file.name);

export function needLandmarks() {
  if (!shared.state.mediapipe) throw new Error("pictures need MediaPipe's files: run `bandstop studio --setup` once, then reload this page");
}

// Frames of a landmark file, each 63 floats; the server reads every format that training reads.
export async function framesOf(file) {
  const floats = await api.landmarksOf(file), width = 3 * shared.state.joints;
  return Array.from({ length: floats.length / width }, (_, i) => floats.subarray(i * width, (i + 1) * width));
}

async function useFile(file) {
  const { landmark_order: order, frames_per_second: rate } = shared.state;
  if (isVideo(file)) {
    needLandmarks();
    return sources.videoFile(file, $("video"), order, seen, failed, { rate });
  }
  return sources.landmarkFrames(await framesOf(file), rate, Number($("speed").value), seen);
}

export const failed = (problem) => { stopSource(); say(problem.message); };

// Files dropped on `place` go to `taken`; the place shows that it would take them.
export function takesFiles(place, shown, taken) {
  place.addEventListener("dragover", (event) => { event.preventDefault(); event.stopPropagation(); shown.classList.add("dropping"); });
  place.addEventListener("dragleave", () => shown.classList.remove("dropping"));
  place.addEventListener("drop", trial(async (event) => {
    event.preventDefault();
    event.stopPropagation();
    shown.classList.remove("dropping");
    if (event.dataTransfer.files.length) await taken([...event.dataTransfer.files]);
  }));
}

function sourceButtons() {
  $("use-camera").addEventListener("click", trial(() => use(async () => {
    needLandmarks();
    return { ...await sources.camera($("video"), shared.state.landmark_order, seen, failed), live: true };
  }).catch(failed)));
  $("use-file").addEventListener("change", trial(async () => {
    const [file] = $("use-file").files;
    if (file) await use(() => useFile(file)).catch(failed);
    $("use-file").value = "";
  }));
  $("stop-source").addEventListener("click", stopSource);
  takesFiles($("seen"), $("skeleton").parentElement, ([file]) => use(() => useFile(file)).catch(failed));
}

// What the browser still holds is sent at the start, when the connection is back, and every few seconds until it is stored.
export async function empty() {
  if (!outbox.waiting()) return;
  const { stored, problems } = await outbox.send();
  if (stored.length) await refresh();
  const back = stored.filter((one) => one.recovered);
  if (back.length) say(`${back.length} recording${back.length > 1 ? "s" : ""} from before the reload: look whether to keep ${back.length > 1 ? "them" : "it"}.`);
  if (problems.length) say(`${problems[0].message} (${outbox.waiting()} recording${outbox.waiting() > 1 ? "s" : ""} kept in the browser)`);
}

async function begin() {
  await refresh();
  record.begin(); train.begin(); trying.begin(); take.begin();
  tabs();
  sourceButtons();
  let before = true;
  api.listen((news) => { shared.training = news; train.heard(news); }, (connected) => {
    $("connection").textContent = connected ? "" : "No connection to the studio; recordings are kept in the browser.";
    if (connected && !before) trial(async () => { await refresh(); await empty(); })();
    before = connected;
  });
  await empty();
  setInterval(() => { if (outbox.waiting()) empty().catch(() => {}); }, 3000);
  document.body.dataset.ready = "yes";
}

trial(begin)();
