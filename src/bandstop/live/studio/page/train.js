// Step 2: a budget, a training that can be stopped and taken up again, and what came of it.
import * as api from "./api.js";
import { $, element, refresh, shared, trial } from "./main.js";

const ENOUGH = 4;
let rows = [];
let number = 0;

export function show() {
  const { classes, none } = shared.state;
  const gestures = Object.entries(classes).filter(([name]) => name !== none);
  const few = gestures.filter(([, found]) => found.length < ENOUGH).map(([name]) => name);
  const wanting = [];
  if (gestures.length < 2) wanting.push("at least two gestures");
  if (few.length) wanting.push(`${ENOUGH} recordings or more of ${few.join(", ")}`);
  const advice = classes[none]?.length ? "" : " Idle recordings would make false alarms rarer.";
  $("enough").textContent = (wanting.length ? `Training needs ${wanting.join(" and ")}.` : "There is enough to train.") + advice;
  $("train").disabled = wanting.length > 0 || shared.training?.state === "running";
}

const thousands = (count) => count.toLocaleString("en-GB");
const percent = (share) => `${(100 * share).toFixed(0)} %`;

export function heard(news) {
  if (news.number !== number || news.after < rows.length) rows = rows.slice(0, news.number === number ? news.after : 0);
  number = news.number;
  rows.push(...news.rows);
  const running = news.state === "running", outcome = news.outcome;
  const epoch = rows.at(-1)?.epoch ?? 0;
  $("train-progress").value = news.epochs ? epoch / news.epochs : 0;
  $("cancel").disabled = !running;
  $("resume").disabled = running || news.state === "done";
  const last = rows.at(-1);
  const detail = last ? `: epoch ${epoch} of ${news.epochs}, ${thousands(last.kept)} connections, ${last.train_accuracy.toFixed(0)} % of the training windows right` : "";
  $("train-state").textContent = {
    running: `Training${detail || " begins"}.`,
    stopped: `Stopped${detail}. It can go on where it was.`,
    failed: `It did not work: ${outcome.problem ?? ""}`,
    done: `Done in ${Math.round(outcome.seconds ?? 0)} s.`,
  }[news.state];
  draw();
  showOutcome(news);
  if (shared.state) { show(); if (news.state === "done") refresh(); }
}

function showOutcome({ state, outcome }) {
  $("outcome").replaceChildren();
  if (state !== "done") return;
  const m = outcome.measures, [low, high] = outcome.detection_interval;
  const facts = {
    "Gestures found": `${percent(m.detection_rate)} of ${m.gestures} held-out ones (between ${percent(low)} and ${percent(high)}, 95 % sure)`,
    "False alarms": `${m.false_alarms_per_minute.toFixed(1)} a minute${outcome.met ? "" : ", more than you asked for: record more, idle hands too"}`,
    "Named": `${(m.delay_frames / 30).toFixed(2)} s after the end (median)`,
    "Connections": `${thousands(outcome.weights_kept)} of ${thousands(outcome.weights_total)}`,
    "Module": `${thousands(outcome.export.files["recogniser_live.wasm"])} bytes of WebAssembly`,
    "Memory": `${thousands(outcome.export.state_bytes)} bytes while it runs`,
  };
  for (const [name, value] of Object.entries(facts)) $("outcome").append(element("dt", {}, name), element("dd", {}, value));
}

function draw() {
  const canvas = $("curves"), pen = canvas.getContext("2d"), { width, height } = canvas;
  const ink = getComputedStyle(document.body);
  pen.clearRect(0, 0, width, height);
  pen.font = "13px system-ui"; pen.fillStyle = ink.color; pen.strokeStyle = ink.getPropertyValue("--line"); pen.lineWidth = 1;
  for (const share of [0, 0.5, 1]) {
    const y = height - 20 - share * (height - 40);
    pen.beginPath(); pen.moveTo(40, y); pen.lineTo(width - 10, y); pen.stroke();
    pen.fillText(`${100 * share} %`, 2, y + 4);
  }
  if (!rows.length) return;
  const most = Math.max(...rows.map((row) => row.kept ?? 0)), last = Math.max(rows.at(-1).epoch, 2);
  const x = (row) => 40 + (row.epoch - 1) / (last - 1) * (width - 50);
  const line = (colour, dash, value, name, at) => {
    pen.strokeStyle = pen.fillStyle = colour; pen.lineWidth = 2.5; pen.setLineDash(dash);
    pen.beginPath();
    rows.forEach((row) => pen.lineTo(x(row), height - 20 - value(row) * (height - 40)));
    pen.stroke(); pen.setLineDash([]);
    pen.fillText(name, at, 14);
  };
  line(ink.getPropertyValue("--accent"), [], (row) => row.train_accuracy / 100, "accuracy on training windows", 60);
  line(ink.getPropertyValue("--alarm"), [6, 4], (row) => (row.kept ?? 0) / most, "connections kept", 300);
}

function budget() {
  const bytes = document.querySelector('[name="budget"]:checked').value === "bytes";
  $("rate-label").hidden = bytes;
  $("bytes-label").hidden = !bytes;
  $("rate-shown").textContent = `${$("rate").value} %`;
  $("bytes-shown").textContent = `${$("bytes").value} kB`;
  return bytes ? { bytes: 1000 * Number($("bytes").value) } : { rate: Number($("rate").value) / 100 };
}

export function begin() {
  $("train-form").addEventListener("input", budget);
  $("train-form").addEventListener("submit", (event) => {
    event.preventDefault();
    trial(() => api.train({ ...budget(), epochs: Number($("epochs").value), false_alarms: Number($("false-alarms").value) }))();
  });
  $("cancel").addEventListener("click", trial(() => api.cancelTraining()));
  $("resume").addEventListener("click", trial(() => api.resumeTraining(number)));
  budget();
  draw();
}
