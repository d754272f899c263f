// Step 1: record gestures, look at them again, delete what went wrong.
import * as api from "./api.js";
import { evenClock } from "./clock.js";
import { drawHand } from "./draw.js";
import { $, element, empty, failed, framesOf, isVideo, needLandmarks, refresh, say, seen, shared, stopSource, takesFiles, trial, use } from "./main.js";
import * as outbox from "./outbox.js";
import * as sources from "./sources.js";

const IDLE_SECONDS = 20;
const spoken = (name) => (name === shared.state.none ? "idle hands" : name);
let chosen = null;
let stop = null; // ends the recording under way

export function show() {
  const { classes, none } = shared.state, names = Object.keys(classes).filter((name) => name !== none);
  if (!names.includes(chosen)) chosen = names[0] ?? null;
  const focused = document.activeElement?.name === "class";
  $("classes").replaceChildren(...names.map((name, i) => {
    const input = element("input", { type: "radio", name: "class", value: name, checked: name === chosen, onchange: () => { chosen = name; show(); } });
    const count = element("span", { className: "count", attributes: { "aria-label": `${classes[name].length} recordings` } }, `${classes[name].length}`);
    const label = element("label", { attributes: { "data-class": name, ...(i < 9 ? { title: `Key ${i + 1}` } : {}) } }, input, name, count);
    takesFiles(label, label, (files) => addFiles(name, files));
    return label;
  }));
  if (focused) $("classes").querySelector(":checked")?.focus();
  $("gestures").hidden = !names.length;
  $("first").hidden = names.length > 1;
  $("add-files").disabled = stop !== null || chosen === null;
  const busy = stop !== null, ready = shared.source !== null && !busy;
  $("record").disabled = !ready || chosen === null;
  $("record-idle").disabled = !ready;
  $("stop-recording").disabled = !busy;
  $("recordings").replaceChildren(...Object.values(classes).flat().sort((a, b) => b.recorded - a.recorded).map(row));
  const total = Object.values(classes).flat().length;
  $("recordings-title").textContent = `Recordings (${total}${classes[none]?.length ? `, ${classes[none].length} of them idle` : ""})`;
}

function row(one) {
  const seconds = (one.frames / shared.state.frames_per_second).toFixed(1);
  const name = `${spoken(one.class_name)}, ${seconds} s`;
  return element("li", { attributes: { "data-id": one.identifier } }, element("span", {}, name), element("span", { className: "row" },
    element("button", { onclick: trial(() => replay(one)), attributes: { "aria-label": `Replay ${name}` } }, "Replay"),
    element("button", { onclick: trial(() => remove(one)), attributes: { "aria-label": `Delete ${name}` } }, "Delete")));
}

async function remove(one) {
  await api.deleteRecording(one.class_name, one.identifier);
  await refresh();
  $("recording-state").replaceChildren(`Deleted a recording of ${spoken(one.class_name)}. `, element("button", {
    onclick: trial(async () => { await api.restoreRecording(one.class_name, one.identifier); $("recording-state").textContent = "It is back."; await refresh(); }),
  }, "Undo"));
}

async function replay(one) {
  if (shared.replaying) return;
  const floats = await api.readRecording(one.class_name, one.identifier), width = 3 * shared.state.joints;
  shared.replaying = true;
  $("invitation").hidden = true;
  $("named").textContent = `replay: ${spoken(one.class_name)}`;
  try {
    for (let at = 0; at < floats.length; at += width) {
      drawHand($("skeleton"), floats.subarray(at, at + width), shared.state.edges);
      await new Promise((resolve) => setTimeout(resolve, 1000 / shared.state.frames_per_second));
    }
  } finally {
    shared.replaying = false;
    $("named").textContent = "";
    drawHand($("skeleton"), null, []);
    $("invitation").hidden = shared.source !== null;
  }
}

