// Files of other tools: recognises them, and makes a model of what they have.

import { cpuprofile } from "./cpuprofile.js";
import { folded } from "./folded.js";
import { count } from "./format.js";
import { Model } from "./model.js";
import { pprof } from "./pprof.js";
import { least } from "./samples.js";
import { perFunction } from "./tree.js";

// bytes that can be read at most, also of what a file is when it is unpacked
const largest = 256 * 2 ** 20;

// The bytes of a stream; fails where there are too many.
async function gathered(stream) {
  const chunks = [];
  let size = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    chunks.push(value);
    if (size > largest) {
      reader.cancel();
      throw new Error("it has more than 256 MB");
    }
  }
  const out = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    out.set(chunk, at);
    at += chunk.length;
  }
  return out;
}

const begins = (bytes, ...wanted) =>
  wanted.every((byte, i) => bytes[i] === byte);

async function unpacked(file) {
  const bytes = await gathered(file.stream());
  if (!begins(bytes, 0x1f, 0x8b)) return bytes;
  try {
    const packed = new Blob([bytes]).stream();
    return await gathered(packed.pipeThrough(new DecompressionStream("gzip")));
  } catch (error) {
    if (error instanceof TypeError) {
      throw new Error("its compressed data are damaged");
    }
    throw error;
  }
}

// Reads a profile. Where a file lacks what its format has, the message of the
// script's error would not tell a user anything.
function parsed(read, content) {
  try {
    return { profile: read(content) };
  } catch (error) {
    const why = error instanceof TypeError || error instanceof RangeError;
    throw why ? new Error("it is damaged") : error;
  }
}

/**
 * What a file is: { page } is the text of a page, { profile } another tool's.
 * Fails with a message.
 * @param {File} file
 */
export async function recognised(file) {
  const bytes = await unpacked(file);
  if (bytes.length === 0) throw new Error("it is empty");
  if (begins(bytes, 0x89, 0x43, 0x50, 0x52, 0x4f, 0x46)) {
    throw new Error(
      "it is a cprof recording: 'cprof html FILE' makes a page from it",
    );
  }
  // texts have no control characters but those of lines
  const binary = bytes
    .subarray(0, 4096)
    .some((byte) => byte < 32 && ![9, 10, 12, 13].includes(byte));
  if (binary) return parsed(pprof, bytes);
  const text = new TextDecoder().decode(bytes);
  const first = text.match(/\S/)?.[0];
  if (first === "<") return { page: text };
  const json = first === "{" || first === "[";
  return parsed(json ? cpuprofile : folded, text);
}

const times = {
  ns: 1,
  nanoseconds: 1,
  µs: 1e3,
  us: 1e3,
  microseconds: 1e3,
  ms: 1e6,
  milliseconds: 1e6,
  s: 1e9,
  seconds: 1e9,
};
const sizes = { bytes: 1, kilobytes: 2 ** 10, megabytes: 2 ** 20 };

// The unit that the page shows for a unit of a file, and how many of these one
// is.
function scaled(unit) {
  if (Object.hasOwn(times, unit)) return ["ns", times[unit]];
  if (Object.hasOwn(sizes, unit)) return ["bytes", sizes[unit]];
  return [unit, 1];
}

const worded = (title) => {
  const words = title.replaceAll("_", " ");
  return words === "cpu"
    ? "CPU"
    : words.charAt(0).toUpperCase() + words.slice(1);
};

// Measures besides the main one, as a page's data have them.
function besides({ stacks, types }, others, functions, tree) {
  /** @type {any} */
  const out = { measures: [], words: {}, memory: {} };
  for (const k of others) {
    const { title, unit } = types[k];
    const [shown, scale] = scaled(unit);
    const key = `file.${title}`;
    const own = stacks.tree(k, -1, scale);
    const { self, total } = perFunction(own, functions);
    out.measures.push(key);
    out.memory[key] = { self: [...self], total: [...total] };
    tree.memory[key] = own.self;
    out.words[key] = {
      title: worded(title),
      hint: `${title} in ${unit}, as the file has it`,
      heading: worded(title),
      column: title.replaceAll("_", " "),
      unit: shown,
    };
  }
  return out;
}

// How certain figures are that come from n samples.
const certain = (n) => ({
  n,
  sure: n,
  least: least(n),
  told: `${count(n)} samples; ± is the margin of error at 95 %`,
});

/** A profile of another tool that is shown in place of the page's own. */
export class Foreign {
  // by unit that was chosen
  models = new Map();

  // from: the address that leads back
  constructor(profile, name, from) {
    this.profile = profile;
    this.name = name;
    this.from = from;
    this.model();
  }

  // The model with figures in this unit; undefined: in the file's own.
  model(unit) {
    if (!this.models.has(unit)) this.models.set(unit, this.made(unit));
    return this.models.get(unit);
  }

  made(chosen) {
    const { profile, name } = this;
    const { stacks, types, units, format } = profile;
    const any = (k) => stacks.own[k].some((n) => n > 0);
    const main = any(profile.main)
      ? profile.main
      : types.findIndex((_, k) => any(k));
    if (main < 0) throw new Error("all of its figures are 0");
    const counts = types.findIndex(
      ({ title }, k) => k !== main && ["calls", "samples"].includes(title),
    );
    const { title, unit } = types[main];
    const own = units?.includes(chosen) ? chosen : unit;
    const [shown, scale] = scaled(own);
    const tree = stacks.tree(main, counts, scale);
    tree.memory = {};
    const { memory, ...more } = besides(
      profile,
      [...types.keys()].filter((k) => k !== main && k !== counts && any(k)),
      stacks.functions.length,
      tree,
    );
    const counted = types[counts]?.title || "none";
    const columns = stacks.columns(tree);
    const named = units && { ns: "Time", bytes: "Bytes" }[shown];
    return new Model(
      {
        ...more,
        unit: shown,
        title: named || worded(title),
        meta: { program: name },
        notes: profile.notes,
        whole: tree.total[0],
        sources: [],
        functions: { ...columns, memory },
        counted,
        samples:
          counted === "samples"
            ? certain(columns.calls.reduce((sum, n) => sum + n, 0))
            : undefined,
        foreign: { format, units, unit: own },
      },
      [tree],
    );
  }
}
