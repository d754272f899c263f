// Step 4: packages with their sizes, made on this machine when this step is opened.
import * as api from "./api.js";
import { $, element, shared } from "./main.js";

let shown = 0;
const newest = () => shared.state.trainings.filter((one) => one.state === "done").at(-1)?.number ?? 0;
const size = (bytes) => (bytes < 10000 ? `${bytes} bytes` : `${(bytes / 1000).toFixed(0)} kB`);

export function show() {
  $("take-state").textContent = newest() ? `Of training ${newest()}.` : "Nothing is trained yet: see step 2.";
  if (!$("step-take").hidden) opened();
}

export function begin() {}

export function opened() {
  const number = shared.state ? newest() : 0;
  if (!number || number === shown) return;
  shown = number;
  $("packages").replaceChildren(...Object.entries(shared.state.packages).map(([what, about]) => {
    const told = element("span", { attributes: { "data-size": what } }, "making it …");
    const link = element("a", { className: "button", href: api.packageAddress(number, what), download: `bandstop-${what}.zip` }, `Download ${what}`);
    api.packageSize(number, what)
      .then((bytes) => { told.textContent = size(bytes); })
      .catch((problem) => { told.textContent = problem.message || "could not be made"; link.hidden = true; });
    return element("li", {}, element("span", {}, about), told, link);
  }));
}
