// A recording that a server sends piece by piece, with its figures since the
// start, since a mark, or of a range of its past.

import { nearest } from "./axis.js";
import { bytesOf, figures } from "./decode.js";
import { least } from "./samples.js";
import { perFunction, Tree } from "./tree.js";

// fields of a function in the order in which the server sends them, after its
// number
const fields = [
  "title",
  "name",
  "place",
  "kind",
  "source",
  "line",
  "last",
  "calls",
  "self",
  "total",
  "depth",
  "samples",
  "cost",
  "totalCost",
];
const grows = ["calls", "self", "total", "samples", "cost", "totalCost"];
// figures of a line, sent after its source, its number and its function
const counts = ["hits", "self", "calls", "total", "inC", "cost", "totalCost"];
// the metadata that grows
const times = [
  "wall_ns",
  "paused_ns",
  "overhead_ns",
  "waiting_ns",
  "preempted_ns",
  "instructions",
];

// How far the past goes back, in ms; how many looks it has at most; and how many
// figures of nodes, before looks are joined until there are few.
const longest = 610e3;
const most = 120;
const largest = 12e6;
const few = 12;

// the ns by which an end of a range may differ from what an address says
const slack = 1e7;

const less = (now, old) => Math.max(0, now - (old ?? 0));

// the figures of nodes in all recordings
const usual = ["calls", "self", "cost"];

// Call-tree nodes, in columns that grow.
class Nodes {
  // measures: the others that nodes have
  constructor(measures = []) {
    this.keys = [...usual, ...measures];
    this.n = 0;
    this.room(1024);
  }

  room(n) {
    const grown = (Type, old) => {
      const out = new Type(n);
      if (old) out.set(old);
      return out;
    };
    this.parent = grown(Int32Array, this.parent);
    this.func = grown(Int32Array, this.func);
    for (const key of this.keys) this[key] = grown(Float64Array, this[key]);
    this.line = grown(Int32Array, this.line);
  }

  // Adds new nodes and new figures; returns the figures that these replace. An
  // id is sent as its distance from the previous one, a caller as its distance
  // from the node.
  apply({ sizes: [n, ...sizes], bytes }) {
    const all = bytesOf(bytes);
    let at = 0;
    const [ids, up, func, calls, self, cost, line, ...others] = sizes.map(
      (size) => {
        const column = all.subarray(at, at + size);
        at += size;
        return figures(column, n, new Float64Array(n));
      },
    );
    const columns = [calls, self, cost, ...others];
    let id = -1;
    /** @type {any} */
    const old = { ids };
    for (const key of this.keys) old[key] = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      id += ids[i];
      ids[i] = id;
      if (id >= this.parent.length) this.room(2 * id);
      this.keys.forEach((key, k) => {
        old[key][i] = this[key][id];
        this[key][id] = columns[k][i];
      });
      this.parent[id] = up[i] === 0 ? -1 : id - up[i];
      this.func[id] = func[i];
      this.line[id] = line[i];
      if (id >= this.n) this.n = id + 1;
    }
    return old;
  }

  // A copy of the figures.
  figures() {
    const out = {};
    for (const key of this.keys) out[key] = this[key].slice(0, this.n);
    return out;
  }

  // The tree of what was recorded between two states; undefined: the start, and
  // now.
  tree(from, to = this.figures()) {
    const n = to.self.length;
    const own = (key) => {
      const out = to[key].slice();
      const old = from?.[key] || [];
      for (let i = 0; i < old.length; i++) out[i] = less(out[i], old[i]);
      return out;
    };
    const [parent, func] = [this.parent.slice(0, n), this.func.slice(0, n)];
    const [calls, self, cost] = usual.map(own);
    const out = new Tree(n, parent, func, calls, self, cost);
    out.line = this.line.slice(0, n);
    out.memory = {};
    for (const key of this.keys.slice(usual.length)) out.memory[key] = own(key);
    const { wait } = out.memory;
    if (wait) out.memory.cpu = self.map((ns, i) => less(ns, wait[i]));
    return out;
  }
}

