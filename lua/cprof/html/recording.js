// A recording that a server sends piece by piece, with its figures since the
// start or since a mark.

import { bytesOf, figures } from "./decode.js";
import { least } from "./samples.js";
import { Tree } from "./tree.js";

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

// How far the past goes back, in ms, and how many figures of nodes it has at
// most.
const longest = 310e3;
const largest = 3e6;

const less = (now, old) => Math.max(0, now - (old ?? 0));

// Call-tree nodes, in columns that grow.
class Nodes {
  constructor() {
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
    this.calls = grown(Float64Array, this.calls);
    this.self = grown(Float64Array, this.self);
    this.cost = grown(Float64Array, this.cost);
    this.line = grown(Int32Array, this.line);
  }

  // Adds new nodes and new figures; returns the figures that these replace. An
  // id is sent as its distance from the previous one, a caller as its distance
  // from the node.
  apply({ sizes: [n, ...sizes], bytes }) {
    const all = bytesOf(bytes);
    let at = 0;
    const [ids, up, func, calls, self, cost, line] = sizes.map((size) => {
      const column = all.subarray(at, at + size);
      at += size;
      return figures(column, n, new Float64Array(n));
    });
    let id = -1;
    /** @type {any} */
    const old = { ids, calls: [], self: [], cost: [] };
    for (let i = 0; i < n; i++) {
      id += ids[i];
      ids[i] = id;
      if (id >= this.parent.length) this.room(2 * id);
      old.calls[i] = this.calls[id];
      old.self[i] = this.self[id];
      old.cost[i] = this.cost[id];
      this.parent[id] = up[i] === 0 ? -1 : id - up[i];
      this.func[id] = func[i];
      this.calls[id] = calls[i];
      this.self[id] = self[i];
      this.cost[id] = cost[i];
      this.line[id] = line[i];
      if (id >= this.n) this.n = id + 1;
    }
    return old;
  }

