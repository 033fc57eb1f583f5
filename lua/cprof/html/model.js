// A profile as the views read it, and the part of it that is looked at.

import {
  callees,
  fromColumns,
  hide as without,
  perFunction,
  union,
} from "./tree.js";

function rows(header) {
  const f = header.functions;
  const out = f.title.map((title, id) => ({
    id,
    title,
    name: f.name[id],
    place: f.place[id],
    kind: f.kind[id],
    source: f.source[id],
    line: f.line[id],
    last: f.last[id],
    depth: f.depth[id],
    calls: f.calls[id],
    samples: f.samples[id] ?? 0,
    self: f.self[id],
    total: f.total[id],
  }));
  for (const [id, self, total] of f.most) {
    if (self >= 0) out[id].selfMost = self;
    if (total >= 0) out[id].totalMost = total;
  }
  return out;
}

const sum = (list) => list.reduce((all, n) => all + n, 0);

function sourceOf(source, id) {
  const { lines } = source;
  const list = lines.n.map((n, i) => ({
    n,
    hits: lines.hits[i],
    self: lines.self[i],
    calls: lines.calls[i],
    total: lines.total[i],
    inC: lines.inC[i],
  }));
  for (const [i, most] of lines.most) list[i].most = most;
  // C functions have no lines: their time is spent where they are called
  for (const line of list) line.spent = (line.most || line.self) + line.inC;
  for (const key of ["bytes", "allocs", "live"]) {
    lines[key]?.forEach((figure, i) => (list[i][key] = figure));
  }
  const byLine = new Map(list.map((line) => [line.n, line]));
  const out = { ...source, id, lines: list, byLine };
  for (const key of ["self", "spent", "bytes", "allocs", "live"]) {
    out[key] = list.reduce((sum, line) => sum + (line[key] || 0), 0);
  }
  return out;
}

export class Model {
  constructor(header, trees) {
    this.trees = trees;
    // of files, in the order in which they got them
    this.hues = new Map();
    this.load(header, trees[0].levels ? fromColumns(trees[0]) : trees[0]);
  }

  // Another header and tree take the place of those that are there.
  load(header, tree) {
    this.header = header;
    this.unit = header.unit;
    this.title = header.unit === "ns" ? "Time" : "Instructions";
    this.meta = header.meta;
    this.whole = header.whole;
    this.functions = rows(header);
    this.sources = header.sources.map(sourceOf);
    this.frames = header.frames;
    this.before = header.before;
    this.tree = tree;
    // that times are from
    this.samples = header.samples;
    this.sampled = this.samples !== undefined && !this.samples.joined;
    // what is counted of functions and nodes
    this.counted = this.sampled ? "samples" : "calls";
    this.byTitle = new Map(this.functions.map((f) => [f.title, f]));
    this.scopes = new Map();
    this.made = new Map();
    this.memory = header.memory;
    this.measures = header.memory?.measures || [];
  }

  // What a state measures in the place of time. Frames know less of memory.
  measure(state) {
    const known = this.measures.includes(state.measure);
    return known && !(state.frames && this.frames) ? state.measure : undefined;
  }

  // What is 100 %, whatever part of it is looked at.
  wholeOf(measure) {
    return measure ? this.tree.measured(measure).total[0] : this.whole;
  }

  // By function, what it has allocated itself within a state.
  allocated(state, measure) {
    const { frames, focus, hide } = this.scope(state);
    if (!frames) return this.scope({ ...state, measure }).self;
    const known = frames.every((f) => f[measure]);
    if (!known || focus || hide) return undefined;
    const out = new Float64Array(this.functions.length);
    for (const { rows, [measure]: own } of frames) {
      own.forEach((figure, i) => (out[rows[4 * i]] += figure));
    }
    return out;
  }

  // A tree of those that were recorded beside the profile's.
  recorded(i) {
    if (!this.made.has(i)) this.made.set(i, fromColumns(this.trees[i]));
    return this.made.get(i);
  }

  // The function that a state has chosen.
  chosen(state) {
    return state.function ? this.byTitle.get(state.function) : undefined;
  }

  // What a state looks at: all, some frames, without or only a function.
  scope(state) {
    const measure = this.measure(state);
    const key = [state.frames, state.hide, state.focus, measure].join("\n");
    if (!this.scopes.has(key)) {
      // each has a tree of its own
      if (this.scopes.size > 12) this.scopes.clear();
      this.scopes.set(key, this.make(state));
    }
    return this.scopes.get(key);
  }

  make(state) {
    const measure = this.measure(state);
    let out = measure ? this.ofMemory(measure) : this.ofAll();
    if (state.frames && this.frames) out = this.ofFrames(state.frames);
    for (const [what, reduce] of [
      ["focus", callees],
      ["hide", without],
    ]) {
      const f = this.byTitle.get(state[what]);
      if (f && out.tree) {
        const tree = reduce(out.tree, f.id, this.functions.length);
        if (tree.n > 0) {
          const { frames, focus, hide } = out;
          out = { ...this.ofTree(tree), frames, focus, hide };
          out[what] = f;
        }
      }
    }
    out.measure = measure;
    return out;
  }

  ofMemory(measure) {
    const tree = this.tree.measured(measure);
    const { self, total } = this.header.functions.memory[measure];
    const { calls, samples, counted } = this.ofAll();
    const whole = tree.total[0];
    return { tree, whole, counted, calls, samples, self, total };
  }

  ofAll() {
    const column = (key) => Float64Array.from(this.functions, (f) => f[key]);
    return {
      all: true,
      tree: this.tree,
      whole: this.whole,
      counted: sum(this.tree.calls),
      calls: column("calls"),
      samples: column("samples"),
      self: column("self"),
      total: column("total"),
    };
  }

  ofTree(tree) {
    const figures = perFunction(tree, this.functions.length);
    return {
      tree,
      whole: tree.total[0],
      counted: sum(tree.calls),
      ...figures,
    };
  }

  // "3-7": the frames from 3 to 7
  ofFrames(range) {
    const [from, to] = span(range);
    const list = this.frames.list.filter((f) => f.n >= from && f.n <= to);
    if (list.length === 0) return this.ofAll();
    const n = this.functions.length;
    const out = {
      frames: list,
      whole: list.reduce((sum, f) => sum + f.ns, 0),
      calls: new Float64Array(n),
      self: new Float64Array(n),
      total: new Float64Array(n),
    };
    for (const { rows: flat } of list) {
      for (let i = 0; i < flat.length; i += 4) {
        out.calls[flat[i]] += flat[i + 1];
        out.self[flat[i]] += flat[i + 2];
        out.total[flat[i]] += flat[i + 3];
      }
    }
    out.counted = sum(out.calls);
    if (list.every((f) => f.tree !== undefined)) {
      const trees = list.map((f) => this.recorded(f.tree));
      out.tree = union(trees, n);
    }
    return out;
  }
}

// The first and the last number of a range.
export function span(range) {
  const [a, b] = range.split("-").map(Number);
  return b === undefined ? [a, a] : [Math.min(a, b), Math.max(a, b)];
}