// The figures that two looks replaced, as if they were one look; `a` is the
// earlier one.
function joined(a, b) {
  const { ids } = a.nodes;
  const known = new Set(ids);
  const more = [];
  b.nodes.ids.forEach((id, k) => !known.has(id) && more.push(k));
  /** @type {any} */
  const nodes = {};
  for (const key of Object.keys(a.nodes)) {
    const column = new Float64Array(ids.length + more.length);
    column.set(a.nodes[key]);
    more.forEach((k, i) => (column[ids.length + i] = b.nodes[key][k]));
    nodes[key] = column;
  }
  const functions = new Map([...b.functions, ...a.functions]);
  const lines = new Map([...b.lines, ...a.lines]);
  return { ...a, at: b.at, nodes, functions, lines };
}

const sizeOf = ({ nodes }) => nodes.ids.length * Object.keys(nodes).length;

// the measures of pages, in their order; what is in use is not known of a part
// of the time
const measures = ["cpu", "wait", "bytes", "allocs", "live", "peak"];
const standing = ["live", "peak"];

export class Recording {
  /** @type {any} the server's last content; of nodes, lines and functions, only
   *   those that changed */
  content;
  /** @type {any} */
  nodes;
  /** @type {any[]} */
  functions = [];
  /** @type {any[]} */
  sources = [];
  /** @type {any} the latest of all that is sent only when it has changed */
  kept;
  /** @type {any} the state with which figures begin; undefined: the start */
  marked;
  /** @type {any} the state with which figures end; undefined: now */
  ended;
  /** @type {any[]} what each message replaced, the latest last */
  past = [];
  /** When the last message came, in ms. */
  at = 0;
  /** How long the recording has gone on by then, in ns. */
  ns = 0;
  /** @type {number | undefined} when it began by the page's clock, in ms */
  origin;
  /** Was the recording begun anew while the page was open? */
  anew = false;

  constructor() {
    this.begin();
  }

  begin() {
    this.content = undefined;
    this.nodes = undefined;
    this.functions = [];
    this.sources = [];
    this.kept = { tasks: { list: [], pauses: [], slices: [] }, spent: [] };
    this.past = [];
    this.origin = undefined;
    this.unmark();
  }

  // Adds a message of the server, which came at `now`, in ms; false: it belongs
  // to another recording, or one before it is missing.
  apply(message, now = 0) {
    if (message.from === 0) {
      const before = this.content?.meta.started_at;
      this.begin();
      const after = message.content?.meta.started_at;
      if (before && after) this.anew ||= before !== after;
    } else if (message.epoch !== this.epoch || message.from > this.version) {
      return false;
    }
    this.epoch = message.epoch;
    this.version = message.version;
    this.title = message.title;
    this.status = message.status;
    this.runs = message.runs;
    this.sinceReset = message.since_reset;
    if (message.content) this.add(message.content, now);
    this.at = now;
    return true;
  }

  // What figures a state has besides those of nodes, functions and lines.
  get sums() {
    const { meta, whole, samples, measures: told } = this.content;
    const { ns, kept } = this;
    const { memory, collector } = kept;
    const out = { ns, meta, whole, samples: samples?.n, taken: told?.taken };
    return { ...out, memory, collector };
  }

  add(content, now) {
    const known = this.content !== undefined;
    /** @type {any} */
    const old = { began: this.at, at: now, ...(known && this.sums) };
    this.content = content;
    this.ns = this.passed(content.meta, now);
    this.nodes ??= new Nodes(content.measures?.names);
    old.nodes = this.nodes.apply(content.nodes);
    old.functions = new Map();
    old.lines = new Map();
    for (const [id, ...values] of content.functions) {
      const f = {};
      fields.forEach((field, i) => (f[field] = values[i]));
      old.functions.set(id, this.functions[id]);
      this.functions[id] = f;
    }
    for (const [id, changes] of content.sources) {
      this.sources[id] ??= { lines: new Map() };
      Object.assign(this.sources[id], changes);
    }
    this.addLines(content, old.lines);
    this.keep(content);
    if (known) this.look(old);
    this.forget();
  }

  // How long the recording has gone on, in ns. What counts no time, or only that
  // of the processor, has passed by the page's clock.
  passed(meta, now) {
    if (meta.wall_ns !== undefined && meta.clock !== "cpu") return meta.wall_ns;
    const begun = 1000 * meta.started_at;
    // the server's clock may be ahead
    const origin = this.origin ?? (begun < now ? begun : now);
    this.origin = origin;
    return 1e6 * (now - origin);
  }

  // Adds a look. One in which no time passed, as when the program has ended,
  // goes into the one before.
  look(old) {
    const { past } = this;
    past.push(old);
    if (this.ns <= old.ns && past.length > 1)
      past.push(joined(...past.splice(-2)));
  }

