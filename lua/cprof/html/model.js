// A profile in the form that the views read, and its scopes. A scope is the
// part of the profile that a state selects, with all figures of that part.

import { bound, bounds } from "./bound.js";
import { kinds, selected } from "./filters.js";
import { learn } from "./measures.js";
import {
  calledFrom,
  callsBy,
  fromColumns,
  perFunction,
  under,
  union,
} from "./tree.js";

function rows(header) {
  const f = header.functions;
  return f.title.map((title, id) => ({
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
    cost: f.cost?.[id] ?? 0,
    totalCost: f.totalCost?.[id] ?? 0,
  }));
}

export const sum = (list) => list.reduce((all, n) => all + n, 0);

// Adds the upper bounds of functions' times to a scope: selfMost, totalMost.
function limited(scope, limit) {
  const { self, total, cost, totalCost } = scope;
  if (!cost) return scope;
  scope.selfMost = new Float64Array(self.length);
  scope.totalMost = new Float64Array(self.length);
  self.forEach((ns, i) => {
    const raw = [ns + cost[i], total[i] + totalCost[i]];
    const at = bounds(ns, raw[0], total[i], raw[1], limit);
    [scope.selfMost[i], scope.totalMost[i]] = at;
  });
  return scope;
}

// figures of lines: times, and the overhead that was subtracted from them
const figures = ["hits", "self", "calls", "total", "inC", "cost", "totalCost"];
// figures in other measures, including those of C functions that the line calls
const others = ["cpu", "wait", "bytes", "allocs", "live"];

// the figures of a source, a row for each line and function
function linesOf({ lines }) {
  const keys = [...figures, ...others.filter((key) => lines[key])];
  return lines.n.map((n, i) => {
    const row = { n, f: lines.f?.[i] ?? -1 };
    for (const key of keys) row[key] = lines[key]?.[i] ?? 0;
    return row;
  });
}

// A source with these rows added up by line.
function summed(source, rows, limit) {
  const byLine = new Map();
  for (const row of rows) {
    const line = byLine.get(row.n) || { n: row.n };
    byLine.set(row.n, line);
    for (const key of Object.keys(row)) {
      if (key !== "n" && key !== "f") line[key] = (line[key] || 0) + row[key];
    }
  }
  const list = [...byLine.values()].sort((a, b) => a.n - b.n);
  const out = { ...source, lines: list, byLine };
  for (const line of list) {
    const { self, cost, total, totalCost } = line;
    line.selfMost = bound(self, self + cost, limit);
    line.totalMost = bound(total, total + totalCost, limit);
    // C functions have no lines: their time is spent where they are called
    line.spent = self + line.inC;
    line.spentMost = line.selfMost + line.inC;
  }
  for (const key of ["self", "spent", ...others]) {
    out[key] = list.reduce((sum, line) => sum + (line[key] || 0), 0);
  }
  return out;
}

export class Model {
  /** @type {Map<string, any>} by the parts of a state that select one */
  scopes = new Map();
  /** @type {any} the header of the page */
  header;
  /** @type {string[]} measures that the profile has besides time */
  measures = [];
  /** @type {any[]} */
  functions = [];
  /** @type {any} */
  made;
  /** @type {any} */
  frames;
  /** @type {any[]} */
  loops = [];
  /** @type {any} */
  byTitle;
  /** @type {any} */
  tree;
  /** @type {number[] | undefined} the range of time that it is of, in ns */
  range;

  constructor(header, trees) {
    this.trees = trees;
    // the number of each file's colour; see byFile() in colors.js
    this.hues = new Map();
    this.load(header, trees[0].levels ? fromColumns(trees[0]) : trees[0]);
  }

