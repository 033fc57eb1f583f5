// A range of time of a profile, as a profile of its own: a model that has only
// what was sampled in it. In the address, a range is "1.4s..1.6s".

import { bound } from "./bound.js";
import { count, fixed, precise } from "./format.js";
import { Model } from "./model.js";
import { momentsOf } from "./moments.js";
import { both, few, least, worth } from "./samples.js";
import { tasksOf } from "./streaks.js";
import { calledFrom, firstInC, perFunction, Tree } from "./tree.js";

const second = 1e9;

// A time as the options --from and --to take it, exact to a microsecond.
export function told(ns) {
  const text = (ns / second).toFixed(6);
  return text.replace(/0+$/, "").replace(/\.$/, "") + "s";
}

// The text of a range for the address. An end of the recording is left out.
export function written(range, { begins, wall }) {
  const [from, to] = range;
  return `${from > begins ? told(from) : ""}..${to < wall ? told(to) : ""}`;
}

// decimals that show a time in ns, as seconds, with three digits
const decimals = (ns) =>
  Math.max(0, Math.min(2 - Math.floor(Math.log10(ns / second)), 6));

// A range in the words of a label, as `range.ends` in profile/range.lua has it:
// its ends with equally many decimals, no more than people read.
export function named(range) {
  const [from, to] = range;
  const own = (ns) => (/\.(\d+)/.exec(told(ns)) || ["", ""])[1].length;
  const enough = Math.max(3, decimals(Math.max(to - from, 1)));
  const n = Math.min(Math.max(own(from), own(to)), enough);
  return [from, to].map((ns) => (ns / second).toFixed(n) + "s").join(" to ");
}

// The range that a text says, as [from, to] in ns; undefined: none.
export function parsed(text, axis) {
  const match = /^(?:(\d+(?:\.\d+)?)s)?\.\.(?:(\d+(?:\.\d+)?)s)?$/.exec(text);
  if (!axis || !match || text === "..") return undefined;
  const at = (seconds) => Math.round(Number(seconds) * second);
  const from = Math.max(match[1] ? at(match[1]) : 0, axis.begins);
  const to = Math.min(match[2] ? at(match[2]) : axis.wall, axis.wall);
  return from < to ? [from, to] : undefined;
}

// The tree of what has samples, and of its callers.
function treeOf(whole, own) {
  const { n } = whole;
  const needed = new Uint8Array(n);
  for (let i = n - 1; i >= 0; i--) {
    if (i === 0 || own.samples[i] > 0 || own.self[i] > 0) needed[i] = 1;
    if (needed[i] && i > 0) needed[whole.parent[i]] = 1;
  }
  const to = new Int32Array(n);
  const kept = [];
  needed.forEach((is, i) => {
    if (!is) return;
    to[i] = kept.length;
    kept.push(i);
  });
  const pick = (type, get) => type.from(kept, get);
  const out = new Tree(
    kept.length,
    pick(Int32Array, (i) => (i > 0 ? to[whole.parent[i]] : -1)),
    pick(Int32Array, (i) => whole.func[i]),
    pick(Float64Array, (i) => own.samples[i]),
    pick(Float64Array, (i) => own.self[i]),
    own.cost && pick(Float64Array, (i) => Math.round(own.cost[i])),
  );
  out.line = pick(Int32Array, (i) => whole.line[i]);
  const wait = pick(Float64Array, (i) => own.wait[i]);
  out.memory = { wait, cpu: out.self.map((ns, i) => ns - wait[i]) };
  return out;
}

// What lines have in all measures: rows of f, n and figures.
function linesOf(tree, own, functions, measures) {
  const rows = new Map();
  const empty = {
    ...{ hits: 0, self: 0, calls: 0, total: 0, inC: 0 },
    ...{ cost: 0, totalCost: 0 },
  };
  for (const key of measures) empty[key] = 0;
  const at = (f, n) => {
    const key = `${f} ${n}`;
    if (!rows.has(key)) rows.set(key, { f, n, ...empty });
    return rows.get(key);
  };
  for (const { f, n, self, wait = 0, hits = 0, cost = 0 } of own) {
    Object.assign(at(f, n), { self, hits, cost });
    if (measures.includes("cpu")) at(f, n).cpu = self - wait;
    if (measures.includes("wait")) at(f, n).wait = wait;
  }
  const inside = new Uint8Array(tree.n).fill(1);
  for (const row of calledFrom(tree, inside, functions)) {
    const { f, n, calls, total, totalCost = 0, inC } = row;
    Object.assign(at(f, n), { total, inC });
    if (tree.cost) Object.assign(at(f, n), { calls, totalCost });
  }
  firstInC(tree, functions).forEach((c, i) => {
    if (c < 0 || !tree.line[c]) return;
    const row = at(tree.func[tree.parent[c]], tree.line[c]);
    for (const key of measures) row[key] += tree.memory[key][i];
  });
  return [...rows.values()].sort((a, b) => a.n - b.n || a.f - b.f);
}

// The sources with these lines, as the data of a page have them.
function sourcesOf(model, lines) {
  const keys = lines.length > 0 ? Object.keys(lines[0]) : ["n", "f"];
  return model.header.sources.map((source, id) => {
    const own = lines.filter(({ f }) => model.functions[f].source === id);
    const columns = {};
    for (const key of keys) columns[key] = own.map((row) => row[key]);
    return { ...source, lines: columns, expressions: undefined };
  });
}