  addLines({ lines }, old) {
    const keys = this.counts();
    for (let i = 0; i < lines.length; i += 3 + keys.length) {
      const [source, n, f] = lines.slice(i, i + 3);
      const line = { n, f };
      keys.forEach((key, k) => (line[key] = lines[i + 3 + k]));
      const { lines: all } = this.sources[source];
      const key = `${n} ${f}`;
      old.set(`${source} ${key}`, [source, key, all.get(key)]);
      all.set(key, line);
    }
  }

  // The figures of a line, in the order in which the server sends them.
  counts() {
    return [...counts, ...(this.content.measures?.lines || [])];
  }

  // Keeps what is sent only when it has changed.
  keep(content) {
    const { kept } = this;
    for (const key of ["words", "memory", "collector", "heap"]) {
      if (content[key] !== undefined) kept[key] = content[key];
    }
    for (const [i, entry] of content.spent || []) kept.spent[i] = entry;
    const { tasks } = content;
    for (const key of ["list", "pauses"]) {
      for (const [i, entry] of tasks?.[key] || []) kept.tasks[key][i] = entry;
    }
    kept.tasks.slices = tasks?.slices ?? kept.tasks.slices;
  }

  // Drops what is too old. Joins neighbours where there is too much: those that
  // are shortest for their age, so that looks get longer with it.
  forget() {
    const { past } = this;
    let all = past.reduce((sum, look) => sum + sizeOf(look), 0);
    const drop = () => (all -= sizeOf(past.shift()));
    while (past.length > 0 && past[0].at < this.latest - longest) drop();
    while (past.length > most || (all > largest && past.length > few)) {
      const i = this.shortest();
      const look = joined(past[i], past[i + 1]);
      all += sizeOf(look) - sizeOf(past[i]) - sizeOf(past[i + 1]);
      past.splice(i, 2, look);
    }
    while (past.length > 0 && all > largest) drop();
  }

  get latest() {
    return this.past.length > 0 ? this.past[this.past.length - 1].at : this.at;
  }

  shortest() {
    const { past, latest } = this;
    let best = 0;
    let least = Infinity;
    for (let i = 0; i + 1 < past.length; i++) {
      const part =
        (past[i + 1].at - past[i].began) / (latest - past[i].began || 1);
      if (part < least) [best, least] = [i, part];
    }
    return best;
  }

  // The state before the look with this number; that many: the state now.
  state(number) {
    const { past, functions, sources } = this;
    const out = {
      ...this.nodes.figures(),
      functions: [...functions],
      lines: sources.map((source) => new Map(source.lines)),
      ...this.sums,
    };
    for (let i = past.length - 1; i >= number; i--) {
      const { nodes, functions: before, lines, ...sums } = past[i];
      for (const key of this.nodes.keys) {
        const to = out[key];
        const from = nodes[key];
        nodes.ids.forEach((id, k) => (to[id] = from[k]));
      }
      for (const [id, f] of before) out.functions[id] = f;
      for (const [source, key, line] of lines.values()) {
        if (line) out.lines[source].set(key, line);
        else out.lines[source].delete(key);
      }
      Object.assign(out, sums);
    }
    return out;
  }

  // Shows what was recorded between two states, as state() knows them;
  // undefined: what is recorded from now on belongs to it, too.
  between(from, to) {
    this.marked = this.state(from);
    this.ended = to === undefined ? undefined : this.state(to);
  }

  // Limits figures to the `seconds` before `now` (in ms), or to as many of them
  // as are known; undefined: no limit.
  window(seconds, now) {
    this.unmark();
    if (!seconds || !this.content) return;
    const { past } = this;
    let from = past.length;
    while (from > 0 && past[from - 1].at > now - 1000 * seconds) from--;
    this.between(from);
  }

  // Figures are of a range, in ns: of the looks whose ends are nearest to its
  // own. False: it began before what is known, or has not ended yet.
  range(range) {
    const [from, to] = range;
    this.unmark();
    const ends = this.ends();
    const within = (ns) => ns > ends[0] - slack && ns < ends.at(-1) + slack;
    if (ends.length < 2 || !within(from) || !within(to)) return false;
    const begin = Math.min(nearest(ends, from), ends.length - 2);
    this.between(begin, Math.max(nearest(ends, to), begin + 1));
    return true;
  }

