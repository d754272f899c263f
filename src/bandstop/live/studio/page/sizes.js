// The sizes of a training: a slider that moves without training, what each size finds, and a picture of all of them.
import * as api from "./api.js";
import { $, chosenPoint, element, kilobytes, refresh, shared, trial } from "./main.js";

let training = null;
const thousands = (count) => count.toLocaleString("en-GB");
const percent = (share) => `${(100 * share).toFixed(0)} %`;
const interval = ({ detection_interval: [low, high] }) => `${percent(low)} to ${percent(high)}`;
const shortly = (point) => `${kilobytes(point.flash)} of flash, ${percent(point.rate)} of the connections removed`;

export function show(news) {
  training = news;
  $("sizes").hidden = !news?.points.length;
  if ($("sizes").hidden) return;
  const { points } = news, point = chosenPoint(news), at = points.indexOf(point);
  $("sizes-choice").hidden = $("sizes-picture").hidden = points.length < 2;
  $("size").max = points.length - 1;
  $("size").value = at;
  facts(point);
  table(points, point);
  draw(points, point);
}

function facts(point) {
  $("size-shown").textContent = shortly(point);
  $("size").setAttribute("aria-valuetext", `${shortly(point)}, ${percent(point.measures.detection_rate)} of the gestures found`);
  const m = point.measures, known = {
    "Gestures found": `${percent(m.detection_rate)} of ${m.gestures} held-out ones; with 95 % certainty ${interval(point)} of those to come`,
    "False alarms": `${m.false_alarms_per_minute.toFixed(1)} a minute${point.met ? "" : ", more than you asked for: record more, idle hands too"}`,
    "Delay": Number.isFinite(m.delay_frames) ? `${(m.delay_frames / 30).toFixed(2)} s after the gesture's end (median)` : "nothing was found",
    "Flash": `${thousands(point.flash)} bytes, code and weights, on a Cortex-M4`,
    "Memory": `${thousands(point.ram)} bytes while it runs`,
    "Connections": `${thousands(point.weights_kept)} of ${thousands(point.weights_total)}`,
  };
  $("outcome").replaceChildren(...Object.entries(known).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

function table(points, chosen) {
  const head = ["Flash", "Removed", "Found", "95 % sure", "False alarms a minute"].map((text) => element("th", { scope: "col" }, text));
  const rows = points.map((one) => element("tr", { attributes: one === chosen ? { "aria-current": "true" } : {} },
    element("th", { scope: "row" }, kilobytes(one.flash)), element("td", {}, percent(one.rate)), element("td", {}, percent(one.measures.detection_rate)),
    element("td", {}, interval(one)), element("td", {}, one.measures.false_alarms_per_minute.toFixed(1))));
  $("size-table").replaceChildren(element("table", {}, element("tr", {}, ...head), ...rows));
}

function draw(points, chosen) {
  const canvas = $("size-curve"), pen = canvas.getContext("2d"), { width, height } = canvas;
  const ink = getComputedStyle(document.body), colour = (name) => ink.getPropertyValue(name);
  const left = 52, bottom = height - 34, top = 24;
  const sizes = points.map((one) => Math.log(one.flash)), low = Math.min(...sizes), high = Math.max(...sizes, low + 0.1);
  const x = (one) => left + 14 + (Math.log(one.flash) - low) / (high - low) * (width - left - 44);
  const y = (share) => bottom - share * (bottom - top);
  pen.clearRect(0, 0, width, height);
  pen.font = "14px system-ui"; pen.lineWidth = 1;
  for (const share of [0, 0.5, 1]) {
    pen.strokeStyle = colour("--line"); pen.fillStyle = ink.color;
    pen.beginPath(); pen.moveTo(left, y(share)); pen.lineTo(width - 10, y(share)); pen.stroke();
    pen.textAlign = "right"; pen.fillText(percent(share), left - 6, y(share) + 5);
  }
  pen.textAlign = "left"; pen.fillText("gestures found, with 95 % intervals", left, 15);
  pen.textAlign = "center";
  let free = 0; // where the next number has room
  for (const one of points) {
    const [a, b] = one.detection_interval, mine = one === chosen;
    pen.strokeStyle = pen.fillStyle = colour(mine ? "--alarm" : "--accent");
    pen.lineWidth = mine ? 4 : 2;
    pen.beginPath(); pen.moveTo(x(one), y(a)); pen.lineTo(x(one), y(b)); pen.stroke();
    pen.beginPath(); pen.arc(x(one), y(one.measures.detection_rate), mine ? 8 : 5, 0, 2 * Math.PI); pen.fill();
    if (x(one) < free) continue;
    pen.fillStyle = ink.color; pen.fillText(kilobytes(one.flash), x(one), height - 10);
    free = x(one) + 64;
  }
}

async function choose(at) {
  const point = training.points[at];
  if (!point || point.name === training.point) return;
  await api.choosePoint(training.number, point.name);
  await refresh();
}

export function begin() {
  $("size").addEventListener("input", () => { // at once, before the server knows
    const point = training.points[Number($("size").value)];
    facts(point);
    draw(training.points, point);
  });
  $("size").addEventListener("change", trial(() => choose(Number($("size").value))));
  $("fit").addEventListener("click", trial(async () => {
    const room = 1000 * Number($("room").value), fits = training.points.filter((one) => one.flash <= room);
    if (!room) throw new Error("say first how many kilobytes of flash there are");
    if (!fits.length) throw new Error(`the smallest has ${kilobytes(training.points[0].flash)} of flash`);
    await choose(training.points.indexOf(fits.at(-1)));
    show({ ...training, point: fits.at(-1).name });
  }));
}
