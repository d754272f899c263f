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
export const shared = { state: null, training: null, watchers: new Set(), source: null };
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

export async function refresh() {
  shared.state = await api.state();
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
function seen(time, joints) {
  arrivals.push(performance.now());
  if (arrivals.length > 8) arrivals.shift();
  const rate = 1000 * (arrivals.length - 1) / Math.max(1, arrivals.at(-1) - arrivals[0]);
  const slow = arrivals.length === 8 && rate < SLOW ? ` Only ${rate.toFixed(0)} pictures a second are read: too few for quick gestures.` : "";
  $("source-state").textContent = (joints ? "A hand is seen." : "No hand is seen.") + slow;
  drawHand($("skeleton"), joints, shared.state.edges);
  for (const watch of shared.watchers) watch(time, joints);
}

async function use(start) {
  stopSource();
  $("source-state").textContent = "Starting …";
  shared.source = await start();
  $("video").hidden = !shared.source.picture;
  $("video").parentElement.classList.toggle("plain", !shared.source.picture);
  $("stop-source").disabled = false;
  record.show();
}

export function stopSource() {
  shared.source?.stop();
  shared.source = null;
  $("video").hidden = true;
  $("stop-source").disabled = true;
  $("source-state").textContent = "Nothing is seen.";
  drawHand($("skeleton"), null, []);
  if (shared.state) record.show();
}

async function useFile(file) {
  const { landmark_order: order, frames_per_second: rate } = shared.state;
  if (file.type.startsWith("video/")) {
    return sources.videoFile(file, $("video"), order, seen, failed);
  }
  return sources.landmarkFrames(sources.parseLandmarks(file.name, await file.text()), rate, Number($("speed").value), seen);
}

const failed = (problem) => { stopSource(); say(problem.message); };

function sourceButtons() {
  $("use-camera").addEventListener("click", trial(() => use(() => {
    if (!shared.state.mediapipe) throw new Error("the camera needs MediaPipe's files: run `bandstop studio --setup` once, then reload");
    return sources.camera($("video"), shared.state.landmark_order, seen, failed);
  }).catch(failed)));
  $("use-file").addEventListener("change", trial(async () => {
    const [file] = $("use-file").files;
    if (file) await use(() => useFile(file)).catch(failed);
    $("use-file").value = "";
  }));
  $("stop-source").addEventListener("click", stopSource);
  const drop = $("seen");
  drop.addEventListener("dragover", (event) => event.preventDefault());
  drop.addEventListener("drop", trial(async (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file) await use(() => useFile(file)).catch(failed);
  }));
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
    if (connected && !before) trial(async () => { await empty(); await refresh(); })();
    before = connected;
  });
  await empty();
  setInterval(() => { if (outbox.waiting()) empty().catch(() => {}); }, 3000);
  document.body.dataset.ready = "yes";
}

trial(begin)();
