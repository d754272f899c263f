// Step 1: record gestures, look at them again, delete what went wrong.
import * as api from "./api.js";
import { evenClock } from "./clock.js";
import { drawHand } from "./draw.js";
import { $, element, empty, refresh, say, shared, trial } from "./main.js";
import * as outbox from "./outbox.js";

const IDLE_SECONDS = 20;
let chosen = null;
let stop = null; // ends the recording under way

export function show() {
  const { classes, none } = shared.state, names = Object.keys(classes).filter((name) => name !== none);
  if (!names.includes(chosen)) chosen = names[0] ?? null;
  $("classes").replaceChildren(...names.map((name, i) => element("button", {
    type: "button", onclick: () => { chosen = name; show(); $("classes").querySelector('[aria-checked="true"]').focus(); },
    attributes: { role: "radio", "aria-checked": name === chosen, "data-class": name, ...(i < 9 ? { "aria-keyshortcuts": `${i + 1}` } : {}) },
  }, name, element("span", { className: "count" }, `${classes[name].length}`))));
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
  const name = `${one.class_name}, ${seconds} s`;
  return element("li", { attributes: { "data-id": one.identifier } }, element("span", {}, name), element("span", { className: "row" },
    element("button", { onclick: trial(() => replay(one)), attributes: { "aria-label": `Replay ${name}` } }, "Replay"),
    element("button", { onclick: trial(() => remove(one)), attributes: { "aria-label": `Delete ${name}` } }, "Delete")));
}

async function remove(one) {
  await api.deleteRecording(one.class_name, one.identifier);
  await refresh();
  $("recording-state").replaceChildren(`Deleted a recording of ${one.class_name}. `, element("button", {
    onclick: trial(async () => { await api.restoreRecording(one.class_name, one.identifier); $("recording-state").textContent = "It is back."; await refresh(); }),
  }, "Undo"));
}

async function replay(one) {
  const floats = await api.readRecording(one.class_name, one.identifier), width = 3 * shared.state.joints;
  for (let at = 0; at < floats.length; at += width) {
    drawHand($("skeleton"), floats.subarray(at, at + width), shared.state.edges);
    await new Promise((resolve) => setTimeout(resolve, 1000 / shared.state.frames_per_second));
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
      if (!joints) return;
      for (const frame of clock.push(time, joints)) if (recording.frames.length < wanted) recording.add(frame);
      $("recording-state").textContent = `Recording ${className}: ${(recording.frames.length / shared.state.frames_per_second).toFixed(1)} s`;
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
    $("recording-state").textContent = stored ? `Stored ${stored} recording${stored > 1 ? "s" : ""} of ${className}.` : "";
    show();
    await empty();
  }
}

export function begin() {
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
    const busyField = event.target.closest("input, select, textarea") !== null;
    if (busyField || event.ctrlKey || event.metaKey || event.altKey || $("step-record").hidden) return;
    const press = { r: "record", i: "record-idle", s: "stop-recording" }[event.key.toLowerCase()];
    if (press) $(press).click();
    const number = Number(event.key);
    if (number >= 1) $("classes").children[number - 1]?.click();
  });
}