  // Replaces the header and the tree.
  load(header, tree) {
    this.header = header;
    this.unit = header.unit;
    // what is known of another tool's file; see foreign.js
    this.foreign = header.foreign;
    this.title =
      header.title || (header.unit === "ns" ? "Time" : "Instructions");
    this.meta = header.meta;
    this.whole = header.whole;
    this.functions = rows(header);
    // the upper bound of all times; undefined: not known
    this.most = header.most;
    this.sources = header.sources.map((source, id) => {
      const all = { ...source, id, rows: linesOf(source) };
      return summed(all, all.rows, this.most);
    });
    this.frames = header.frames;
    // the frames of all names
    this.loops = this.frames
      ? [this.frames, ...(this.frames.others || [])]
      : [];
    this.before = header.before;
    this.tree = tree;
    // the samples that times come from; undefined: times were measured
    this.samples = header.samples;
    this.sampled = header.counted
      ? header.counted !== "calls"
      : this.samples !== undefined && !this.samples.joined;
    // what functions and nodes count; undefined: nothing
    this.counted = this.sampled ? "samples" : "calls";
    if (header.counted === "none") this.counted = undefined;
    this.byTitle = new Map(this.functions.map((f) => [f.title, f]));
    this.scopes = new Map();
    this.made = new Map();
    this.memory = header.memory;
    this.measures = header.measures || [];
    learn(header.words);
    this.taken = header.taken || {};
  }

  // The measure that a state shows instead of time; undefined: time. Frames
  // always show time.
  measure(state) {
    const known = this.measures.includes(state.measure);
    return known && !(state.frames && this.frames) ? state.measure : undefined;
  }

  // The figure that is 100 % for a state.
  wholeOf(state, measure) {
    const { frames, whole } = this.scope({ ...state, measure });
    return frames && measure
      ? sum(this.allocated(state, measure) || [])
      : whole;
  }

  // The self figures of functions in a measure, within the scope of a state;
  // undefined: not known.
  allocated(state, measure) {
    const { frames, filtered } = this.scope(state);
    if (!frames) return this.scope({ ...state, measure }).self;
    const known = frames.every((f) => f[measure]);
    if (!known || filtered) return undefined;
    const out = new Float64Array(this.functions.length);
    for (const { rows, [measure]: own } of frames) {
      own.forEach((figure, i) => (out[rows[4 * i]] += figure));
    }
    return out;
  }

  // The tree with this number in the page's data, made once.
  recorded(i) {
    const tree = this.trees[i];
    if (!tree.levels) return tree;
    if (!this.made.has(i)) this.made.set(i, fromColumns(tree));
    return this.made.get(i);
  }

  // The function that a state has chosen.
  chosen(state) {
    return state.function ? this.byTitle.get(state.function) : undefined;
  }

  // The scope of a state: all, some frames, or what filters leave.
  scope(state) {
    const measure = this.measure(state);
    const own = kinds.map(({ key }) => state[key]);
    const key = [state.loop, state.frames, measure, ...own].join("\n\n");
    if (!this.scopes.has(key)) {
      // each scope may hold a large tree: keep only a few
      if (this.scopes.size > 12) this.scopes.clear();
      this.scopes.set(key, this.make(state));
    }
    return this.scopes.get(key);
  }