  // The range that is shown, in ns; undefined: figures end now.
  get shown() {
    const [from, to] = [this.marked, this.ended];
    return to && [from.ns, to.ns];
  }

  // When looks began and ended, in ns of the recording.
  ends() {
    if (!this.content) return [];
    return [...this.past, this].map(({ ns }) => ns);
  }

  // The looks: when each began and ended in ns of the recording, and the parts
  // of this time in which the program computed and waited, from 0 to 1. Of
  // instructions, what it ran, compared with the look that has the most.
  looks() {
    const { past } = this;
    if (past.length === 0) return [];
    const states = [...past, this.sums];
    const timed = this.content.unit === "ns";
    const out = past.map((look, i) => {
      const next = states[i + 1];
      const [from, to] = [look.ns, next.ns];
      const grown = (of) => less(of(next) ?? 0, of(look));
      const span = to - from;
      const part = (ns) => ns / Math.max(span, 1);
      const waiting = Math.min(1, part(grown((s) => s.meta.waiting_ns)));
      const whole = part(grown((s) => s.whole));
      const load = timed ? Math.min(1, whole) : whole;
      return { from, to, waiting, cpu: Math.max(0, load - waiting) };
    });
    if (timed) return out;
    const peak = Math.max(...out.map(({ cpu }) => cpu)) || 1;
    return out.map((look) => ({ ...look, cpu: look.cpu / peak }));
  }

  // The seconds that windows can have at most by now.
  known(now) {
    return this.past.length > 0 ? (now - this.past[0].at) / 1000 : 0;
  }

  // Sets the mark: figures count from now on.
  mark() {
    this.between(this.past.length);
  }

  unmark() {
    this.marked = undefined;
    this.ended = undefined;
  }

  // A figure in the part that is shown. of: takes it from a state.
  part(of) {
    return less(of(this.ended || this.sums), this.marked && of(this.marked));
  }

  // The functions, in the columns of a page's header.
  functionColumns() {
    const out = {};
    const { marked, ended } = this;
    for (const field of fields) out[field] = [];
    this.functions.forEach((now, id) => {
      const last = ended ? ended.functions[id] : now;
      const old = marked?.functions[id];
      const f = { ...now };
      for (const key of grows) f[key] = less(last?.[key] ?? 0, old?.[key]);
      for (const field of fields) out[field].push(f[field]);
    });
    return out;
  }

  // The lines of a source that have figures in the part that is shown.
  lineColumns(id) {
    const keys = this.counts();
    const waits = keys.includes("wait");
    const rows = this.ended ? this.ended.lines[id] : this.sources[id].lines;
    const old = this.marked?.lines[id];
    const all = waits ? [...keys, "cpu"] : keys;
    const out = { n: [], f: [] };
    for (const key of all) out[key] = [];
    for (const [at, now] of rows || []) {
      const line = { ...now };
      const before = old?.get(at);
      for (const key of keys) line[key] = less(line[key], before?.[key]);
      if (waits) line.cpu = less(line.self + line.inC, line.wait);
      if (![...counts, "bytes"].some((key) => line[key] > 0)) continue;
      for (const key of Object.keys(out)) out[key].push(line[key]);
    }
    return out;
  }

  whole() {
    return this.part((state) => state.whole);
  }

  // The upper bound of all times; undefined: not known.
  most() {
    return this.content.most ? this.whole() : undefined;
  }

  meta() {
    const out = { ...this.content.meta };
    for (const key of times) {
      if (out[key] === undefined) continue;
      out[key] = this.part(({ meta }) => meta?.[key] ?? 0);
    }
    return out;
  }

  samples() {
    const { samples } = this.content;
    if (!samples || !this.partial) return samples;
    const n = this.part((state) => state.samples ?? 0);
    const sure = Math.floor((samples.sure * n) / Math.max(samples.n, 1));
    return { ...samples, n, sure, least: least(sure), told: "" };
  }

  // Is what is shown a part of the recording?
  get partial() {
    return this.marked !== undefined || this.ended !== undefined;
  }

  // The measures of what is shown, besides its own.
  measures() {
    const known = this.nodes.keys;
    // waiting below 1 % may be noise of the machine
    const waiting = this.part(({ meta }) => meta?.waiting_ns ?? 0);
    const waits = known.includes("wait") && waiting * 100 > this.whole();
    return measures.filter((key) =>
      ["cpu", "wait"].includes(key)
        ? waits
        : known.includes(key) && !(this.partial && standing.includes(key)),
    );
  }

