// const live = await load("${name}_live.wasm"); const event = live.push(frame);
// frame: x, y, z (or x, y) of every joint; event: null, or {label, name, confidence, begin, end, at} when a gesture is named.
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
  const joints = wasm.live_joints();
  let pushed = 0;
  const begin = () => { pushed = 0; wasm.live_begin(); };
  const push = (frame) => {
    floats(wasm.live_frame(), 3 * joints).set(numbersOf(frame, pushed, joints));
    pushed += 1;
    if (!wasm.live_push_frame()) return null;
    const fields = new DataView(wasm.memory.buffer, wasm.live_event(), 20);
    const label = fields.getInt32(12, true);
    return {
      label, name: names[label], confidence: fields.getFloat32(16, true), begin: fields.getUint32(0, true),
      end: fields.getUint32(4, true), at: fields.getUint32(8, true),
    };
  };
  begin();
  return {
    names, joints, push, begin,
    confidence: () => Array.from(floats(wasm.live_confidence(), names.length)), // of each class at the last look
  };
}
