// pprof's profile.proto: samples with locations, the callee first, and a
// figure for each sample type. The parts of a file may come in any order.

import { Stacks } from "./stacks.js";

const utf8 = new TextDecoder();

const damaged = () => new Error("it is damaged, or ends too early");

// Reads the numbers of a message.
class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  get done() {
    return this.at >= this.bytes.length;
  }

  number() {
    let n = 0;
    for (let scale = 1; scale < 2 ** 70; scale *= 128) {
      if (this.done) break;
      const byte = this.bytes[this.at++];
      n += (byte & 127) * scale;
      // numbers below 0 take all of 64 bits
      if (byte < 128) return n >= 2 ** 63 ? n - 2 ** 64 : n;
    }
    throw damaged();
  }

  skip(size) {
    this.at += size;
    if (this.at > this.bytes.length) throw damaged();
    return this.bytes.subarray(this.at - size, this.at);
  }
}

// Calls f(field, value) for the fields of a message, with a number, or with
// the bytes of a text, a message or packed numbers.
function fields(bytes, f) {
  const reader = new Reader(bytes);
  while (!reader.done) {
    const key = reader.number();
    const field = Math.floor(key / 8);
    if (field < 1) throw damaged();
    if (key % 8 === 0) f(field, reader.number());
    else if (key % 8 === 2) f(field, reader.skip(reader.number()));
    else if (key % 8 === 1) reader.skip(8);
    else if (key % 8 === 5) reader.skip(4);
    else throw damaged();
  }
}

// A message whose fields have these names. A name that ends in "s" is a list
// of numbers, or of bytes.
function message(bytes, names) {
  if (typeof bytes === "number") throw damaged();
  /** @type {any} */
  const out = {};
  for (const name of names) if (name) out[name] = name.endsWith("s") ? [] : 0;
  fields(bytes, (field, value) => {
    const name = names[field - 1];
    if (!name) return;
    if (!name.endsWith("s")) out[name] = value;
    else if (typeof value === "number" || name === "lines") {
      out[name].push(value);
    } else {
      const list = new Reader(value);
      while (!list.done) out[name].push(list.number());
    }
  });
  return out;
}

// The parts of a profile.
function parts(bytes) {
  const names = ["types", "samples", "", "locations", "functions", "texts"];
  /** @type {any} */
  const out = { default: 0 };
  for (const name of names) if (name) out[name] = [];
  fields(bytes, (field, value) => {
    const name = names[field - 1];
    if (field === 14) out.default = value;
    if (!name) return;
    if (typeof value === "number") throw damaged();
    out[name].push(value);
  });
  return out;
}

// A function of the file as one of `stacks`.
function add(stacks, { name, file, line }) {
  // cprof's names are titles, which tell file and line
  if (!file || name.endsWith(")")) return stacks.called(name || '""');
  return stacks.add({ name: name || `<fn:${line}>`, place: file, line });
}

/**
 * Reads a pprof profile that is not compressed; fails with a message.
 * @param {Uint8Array} bytes
 */
export function pprof(bytes) {
  const all = parts(bytes);
  const texts = all.texts.map((text) => utf8.decode(text));
  const text = (number) => {
    if (texts[number] === undefined) throw damaged();
    return texts[number];
  };
  const types = all.types.map((one) => {
    const { type, unit } = message(one, ["type", "unit"]);
    return { title: text(type), unit: text(unit) };
  });
  if (types.length === 0) {
    throw new Error("it is neither text nor pprof: it has no sample types");
  }
  const stacks = new Stacks(types.length);
  const functions = new Map();
  for (const one of all.functions) {
    const f = message(one, ["id", "name", "", "file", "line"]);
    const [name, file] = [text(f.name), text(f.file)];
    functions.set(f.id, add(stacks, { name, file, line: f.line }));
  }
  // by location: its functions, the callee first where some are inlined
  const locations = new Map();
  for (const one of all.locations) {
    const { id, at, lines } = message(one, ["id", "", "at", "lines"]);
    const list = lines.map((line) => {
      const f = functions.get(message(line, ["function"]).function);
      if (f === undefined) throw damaged();
      return f;
    });
    if (list.length === 0) list.push(stacks.called(`0x${at.toString(16)}`));
    locations.set(id, list);
  }
  for (const one of all.samples) {
    const { ids, values } = message(one, ["ids", "values"]);
    if (values.length !== types.length) throw damaged();
    let node = 0;
    for (let i = ids.length - 1; i >= 0; i--) {
      const list = locations.get(ids[i]);
      if (!list) throw damaged();
      for (let k = list.length - 1; k >= 0; k--) {
        node = stacks.child(node, list[k]);
      }
    }
    values.forEach((n, k) => stacks.count(node, k, n));
  }
  if (all.samples.length === 0) throw new Error("it has no samples");
  // the last type, unless the file names one
  const named = types.findIndex(({ title }) => title === text(all.default));
  const main = all.default > 0 && named >= 0 ? named : types.length - 1;
  return { format: "pprof", stacks, types, main, notes: [] };
}
