// Recordings that the server does not have yet: under way, or finished and not yet stored. They are kept in the browser, so
// that a lost connection, a full disk or a reload in the middle loses nothing; sending one twice is harmless.
import * as api from "./api.js";
import { fromText, joined, toText } from "./clock.js";

const PREFIX = "bandstop-outbox-";
const LEAST_FRAMES = 10;
let sending = null;

const read = (key) => { try { return JSON.parse(localStorage.getItem(key)); } catch { return null; } };
const keys = () => Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));

export const identifier = () => {
  const now = new Date().toISOString().slice(0, 19).replace(/[:T]/g, "-");
  return `${now}-${Array.from(crypto.getRandomValues(new Uint8Array(3)), (b) => b.toString(16).padStart(2, "0")).join("")}`;
};

// A recording under way. While it lasts it holds a lock, so that another tab does not take it for an abandoned one.
export function begin(className) {
  const id = identifier(), key = PREFIX + id, frames = [];
  let free = () => {};
  navigator.locks?.request(key, () => new Promise((resolve) => { free = resolve; }));
  const keep = (done) => {
    try {
      localStorage.setItem(key, JSON.stringify({ id, className, done, floats: toText(joined(frames)) }));
      return true;
    } catch { return false; } // the browser's store is full: the frames stay in memory until they are sent
  };
  return {
    id, className, frames,
    add(frame) { frames.push(frame); if (frames.length % 15 === 0) keep(false); },
    async finish() {
      const kept = keep(true);
      free();
      if (!kept) await api.saveRecording(className, id, joined(frames));
      return send();
    },
    drop() { localStorage.removeItem(key); free(); },
  };
}

export const waiting = () => keys().length;

// Sends everything that is finished or abandoned; returns what was stored and what could not be.
export function send() {
  sending ??= sendAll().finally(() => { sending = null; });
  return sending;
}

async function sendAll() {
  const stored = [], problems = [];
  const held = new Set(((await navigator.locks?.query())?.held ?? []).map((lock) => lock.name));
  for (const key of keys()) {
    const entry = read(key);
    if (entry === null) { localStorage.removeItem(key); continue; }
    if (!entry.done && held.has(key)) continue;
    const floats = fromText(entry.floats);
    if (floats.length < 2 * 63 || (!entry.done && floats.length < LEAST_FRAMES * 63)) { localStorage.removeItem(key); continue; }
    try {
      stored.push({ ...(await api.saveRecording(entry.className, entry.id, floats)), recovered: !entry.done });
      localStorage.removeItem(key);
    } catch (problem) {
      problems.push(problem);
      if (problem.status === 400) localStorage.setItem(key.replace(PREFIX, "bandstop-refused-"), localStorage.getItem(key)), localStorage.removeItem(key);
    }
  }
  return { stored, problems };
}
