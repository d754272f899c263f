// const r = await load("${name}.wasm"); r.classify(frames) -> {index, name, scores}; frames: arrays of x, y, z per joint
export async function load(source) {
  const bytes = typeof source === "string" ? await (await fetch(source)).arrayBuffer() : source;
  const { instance: { exports: wasm } } = await WebAssembly.instantiate(bytes, {});
  const floats = (at, count) => new Float32Array(wasm.memory.buffer, at, count);
  const text = (at) => {
    const all = new Uint8Array(wasm.memory.buffer, at);
    return new TextDecoder().decode(all.slice(0, all.indexOf(0)));
  };
  const names = Array.from({ length: wasm.classes() }, (_, i) => text(wasm.class_name(i)));
  const push = (frame) => { floats(wasm.frame(), wasm.values()).set(frame); return wasm.push_frame(); };
  const answer = () => {
    const index = wasm.classify(); // negative: no answer, see the codes in ${name}.h
    const said = { index, name: names[index] ?? null, scores: Array.from(floats(wasm.scores(), names.length)) };
    const named = wasm.answer && index >= 0 ? wasm.answer() : null; // -1: none of these
    return named === null ? said : { ...said, index: named, name: names[named] ?? "none", confidence: wasm.confidence() };
  };
  const classify = (frames) => { wasm.begin(frames.length); frames.forEach(push); return answer(); };
  return { names, begin: wasm.begin, push, answer, classify };
}