async function countdown(seconds, given) {
  for (let left = seconds; left > 0 && !given.aborted; left--) {
    $("countdown").textContent = left;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  $("countdown").textContent = "";
}

// Records until `seconds` of the source's own time have passed, or Stop.
function capture(className, seconds, given) {
  const wanted = Math.round(seconds * shared.state.frames_per_second);
  const clock = evenClock(shared.state.frames_per_second), recording = outbox.begin(className);
  const stage = $("skeleton").parentElement;
  stage.classList.add("recording");
  return new Promise((resolve) => {
    const done = () => {
      shared.watchers.delete(watch);
      stage.classList.remove("recording");
      resolve(recording);
    };
    const watch = (time, joints) => {
      if (!joints) { $("recording-state").textContent = `Recording ${spoken(className)}: no hand is seen, waiting for one.`; return; }
      for (const frame of clock.push(time, joints)) if (recording.frames.length < wanted) recording.add(frame);
      $("recording-state").textContent = `Recording ${spoken(className)}: ${(recording.frames.length / shared.state.frames_per_second).toFixed(1)} s`;
      if (recording.frames.length >= wanted) done();
    };
    given.addEventListener("abort", done);
    shared.watchers.add(watch);
  });
}

async function take(className, seconds, times) {
  const control = new AbortController();
  stop = () => control.abort();
  show();
  let stored = 0;
  try {
    for (let i = 0; i < times && !control.signal.aborted; i++) {
      await countdown(Number($("count-from").value), control.signal);
      if (control.signal.aborted) break;
      const recording = await capture(className, seconds, control.signal);
      if (recording.frames.length < 10) { recording.drop(); break; }
      const { problems } = await recording.finish();
      if (problems.length) say(`${problems[0].message} (the recording is kept in the browser)`); else stored++;
      await refresh().catch(() => {});
    }
  } finally {
    stop = null;
    $("recording-state").textContent = stored ? `Stored ${stored} recording${stored > 1 ? "s" : ""} of ${spoken(className)}.` : "";
    show();
    await empty();
  }
}

// A whole video once through the landmarks; where no hand is seen nothing is recorded.
async function videoFrames(file) {
  needLandmarks();
  const { landmark_order: order, frames_per_second: rate } = shared.state;
  const clock = evenClock(rate), frames = [];
  const watch = (time, joints) => {
    seen(time, joints);
    if (joints) frames.push(...clock.push(time, joints));
    $("recording-state").textContent = `Reading ${file.name}: ${(frames.length / rate).toFixed(1)} s with a hand`;
  };
  await new Promise((resolve, reject) => {
    use(() => sources.videoFile(file, $("video"), order, watch, reject, { rate, ended: resolve })).catch(reject);
    stop = () => reject(new Error("stopped"));
    show();
  }).finally(stopSource);
  return frames;
}

// Whole files as recordings of a class, one each.
async function addFiles(className, files) {
  if (stop !== null || className === null) return;
  stop = () => {};
  show();
  let stored = 0;
  try {
    for (const file of files) {
      const frames = isVideo(file) ? await videoFrames(file) : await framesOf(file);
      if (frames.length < 2) throw new Error(`${file.name} shows no moving hand and was not added`);
      const recording = outbox.begin(className);
      frames.forEach((frame) => recording.add(frame));
      const { problems } = await recording.finish();
      if (problems.length) say(`${problems[0].message} (the recording is kept in the browser)`); else stored++;
    }
  } catch (problem) {
    if (problem.message !== "stopped") failed(problem);
  } finally {
    stop = null;
    await refresh().catch(() => {});
    $("recording-state").textContent = `Added ${stored} of ${files.length} file${files.length > 1 ? "s" : ""} to ${className}.`;
  }
}

export function begin() {
  $("add-files").addEventListener("change", trial(async () => {
    const files = [...$("add-files").files];
    if (files.length) await addFiles(chosen, files);
    $("add-files").value = "";
  }));
  $("new-class").addEventListener("submit", trial(async (event) => {
    event.preventDefault();
    chosen = (await api.addClass($("class-name").value)).name;
    $("class-name").value = "";
    await refresh();
  }));
  $("record").addEventListener("click", trial(() => take(chosen, Number($("seconds").value), Number($("times").value))));
  $("record-idle").addEventListener("click", trial(() => take(shared.state.none, IDLE_SECONDS, 1)));
  $("stop-recording").addEventListener("click", () => stop?.());
  document.addEventListener("keydown", (event) => {
    const busyField = event.target.closest("input:not([type=radio]), select, textarea") !== null;
    if (busyField || event.ctrlKey || event.metaKey || event.altKey || $("step-record").hidden) return;
    const press = { r: "record", i: "record-idle", s: "stop-recording" }[event.key.toLowerCase()];
    if (press) $(press).click();
    const number = Number(event.key);
    if (number >= 1) $("classes").children[number - 1]?.querySelector("input").click();
  });
}
