// Step 2: a budget, a training that can be stopped and taken up again, and what came of it.
import * as api from "./api.js";
import { $, refresh, shared, trial } from "./main.js";
import * as sizes from "./sizes.js";

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
  const advice = classes[none]?.length ? "" : " Recordings of idle hands would make false alarms rarer.";
  $("enough").textContent = (wanting.length ? `Training needs ${wanting.join(" and ")}.` : "There is enough to train.") + advice;
  $("train").disabled = wanting.length > 0 || shared.training?.state === "running";
}

const thousands = (count) => count.toLocaleString("en-GB");

export function heard(news) {
  if (news.number !== number || news.after < rows.length) rows = rows.slice(0, news.number === number ? news.after : 0);
  number = news.number;
  rows.push(...news.rows);
  const running = news.state === "running", outcome = news.outcome;
  const epoch = rows.at(-1)?.epoch ?? 0, trained = epoch === news.epochs;
  // Sizes are judged after the last epoch: together a quarter of the way.
  $("train-progress").value = 0.75 * epoch / news.epochs + 0.25 * news.points.length / news.points_wanted;
  $("cancel").disabled = !running;
  $("resume").disabled = running || news.state === "done";
  const last = rows.at(-1);
  const kept = last?.kept ? `, ${thousands(last.kept)} connections` : "";
  const detail = !last ? "" : trained ? `: size ${Math.min(news.points.length + 1, news.points_wanted)} of ${news.points_wanted} is being judged`
    : `: epoch ${epoch} of ${news.epochs}${kept}, ${last.train_accuracy.toFixed(0)} % of the training windows right`;
  $("train-state").textContent = {
    running: `Training${detail || " begins"}.`,
    stopped: `Stopped${detail}. It can go on where it was.`,
    failed: `It did not work: ${outcome.problem ?? ""}`,
    done: `Done in ${Math.round(outcome.seconds ?? 0)} s of training.`,
  }[news.state];
  draw();
  sizes.show(news);
  if (shared.state) { show(); if (news.state === "done") refresh(); }
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
  if (rows.some((row) => row.kept !== rows[0].kept)) line(ink.getPropertyValue("--alarm"), [6, 4], (row) => (row.kept ?? 0) / most, "connections kept", 300);
}

function budget() {
  const kind = document.querySelector('[name="budget"]:checked').value;
  $("rate-label").hidden = kind !== "rate";
  $("bytes-label").hidden = kind !== "bytes";
  $("many-hint").hidden = kind !== "many";
  $("rate-shown").textContent = `${$("rate").value} %`;
  $("bytes-shown").textContent = `${$("bytes").value} kB`;
  return { many: { many: true }, bytes: { bytes: 1000 * Number($("bytes").value) }, rate: { rate: Number($("rate").value) / 100 } }[kind];
}

export function begin() {
  $("train-form").addEventListener("input", budget);
  $("train-form").addEventListener("submit", (event) => {
    event.preventDefault();
    trial(() => api.train({ ...budget(), epochs: Number($("epochs").value), false_alarms: Number($("false-alarms").value) }))();
  });
  $("cancel").addEventListener("click", trial(() => api.cancelTraining()));
  $("resume").addEventListener("click", trial(() => api.resumeTraining(number)));
  sizes.begin();
  budget();
  draw();
}
