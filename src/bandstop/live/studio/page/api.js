// Talking to the studio's server. Every answer that is not one carries a sentence that says why.

export class Refused extends Error {
  constructor(problem, status) { super(problem); this.status = status; }
}

async function ask(method, path, body) {
  let answer;
  try {
    const json = body !== undefined && !(body instanceof Float32Array) && !(body instanceof Blob);
    answer = await fetch(path, { method, body: json ? JSON.stringify(body) : body, cache: "no-store" });
  } catch {
    throw new Refused("the studio does not answer; is `bandstop studio` still running?", 0);
  }
  if (answer.ok) return answer;
  const text = await answer.text();
  let problem = text;
  try { problem = JSON.parse(text).problem ?? text; } catch { /* plain text */ }
  throw new Refused(problem, answer.status);
}

const one = (c, id) => `/api/recordings/${encodeURIComponent(c)}/${encodeURIComponent(id)}`;

export const state = async () => (await ask("GET", "/api/state")).json();
export const addClass = async (name) => (await ask("POST", "/api/classes", { name })).json();
export const removeClass = (name) => ask("DELETE", `/api/classes/${encodeURIComponent(name)}`);
export const saveRecording = async (c, id, floats) => (await ask("PUT", one(c, id), floats)).json();
export const readRecording = async (c, id) => new Float32Array(await (await ask("GET", one(c, id))).arrayBuffer());
export const deleteRecording = (c, id) => ask("DELETE", one(c, id));
export const restoreRecording = (c, id) => ask("POST", `${one(c, id)}/restore`);
export const train = async (settings) => (await ask("POST", "/api/trainings", settings)).json();
export const cancelTraining = () => ask("POST", "/api/trainings/cancel");
export const resumeTraining = (number) => ask("POST", `/api/trainings/${number}/resume`);
export const choosePoint = (number, point) => ask("PUT", `/api/trainings/${number}/choice`, { point });
const pointAddress = (number, point) => `/api/trainings/${number}/points/${encodeURIComponent(point)}`;
export const packageAddress = (number, point, what) => `${pointAddress(number, point)}/packages/${what}`;
export const packageSize = async (number, point, what) =>
  Number((await ask("HEAD", packageAddress(number, point, what))).headers.get("content-length"));
export const packageProblem = async (number, point, what) => // a HEAD has no text: ask once more for the sentence
  ask("GET", packageAddress(number, point, what)).then(() => "", (problem) => problem.message);
export const moduleOf = async (number, point) =>
  (await ask("GET", `${pointAddress(number, point)}/recogniser.wasm`)).arrayBuffer();
export const landmarksOf = async (file) =>
  new Float32Array(await (await ask("POST", `/api/landmarks/${encodeURIComponent(file.name)}`, file)).arrayBuffer());

// Calls `heard` with each message; connects again by itself. `changed` is told whether there is a connection.
export function listen(heard, changed) {
  let pause = 500;
  const connect = () => {
    const socket = new WebSocket(`ws://${location.host}/api/progress`);
    socket.onopen = () => { pause = 500; changed(true); };
    socket.onmessage = (message) => heard(JSON.parse(message.data));
    socket.onclose = () => { changed(false); setTimeout(connect, pause); pause = Math.min(8000, pause * 2); };
  };
  connect();
}
