// The page that `bandstop export --to page` makes: camera, hand landmarks and recogniser, with no server behind them.
import { evenClock } from "./clock.js";
import { drawHand } from "./draw.js";
import { load } from "./live.js";
import * as sources from "./sources.js";

const $ = (id) => document.getElementById(id);
const here = new URL("..", import.meta.url);
const SHOWN = 1500; // milliseconds for which a name stands over the picture
let source = null, live = null, clock = null, settings = null, fading = 0;

const say = (text) => { $("message").textContent = text ?? ""; $("message").hidden = !text; };

function seen(time, joints) {
  $("source-state").textContent = joints ? "A hand is seen." : "No hand is seen.";
  drawHand($("skeleton"), joints, settings.edges);
  if (!joints) return;
  for (const frame of clock.push(time, joints)) {
    const event = live.push(frame);
    if (event) named(event);
  }
  const sure = live.confidence();
  [...$("confidences").children].forEach((bar, i) => { bar.querySelector("meter").value = sure[i]; });
}

function named(event) {
  const item = document.createElement("li"), name = document.createElement("strong"), rest = document.createElement("span");
  name.textContent = event.name;
  rest.textContent = `${(100 * event.confidence).toFixed(0)} % sure, at ${(event.at / settings.frames_per_second).toFixed(1)} s`;
  item.append(name, rest);
  $("events").prepend(item);
  while ($("events").children.length > 30) $("events").lastChild.remove();
  $("no-events").hidden = true;
  $("named").textContent = event.name;
  clearTimeout(fading);
  fading = setTimeout(() => { $("named").textContent = ""; }, SHOWN);
}

function stop() {
  source?.stop();
  source = null;
  $("video").hidden = true;
  $("stop-source").disabled = true;
  $("source-state").textContent = "Nothing is seen.";
  drawHand($("skeleton"), null, []);
}

const failed = (problem) => { stop(); say(problem.message); };

async function use(start) {
  say("");
  stop();
  $("source-state").textContent = "Starting: the landmarks take a moment to load …";
  clock = evenClock(settings.frames_per_second);
  live.begin();
  try { source = await start(); } catch (problem) { failed(problem); return; }
  $("video").hidden = false;
  $("video").parentElement.classList.toggle("plain", !source.picture);
  $("stop-source").disabled = false;
}

function bars() {
  $("confidences").replaceChildren(...live.names.map((name) => {
    const bar = document.createElement("div"), text = document.createElement("span"), meter = document.createElement("meter");
    bar.className = "bar";
    text.textContent = name === "none" ? "none of these" : name;
    meter.setAttribute("aria-label", `Confidence of ${text.textContent}`);
    bar.append(text, meter);
    return bar;
  }));
}

async function begin() {
  settings = await (await fetch(new URL("recogniser.json", here))).json();
  live = await load(new URL("recogniser.wasm", here).href);
  bars();
  $("use-camera").addEventListener("click", () => use(() => sources.camera($("video"), settings.landmark_order, seen, failed)));
  $("use-file").addEventListener("change", () => {
    const [file] = $("use-file").files;
    if (file) use(() => sources.videoFile(file, $("video"), settings.landmark_order, seen, failed));
    $("use-file").value = "";
  });
  $("stop-source").addEventListener("click", stop);
  document.body.dataset.ready = "yes";
}

begin().catch((problem) => say(`The recogniser could not be loaded: ${problem.message}`));