  // How many samples each measure is estimated from.
  taken() {
    const out = {};
    const { taken } = this.content.measures || {};
    for (const key of Object.keys(taken || {})) {
      out[key] = this.part((state) => state.taken?.[key] ?? 0);
    }
    return out;
  }

  // What was allocated in all; what is in use, only of the whole recording.
  memory() {
    const { memory } = this.kept;
    if (!memory || !this.partial) return memory;
    const grown = (key) => this.part((state) => state.memory?.[key] ?? 0);
    const of = (state, kind, i) =>
      state.memory?.kinds.find(([name]) => name === kind)?.[i] ?? 0;
    const kinds = memory.kinds
      .map(([kind]) => [
        kind,
        this.part((state) => of(state, kind, 1)),
        this.part((state) => of(state, kind, 2)),
      ])
      .sort((a, b) => b[1] - a[1]);
    return {
      bytes: grown("bytes"),
      allocs: grown("allocs"),
      samples: memory.samples && grown("samples"),
      interval: memory.interval,
      kinds,
    };
  }

  collector() {
    const { collector } = this.kept;
    if (!collector || !this.partial) return collector;
    const grown = (key) => this.part((state) => state.collector?.[key] ?? 0);
    return {
      ns: grown("ns"),
      steps: grown("steps"),
      cycles: grown("cycles"),
    };
  }

  // The size of the heap over time. Until the recording has ended, what is in
  // use at the end of each look, if that is known.
  heap() {
    const { heap, memory } = this.kept;
    if (heap || !memory) return heap;
    /** @type {any} */
    const out = { ns: [], bytes: [], seen: true };
    if (memory.live === undefined) return out;
    for (const { ns, memory: of } of [...this.past, this.sums]) {
      if (of?.live === undefined) continue;
      out.ns.push(ns);
      out.bytes.push(of.live);
    }
    return out;
  }

  // What coroutines did, those that ran longest first.
  tasks() {
    const { list, pauses, slices } = this.kept.tasks;
    const { tasks } = this.content;
    if (!tasks) return undefined;
    const order = list.map((_, i) => i);
    order.sort(
      (a, b) =>
        list[b].running - list[a].running ||
        (list[b].suspended ?? 0) - (list[a].suspended ?? 0) ||
        a - b,
    );
    const place = new Map(order.map((i, at) => [i, at]));
    const placed = (entry) => ({ ...entry, task: place.get(entry.task) });
    return {
      exact: tasks.exact,
      list: order.map((i) => list[i]),
      slices: slices.map(placed),
      pauses: pauses
        .map(placed)
        .sort((a, b) => b.ns - a.ns || b.times - a.times),
    };
  }

  // What functions' own time was spent in, since the recording began.
  spent() {
    const list = this.kept.spent;
    const column = (key) => list.map((of) => of[key]);
    if (list.length === 0) return undefined;
    const [f, what, ns] = ["f", "what", "ns"].map(column);
    return { f, what, ns, part: this.partial };
  }

  // The header and the tree of a page with these figures.
  page() {
    const { content, marked, ended, partial } = this;
    const tree = this.nodes.tree(marked, ended);
    const functions = this.functionColumns();
    functions.memory = lazy(tree, functions.title.length);
    const header = {
      unit: content.unit,
      meta: this.meta(),
      notes: content.notes,
      whole: this.whole(),
      most: this.most(),
      samples: this.samples(),
      measures: this.measures(),
      words: this.kept.words || {},
      taken: this.taken(),
      memory: this.memory(),
      collector: this.collector(),
      heap: this.heap(),
      tasks: this.tasks(),
      // a part of the time does not divide frames
      frames: partial ? undefined : content.frames,
      spent: this.spent(),
      functions,
      sources: this.sources.map(({ parts, ...source }, id) => ({
        ...source,
        ...parts,
        lines: this.lineColumns(id),
      })),
    };
    return { header, tree };
  }
}

// By measure, the figures of functions, which are summed up when they are first
// asked for.
function lazy(tree, n) {
  const out = {};
  for (const key of Object.keys(tree.memory)) {
    let known;
    Object.defineProperty(out, key, {
      enumerable: true,
      get: () => (known ??= perFunction(tree.measured(key), n)),
    });
  }
  return out;
}