  tree(mark) {
    const own = (key) => {
      const now = this[key].slice(0, this.n);
      const old = mark?.[key];
      if (old)
        for (let i = 0; i < old.length; i++) now[i] = less(now[i], old[i]);
      return now;
    };
    const { n } = this;
    const [parent, func] = [this.parent.slice(0, n), this.func.slice(0, n)];
    const figures = [own("calls"), own("self"), own("cost")];
    const out = new Tree(n, parent, func, ...figures);
    out.line = this.line.slice(0, n);
    return out;
  }
}

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
  /** @type {any} figures at the mark; undefined: no mark is set */
  marked;
  /** @type {any[]} what each message replaced, the latest last */
  past = [];
  /** When the last message came, in ms. */
  at = 0;
  /** Was the recording begun anew while the page was open? */
  anew = false;

  constructor() {
    this.begin();
  }

  begin() {
    this.content = undefined;
    this.nodes = new Nodes();
    this.functions = [];
    this.sources = [];
    this.marked = undefined;
    this.past = [];
  }

  // Adds a message of the server, which came at `now`, in ms; false: it belongs
  // to another recording, or one before it is missing.
  apply(message, now = 0) {
    this.at = now;
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
    if (message.content) this.add(message.content);
    return true;
  }

  add(content) {
    const { meta, whole, samples } = this.content || {};
    const known = this.content !== undefined;
    this.content = content;
    /** @type {any} */
    const old = { at: this.at, meta, whole, samples: samples?.n };
    old.nodes = this.nodes.apply(content.nodes);
    old.functions = [];
    old.lines = [];
    for (const [id, ...values] of content.functions) {
      const f = {};
      fields.forEach((field, i) => (f[field] = values[i]));
      old.functions.push([id, this.functions[id]]);
      this.functions[id] = f;
    }
    for (const [id, changes] of content.sources) {
      this.sources[id] ??= { lines: new Map() };
      Object.assign(this.sources[id], changes);
    }
    const { lines } = content;
    for (let i = 0; i < lines.length; i += 3 + counts.length) {
      const [source, n, f] = lines.slice(i, i + 3);
      const line = { n, f };
      counts.forEach((key, k) => (line[key] = lines[i + 3 + k]));
      const { lines: all } = this.sources[source];
      const key = `${n} ${f}`;
      old.lines.push([source, key, all.get(key)]);
      all.set(key, line);
    }
    if (known) this.past.push(old);
    this.forget();
  }

  // Drops what is too old, or too much.
  forget() {
    const size = (entry) => entry.nodes.ids.length;
    let all = this.past.reduce((sum, entry) => sum + size(entry), 0);
    while (
      this.past.length > 0 &&
      (this.past[0].at < this.at - longest || all > largest)
    ) {
      all -= size(this.past.shift());
    }
  }

  // Sets the mark to so many seconds before `now`, in ms, or as far back as is
  // known; undefined: no mark is set.
  window(seconds, now) {
    this.marked = undefined;
    if (!seconds || !this.content) return;
    this.mark();
    const { marked } = this;
    for (let i = this.past.length - 1; i >= 0; i--) {
      const old = this.past[i];
      if (old.at <= now - 1000 * seconds) break;
      const { ids } = old.nodes;
      for (const key of ["calls", "self", "cost"]) {
        ids.forEach((id, k) => (marked[key][id] = old.nodes[key][k]));
      }
      for (const [id, f] of old.functions) marked.functions[id] = f;
      for (const [source, key, line] of old.lines) {
        if (line) marked.lines[source].set(key, line);
        else marked.lines[source].delete(key);
      }
      Object.assign(marked, {
        meta: old.meta,
        whole: old.whole,
        samples: old.samples,
      });
    }
  }

  // The seconds that windows can have at most by now.
  known(now) {
    return this.past.length > 0 ? (now - this.past[0].at) / 1000 : 0;
  }

  // Sets the mark: figures count from now on.
  mark() {
    const { nodes, content } = this;
    this.marked = {
      calls: nodes.calls.slice(0, nodes.n),
      self: nodes.self.slice(0, nodes.n),
      cost: nodes.cost.slice(0, nodes.n),
      functions: [...this.functions],
      lines: this.sources.map((source) => new Map(source.lines)),
      meta: content.meta,
      whole: content.whole,
      samples: content.samples?.n,
    };
  }

  unmark() {
    this.marked = undefined;
  }

  // The functions, in the columns of a page's header.
  functionColumns() {
    const out = {};
    const { marked } = this;
    for (const field of fields) out[field] = [];
    this.functions.forEach((now, id) => {
      const f = { ...now };
      const old = marked?.functions[id];
      for (const key of grows) f[key] = less(f[key], old?.[key]);
      for (const field of fields) out[field].push(f[field]);
    });
    return out;
  }

  // The lines of a source that have figures since the mark.
  lineColumns(source, old) {
    const out = { n: [], f: [] };
    for (const key of counts) out[key] = [];
    for (const [at, now] of source.lines) {
      const line = { ...now };
      const before = old?.get(at);
      for (const key of counts) line[key] = less(line[key], before?.[key]);
      if (!line.hits && !line.self && !line.calls && !line.total) continue;
      for (const key of Object.keys(out)) out[key].push(line[key]);
    }
    return out;
  }

  whole() {
    return less(this.content.whole, this.marked?.whole);
  }

  // The upper bound of all times; undefined: not known.
  most() {
    return this.content.most ? this.whole() : undefined;
  }

  meta() {
    const { marked, content } = this;
    const out = { ...content.meta };
    for (const key of times) {
      if (out[key] === undefined) continue;
      out[key] = less(out[key], marked?.meta[key]);
    }
    return out;
  }

  samples() {
    const { samples } = this.content;
    if (!samples || !this.marked) return samples;
    const n = less(samples.n, this.marked.samples);
    return { ...samples, n, least: least(n), told: "" };
  }

  // The header and the tree of a page with these figures.
  page() {
    const { content, marked } = this;
    const header = {
      unit: content.unit,
      meta: this.meta(),
      notes: content.notes,
      whole: this.whole(),
      most: this.most(),
      samples: this.samples(),
      // the mark does not divide frames
      frames: marked ? undefined : content.frames,
      functions: this.functionColumns(),
      sources: this.sources.map(({ parts, ...source }, id) => ({
        ...source,
        ...parts,
        lines: this.lineColumns(source, marked?.lines[id]),
      })),
    };
    return { header, tree: this.nodes.tree(marked) };
  }
}
