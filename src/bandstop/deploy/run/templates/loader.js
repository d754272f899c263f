// const r = await load("${name}.wasm"); r.classify(frames) -> {index, name, scores}; frames: arrays of x, y, z (or x, y) per joint
${frame}
export async function load(source) {
  const bytes = typeof source === "string" ? await (await fetch(source)).arrayBuffer() : source;
  const { instance: { exports: wasm } } = await WebAssembly.instantiate(bytes, {});
  const floats = (at, count) => new Float32Array(wasm.memory.buffer, at, count);
  const text = (at) => {
    const all = new Uint8Array(wasm.memory.buffer, at);
    return new TextDecoder().decode(all.slice(0, all.indexOf(0)));
  };
  const names = Array.from({ length: wasm.classes() }, (_, i) => text(wasm.class_name(i)));
  let pushed = 0;
  const begin = (length) => { pushed = 0; return wasm.begin(length); };
  const push = (frame) => {
    floats(wasm.frame(), wasm.values()).set(numbersOf(frame, pushed, wasm.values() / 3));
    pushed += 1;
    return wasm.push_frame();
  };
  const answer = () => {
    const index = wasm.classify(); // negative: no answer, see the codes in ${name}.h
    const said = { index, name: names[index] ?? null, scores: Array.from(floats(wasm.scores(), names.length)) };
    const named = wasm.answer && index >= 0 ? wasm.answer() : null; // -1: none of these
    return named === null ? said : { ...said, index: named, name: names[named] ?? "none", confidence: wasm.confidence() };
  };
  const classify = (frames) => { begin(frames.length); frames.forEach(push); return answer(); };
  return { names, begin, push, answer, classify };
}