  make(state) {
    const measure = this.measure(state);
    let out = measure ? this.ofMemory(measure) : this.ofAll();
    if (state.frames && this.frames) out = this.ofFrames(state);
    for (const { key, of } of kinds) {
      const found = out.tree && selected(this, state, key);
      const tree = found && of(out.tree, found.wanted, found.one);
      // a filter that leaves nothing does not apply
      if (tree?.n > 0) {
        const { frames, filters } = out;
        out = { ...this.ofTree(tree), frames };
        out.filters = { ...filters, [key]: found };
        out.filtered = true;
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
    const out = {
      all: true,
      tree: this.tree,
      whole: this.whole,
      counted: sum(this.tree.calls),
      calls: column("calls"),
      samples: column("samples"),
      self: column("self"),
      total: column("total"),
      cost: column("cost"),
      totalCost: column("totalCost"),
    };
    return limited(out, this.most);
  }

  ofTree(tree) {
    const out = perFunction(tree, this.functions.length);
    const counted = sum(tree.calls);
    Object.assign(out, { tree, whole: tree.total[0], counted });
    return limited(out, this.most);
  }

  // The sources with the figures of a state's scope. The figures of a line are
  // scaled by the share of its function's figures that is in the scope.
  sourcesOf(state) {
    const scope = this.scope({ ...state, measure: undefined });
    if (scope.all) return this.sources;
    scope.sources ??= this.within(state, scope);
    return scope.sources;
  }

  within(state, scope) {
    const all = this.ofAll();
    const calls = parts(scope.calls, all.calls);
    const own = parts(scope.self, all.self, calls);
    const below = ({ total, self }) => total.map((n, i) => n - self[i]);
    const called = scope.frames
      ? parts(below(scope), below(all), calls)
      : new Float64Array(calls.length);
    const of = { hits: calls, calls: called, total: called, inC: called };
    Object.assign(of, { self: own, cost: own, totalCost: called });
    for (const key of others) {
      const here = this.measures.includes(key) && this.allocated(state, key);
      const { self } = here ? this.header.functions.memory[key] : {};
      of[key] = here
        ? parts(here, self, calls)
        : new Float64Array(calls.length);
    }
    const more = scope.frames ? [] : this.called(scope);
    return this.sources.map((source) => {
      const rows = source.rows.map(({ n, f, ...row }) => {
        for (const key of Object.keys(row)) row[key] *= of[key][f] ?? 0;
        return { n, f, ...row };
      });
      const theirs = more.filter(
        ({ f }) =>
          this.functions[f].source === source.id &&
          (scope.calls[f] > 0 || scope.total[f] > 0),
      );
      const empty = { hits: 0, self: 0, cost: 0 };
      const calling = theirs.map((row) => ({ ...empty, ...row }));
      const out = summed(source, [...rows, ...calling], this.most);
      out.lines = out.lines.filter(
        (line) => line.hits || line.self || line.calls || line.total,
      );
      out.byLine = new Map(out.lines.map((line) => [line.n, line]));
      // counts of expressions are not broken down by caller
      return { ...out, expressions: undefined, part: true };
    });
  }

  // For each node of the whole tree: is it in a scope without frames?
  inside({ filters }) {
    const { tree } = this;
    const { focus, hide } = filters || {};
    let inside = new Uint8Array(tree.n).fill(1);
    if (focus) inside = under(tree, focus.wanted);
    if (hide) under(tree, hide.wanted).forEach((x, i) => x && (inside[i] = 0));
    return inside;
  }

  // the calls made from lines, within a scope
  called(scope) {
    const { tree } = this;
    if (!tree.line) return [];
    return calledFrom(tree, this.inside(scope), this.functions);
  }

  // What a line of a source calls, and what calls a function of it, from which
  // line; see callsBy() in tree.js. undefined: not known in this state.
  around(state, source, n, f) {
    const scope = this.scope({ ...state, measure: undefined });
    const { tree, functions } = this;
    if (!tree.line || scope.frames) return undefined;
    const { func, line } = tree;
    const inside = this.inside(scope);
    const by = (key) =>
      callsBy(tree, inside, functions, key)
        .map((row) => ({
          ...row,
          callee: functions[func[row.node]],
          from: functions[func[row.caller]],
          n: line[row.node],
          totalMost: bound(row.total, row.total + row.totalCost, this.most),
        }))
        .filter((row) => row.calls > 0 || row.total > 0)
        .sort((a, b) => b.total - a.total || b.calls - a.calls);
    const here = (i, p) =>
      line[i] === n && functions[func[p]].source === source.id;
    return {
      callees: by((i, p) => (here(i, p) ? func[i] : undefined)),
      callers: f
        ? by((i, p) =>
            func[i] === f.id ? func[p] + line[i] * functions.length : undefined,
          )
        : [],
    };
  }

  // The frames of the name that is chosen.
  loop(state) {
    return this.loops.find(({ name }) => name === state.loop) || this.frames;
  }

  // "3-7": the frames from 3 to 7, without those that have only times: what ran
  // in them is not known.
  ofFrames(state) {
    const [from, to] = span(state.frames);
    const list = this.loop(state).list.filter(
      (f) => f.n >= from && f.n <= to && f.rows.length > 0,
    );
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
      out.tree = union(trees);
    }
    return out;
  }
}

// part / whole for each function, at most 1: figures of others may have gone to
// it; `otherwise` where whole is 0.
function parts(part, whole, otherwise) {
  return Float64Array.from(whole, (n, i) =>
    n > 0
      ? Math.min(1, Math.max(0, part[i]) / n)
      : otherwise
        ? otherwise[i]
        : 0,
  );
}

// The first and the last number of a range.
export function span(range) {
  const [a, b] = range.split("-").map(Number);
  return b === undefined ? [a, a] : [Math.min(a, b), Math.max(a, b)];
}
