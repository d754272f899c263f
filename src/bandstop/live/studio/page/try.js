// Step 3: the exported WebAssembly recogniser on what is seen now; the user says of each event whether it was right.
import * as api from "./api.js";
import { evenClock } from "./clock.js";
import { load } from "./live.js";
import { $, chosenPoint, element, finished, kilobytes, shared, trial } from "./main.js";

const TRIALS = "bandstop-trials";
const SHOWN = 1500; // milliseconds for which a name stands over the picture
let live = null, loaded = "", clock = null, fading = 0;
const all = () => { try { return JSON.parse(localStorage.getItem(TRIALS)) ?? []; } catch { return []; } };
const mine = () => finished()?.number ?? 0;
const trials = () => all().filter((one) => one.training === mine());
const keep = (named, truth) => localStorage.setItem(TRIALS, JSON.stringify([...all(), { training: mine(), named, truth }]));

async function ready() {
  const done = finished();
  if (!done) throw new Error("nothing is trained yet: see step 2");
  const key = `${done.number}/${done.point}`;
  if (key !== loaded) { live = await load(await api.moduleOf(done.number, done.point)); loaded = key; }
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
    keep(event.name, truth);
    item.replaceChildren(element("span", {}, `${event.name}: ${truth === event.name ? "right" : `it was ${truth}`}`));
    confusion();
  };
  const other = element("select", { onchange: () => answer(other.value), attributes: { "aria-label": `What was it, if not ${event.name}?` } },
    element("option", { value: "", disabled: true, selected: true }, "No, it was …"),
    ...gestures.filter((name) => name !== event.name).map((name) => element("option", {}, name)), element("option", { value: "none" }, "nothing"));
  $("named").textContent = event.name;
  clearTimeout(fading);
  fading = setTimeout(() => { $("named").textContent = ""; }, SHOWN);
  item.append(element("strong", {}, event.name), element("span", {}, `${(100 * event.confidence).toFixed(0)} % sure`),
    element("span", { className: "row" }, element("button", { onclick: () => answer(event.name) }, "Right"), other));
  $("events").prepend(item);
  while ($("events").children.length > 30) $("events").lastChild.remove();
}

function confusion() {
  const done = trials(), names = [...new Set(done.flatMap((one) => [one.truth, one.named]))].sort((a, b) => (a === "none") - (b === "none") || a.localeCompare(b));
  $("forget-trials").hidden = !done.length;
  if (!done.length) { $("confusion").replaceChildren(element("p", { className: "hint" }, "No answers yet.")); return; }
  const count = (truth, named) => done.filter((one) => one.truth === truth && one.named === named).length;
  const shown = (name) => (name === "none" ? "nothing" : name);
  const right = done.filter((one) => one.truth === one.named).length;
  const head = element("tr", {}, element("td", {}, "made ↓ named →"), ...names.map((name) => element("th", { scope: "col" }, shown(name))));
  const body = names.map((truth) => element("tr", {}, element("th", { scope: "row" }, shown(truth)),
    ...names.map((named) => element("td", { className: truth === named ? "right" : "" }, `${count(truth, named) || "·"}`))));
  $("confusion").replaceChildren(element("p", {}, `${right} of ${done.length} right.`), element("table", {}, head, ...body));
}

function missedGestures() {
  const names = Object.keys(shared.state.classes).filter((name) => name !== shared.state.none);
  $("missed").replaceChildren(element("option", { value: "", selected: true }, "I made …"), ...names.map((name) => element("option", {}, name)));
  $("missed").disabled = !finished();
}

async function start() {
  await ready();
  if (!shared.source) throw new Error("nothing is seen: use the camera or open a file first");
  clock = evenClock(shared.state.frames_per_second);
  live.begin();
  $("confidences").replaceChildren(...live.names.map((name) => element("div", { className: "bar" },
    element("span", {}, name === "none" ? "none of these" : name), element("meter", { min: 0, max: 1, value: 0, attributes: { "aria-label": `Confidence of ${name}` } }))));
  shared.watchers.add(watch);
  $("try-start").disabled = true;
  $("try-stop").disabled = false;
  $("try-state").textContent = "Watching. Make a gesture.";
}

function end() {
  shared.watchers.delete(watch);
  $("try-start").disabled = false;
  $("try-stop").disabled = true;
  const done = finished();
  $("try-state").textContent = !done ? "Nothing is trained yet: see step 2."
    : `Training ${done.number} is ready, ${kilobytes(chosenPoint(done).flash)} of flash. ${shared.source ? "Press Start." : "Use the camera or open a file, then press Start."}`;
}

export function begin() {
  $("try-start").addEventListener("click", trial(start));
  $("try-stop").addEventListener("click", end);
  $("missed").addEventListener("change", () => { if ($("missed").value) { keep("none", $("missed").value); $("missed").value = ""; confusion(); } });
  $("forget-trials").addEventListener("click", () => { localStorage.setItem(TRIALS, JSON.stringify(all().filter((one) => one.training !== mine()))); confusion(); });
}

export function opened() { if (shared.state) { end(); missedGestures(); confusion(); } }
export function left() { if (shared.state) end(); }
