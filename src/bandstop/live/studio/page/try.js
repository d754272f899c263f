// Step 3: the exported WebAssembly recogniser on what is seen now; the user says of each event whether it was right.
import * as api from "./api.js";
import { evenClock } from "./clock.js";
import { load } from "./live.js";
import { $, element, shared, trial } from "./main.js";

const TRIALS = "bandstop-trials";
let live = null, loaded = 0, clock = null;
const trials = () => { try { return JSON.parse(localStorage.getItem(TRIALS)) ?? []; } catch { return []; } };

const newest = () => shared.state.trainings.filter((one) => one.state === "done").at(-1)?.number ?? 0;

async function ready() {
  const number = newest();
  if (!number) throw new Error("nothing is trained yet: see step 2");
  if (number !== loaded) { live = await load(await api.moduleOf(number)); loaded = number; }
}

function watch(time, joints) {
  if (!joints) return;
  for (const frame of clock.push(time, joints)) {
    const event = live.push(frame);
    if (event) add(event);
  }
  const sure = live.confidence();
  [...$("confidences").children].forEach((bar, i) => { bar.querySelector("meter").value = sure[i]; });
}

function add(event) {
  const gestures = live.names.slice(0, -1), item = element("li", {});
  const answer = (truth) => {
    localStorage.setItem(TRIALS, JSON.stringify([...trials(), { named: event.name, truth }]));
    item.replaceChildren(element("span", {}, `${event.name}: ${truth === event.name ? "right" : `it was ${truth}`}`));
    confusion();
  };
  const other = element("select", { onchange: () => answer(other.value), attributes: { "aria-label": `What was it, if not ${event.name}?` } },
    element("option", { value: "", disabled: true, selected: true }, "No, it was …"),
    ...[...gestures, "none"].filter((name) => name !== event.name).map((name) => element("option", {}, name)));
  item.append(element("strong", {}, event.name), element("span", {}, `${(100 * event.confidence).toFixed(0)} %`),
    element("span", { className: "row" }, element("button", { onclick: () => answer(event.name) }, "Right"), other));
  $("events").prepend(item);
  while ($("events").children.length > 30) $("events").lastChild.remove();
}

function confusion() {
  const done = trials(), names = [...new Set(done.flatMap((one) => [one.truth, one.named]))].sort();
  if (!done.length) { $("confusion").replaceChildren(element("p", { className: "hint" }, "No answers yet.")); return; }
  const count = (truth, named) => done.filter((one) => one.truth === truth && one.named === named).length;
  const right = done.filter((one) => one.truth === one.named).length;
  const head = element("tr", {}, element("th", {}, "done ↓ named →"), ...names.map((name) => element("th", { scope: "col" }, name)));
  const body = names.map((truth) => element("tr", {}, element("th", { scope: "row" }, truth),
    ...names.map((named) => element("td", {}, `${count(truth, named) || ""}`))));
  $("confusion").replaceChildren(element("p", {}, `${right} of ${done.length} events were right.`), element("table", {}, head, ...body));
}

async function start() {
  await ready();
  if (!shared.source) throw new Error("nothing is seen: use the camera or open a file first");
  clock = evenClock(shared.state.frames_per_second);
  live.begin();
  $("confidences").replaceChildren(...live.names.map((name) => element("div", { className: "bar" },
    element("span", {}, name), element("meter", { min: 0, max: 1, value: 0 }))));
  shared.watchers.add(watch);
  $("try-start").disabled = true;
  $("try-stop").disabled = false;
  $("try-state").textContent = "Watching. Make a gesture.";
}

function end() {
  shared.watchers.delete(watch);
  $("try-start").disabled = false;
  $("try-stop").disabled = true;
  $("try-state").textContent = newest() ? `Training ${newest()} is ready.` : "Nothing is trained yet: see step 2.";
}

export function begin() {
  $("try-start").addEventListener("click", trial(start));
  $("try-stop").addEventListener("click", end);
  $("forget-trials").addEventListener("click", () => { localStorage.removeItem(TRIALS); confusion(); });
}

export function opened() { if (shared.state) { end(); confusion(); } }
export function left() { if (shared.state) end(); }