function samplesOf(model, columns, wait, parts, worths) {
  const { samples: all } = model;
  const n = columns.calls.reduce((sum, calls) => sum + calls, 0);
  const whole = parts.running + parts.waiting;
  const waits = columns.calls.reduce(
    (sum, calls, i) =>
      columns.self[i] > 0 ? sum + calls * (wait[i] / columns.self[i]) : sum,
    0,
  );
  const rate = (n / Math.max(whole + parts.overhead, 1)) * second;
  const asked = all.asked ? ` of ${count(all.asked)}` : "";
  const [even, evenWaits] = worth(n, waits, worths);
  const part = parts.waiting / Math.max(whole, 1);
  const certain = both(even, evenWaits, part);
  const smallest = least(certain);
  const waiting = 2 * waits < n;
  const found = Math.round(waiting ? waits : n - waits);
  let taken = `${count(n)} samples`;
  if (even < n && both(n, waits, part) >= few)
    taken += ", of which a few stand for most of the time";
  else if (n > certain)
    taken =
      `${found === 0 ? "none" : count(found)} of ${taken} found ` +
      `the program ${waiting ? "waiting" : "computing"}`;
  const words =
    certain < few
      ? `${taken}: too few to tell where the time went`
      : `${fixed(rate, 0)} samples a second${asked}; ± is the ` +
        "margin of error at 95 %; rows whose intervals overlap may be in " +
        "any order; " +
        `functions below ${precise(smallest)} % may be missing`;
  return {
    samples: { ...all, n, sure: certain, rate, least: smallest, told: words },
    taken: { wait: Math.floor(evenWaits), cpu: Math.floor(even - evenWaits) },
  };
}

// The part of a model that is in a range.
function part(model, range) {
  const moments = momentsOf(model);
  const sums = moments.sums(range);
  const parts = moments.divide(range, sums);
  const { header, functions, tree: all } = model;
  const measures = model.measures.filter((key) =>
    ["cpu", "wait"].includes(key),
  );
  const nodes = moments.ofNodes(all.n, sums, parts);
  const tree = treeOf(all, nodes);
  const columns = perFunction(tree, functions.length);
  const memory = {};
  for (const key of measures) {
    const { self, total } = perFunction(tree.measured(key), functions.length);
    memory[key] = { self: [...self], total: [...total] };
  }
  const { self: wait } = perFunction(tree.measured("wait"), functions.length);
  const own = moments.ofLines(all.func, sums, parts);
  const lines = linesOf(tree, own, functions, measures);
  const { samples, taken } = model.samples
    ? samplesOf(model, columns, wait, parts, moments.worth(range))
    : { samples: undefined, taken: header.taken };
  const ran = parts.running + parts.waiting;
  const out = new Model(
    {
      ...header,
      whole: ran,
      most: bound(ran, ran + parts.overhead),
      meta: {
        ...model.meta,
        wall_ns: range[1] - range[0],
        paused_ns: parts.paused,
        preempted_ns: parts.preempted,
        overhead_ns: parts.overhead,
        waiting_ns:
          model.meta.waiting_ns === undefined ? undefined : parts.waiting,
      },
      functions: {
        ...header.functions,
        memory,
        ...{ cost: undefined, totalCost: undefined },
        ...Object.fromEntries(
          Object.entries(columns).map(([key, list]) => [key, [...list]]),
        ),
      },
      sources: sourcesOf(model, lines),
      before: undefined,
      memory: undefined,
      collector: undefined,
      measures,
      samples,
      taken,
      timed: undefined, // is known of the whole only
      spent: header.spent && { ...header.spent, part: true },
      tasks: model.samples && tasksOf(header, all, moments, nodes, range),
    },
    [tree, ...model.trees.slice(1)],
  );
  out.hues = model.hues;
  out.range = range;
  return out;
}

// What functions had in another part, as the data of a page have an earlier
// profile; see changes.lua.
function earlier(model, was, tree) {
  const list = (get) => model.functions.map((f, i) => get(was.functions[i], f));
  const ran = (f) => f.total > 0 || f.samples > 0 || f.calls > 0;
  const none = list(() => 0);
  return {
    range: was.range,
    whole: was.whole,
    gone: model.functions.filter((f) => !ran(f)).map((f) => f.id),
    has: list((f) => (ran(f) ? 1 : 0)),
    was: list(() => ""),
    calls: list((f) => f.calls),
    self: list((f) => f.self),
    total: list((f) => f.total),
    cost: none,
    totalCost: none,
    notes: [],
    program: model.meta.program,
    samples: was.samples?.sure,
    sampled: was.samples !== undefined,
    tree,
  };
}

// A model beside another part of its recording.
function beside(model, was) {
  const { trees } = model;
  const before = earlier(model, was, trees.length);
  const out = new Model({ ...model.header, before }, [
    model.tree,
    ...trees.slice(1),
    was.tree,
  ]);
  out.hues = model.hues;
  out.range = model.range;
  return out;
}

const made = new WeakMap();

// The part of a model that a text names, beside the one that another text
// names, if any; or the model itself.
export function ranged(model, text, against) {
  const { axis } = model.header;
  const [range, was] = [parsed(text, axis), parsed(against, axis)];
  if (!range && !was) return model;
  if (!made.has(model)) made.set(model, new Map());
  const known = made.get(model);
  const get = (key, make) => {
    if (!known.has(key)) {
      // each part may have a large tree: few are kept
      if (known.size > 7) known.clear();
      known.set(key, make());
    }
    return known.get(key);
  };
  const of = (one) => (one ? get(one.join(), () => part(model, one)) : model);
  if (!was) return of(range);
  return get([range, was].join(" "), () => beside(of(range), of(was)));
}
