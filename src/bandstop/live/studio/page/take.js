// Step 4: packages with their sizes, made on this machine when this step is opened.
import * as api from "./api.js";
import { $, chosenPoint, element, finished, kilobytes, shared } from "./main.js";

let shown = "";

export function show() {
  const done = finished(), point = done && chosenPoint(done);
  $("take-state").textContent = !done ? "Nothing is trained yet: see step 2."
    : `Training ${done.number}: ${kilobytes(point.flash)} of flash and ${kilobytes(point.ram)} of memory on a Cortex-M4. Another size is chosen in step 2.`;
  if (!$("step-take").hidden) opened();
}

export function begin() {}

export async function opened() {
  const done = finished();
  if (!done || shown === `${done.number}/${done.point}`) return;
  shown = `${done.number}/${done.point}`;
  const mine = shown, { number, point } = done;
  const rows = Object.entries(shared.state.packages).map(([what, about]) => {
    const told = element("span", { attributes: { "data-size": what } }, "making it …");
    const link = element("a", { className: "button", href: api.packageAddress(number, point, what), download: `bandstop-${what}.zip` }, `Download ${what}`);
    return { what, told, link, item: element("li", {}, element("span", {}, about), told, link) };
  });
  $("packages").replaceChildren(...rows.map((row) => row.item));
  for (const { what, told, link } of rows) { // one after the other: each asks the compilers
    if (shown !== mine) return;
    try {
      told.textContent = `${kilobytes(await api.packageSize(number, point, what))} as a zip`;
    } catch (problem) {
      told.textContent = await api.packageProblem(number, point, what) || problem.message || "could not be made";
      link.hidden = true;
      if (!problem.status) shown = ""; // the connection was lost: ask again next time
    }
  }
}
