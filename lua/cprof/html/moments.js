// When samples came, by the time axis of a profile: what a range of time has
// of each place, and what each cell of a picture has. In exact modes, a sample
// is what a node or line has of a slice of time. The figures are those of
// src/profile/range.c, to the nanosecond.

import { sum } from "./model.js";

const known = new WeakMap();

// The samples of a model; undefined: it has no time axis. They are decoded
// when they are first asked for.
export function momentsOf(model) {
  const { axis } = model.header;
  if (!axis) return undefined;
  if (!known.has(axis)) {
    known.set(
      axis,
      axis.mean > 0 ? new Moments(axis, model.trees) : new Slices(axis, model),
    );
  }
  return known.get(axis);
}

// a part of a whole as a whole number
function share(whole, part, all) {
  if (part >= all) return whole;
  return Math.trunc(all === whole ? part : whole * (part / all));
}

export class Moments {
  /** @type {any} where the lines of each spot begin */
  begin;
  /** @type {any} in exact modes: the kind of each place; 0: a node */
  kind;

  constructor(axis, trees) {
    const { n, passed, place, above, samples } = trees[axis.samples];
    const { node, spot } = trees[axis.places];
    this.axis = axis;
    this.n = n;
    // of each place, from 0: its node, and the spot in the code, or 0
    this.node = node;
    this.spot = spot;
    this.spots = trees[axis.spots];
    this.place = place;
    this.samples = samples;
    this.start = new Float64Array(n);
    this.end = new Float64Array(n);
    this.ns = new Float64Array(n);
    let [steps, begun] = [0, 0];
    for (let i = 0; i < n; i++) {
      if (passed[i] > 0) begun = steps;
      steps += passed[i];
      this.end[i] = steps * axis.step;
      const up = above[i];
      this.ns[i] = axis.mean + (up % 2 ? -(up + 1) / 2 : up / 2) * axis.unit;
      this.start[i] =
        axis.mean > 0 ? this.end[i] - this.ns[i] : begun * axis.step;
    }
  }

  // the part of a sample that there was before a time
  part(i, at) {
    const [start, end] = [this.start[i], this.end[i]];
    if (at <= start) return 0;
    return at < end ? (at - start) / (end - start) : 1;
  }

  // how much of a sample there was before a time
  before(i, at) {
    return this.ns[i] * this.part(i, at);
  }

  // how many samples had come by then
  come(i, at) {
    const n = this.samples[i];
    if (at >= this.end[i]) return n;
    if (n <= 1) return 0;
    return Math.trunc(n * this.part(i, at) * (1 - 1e-9));
  }

  // The first sample that ends at a time, or later.
  first(at) {
    let low = 0;
    let high = this.n;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end[middle] < at) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // What each place has in a range: columns of ns and samples. Place 0 has the
  // time that was not recorded: of pauses in `run`, and in `wait` the time in
  // which others had the processor.
  sums([from, to]) {
    const n = this.node.length + 1;
    const run = new Float64Array(n);
    const wait = new Float64Array(n);
    const samples = new Float64Array(n);
    const { begins, wall } = this.axis;
    if (from <= begins) from = -Infinity;
    if (to >= wall) to = Infinity;
    for (let i = this.first(from); i < this.n; i++) {
      if (this.start[i] >= to) continue;
      const at = this.place[i] >> 1;
      const ns = this.before(i, to) - this.before(i, from);
      if (this.place[i] & 1) wait[at] += ns;
      else run[at] += ns;
      samples[at] += this.come(i, to) - this.come(i, from);
    }
    return { run, wait, samples };
  }

  // What a sample of a range is worth: one that found the program running, one
  // that found it waiting; see range_worth in src/profile/range.c.
  worth([from, to]) {
    const ns = [0, 0];
    const squares = [0, 0];
    const samples = [0, 0];
    let last = [0, 0];
    let [n, place] = [0, 0];
    if (to >= this.axis.wall) to = Infinity;
    const put = () => {
      const all = last[0] + last[1];
      for (let i = 0; i < 2 && all > 0; i++) {
        ns[i] += last[i];
        squares[i] += (last[i] * all) / n;
        samples[i] += n * (last[i] / all);
      }
      last = [0, 0];
    };
    for (let i = this.first(from); i < this.n; i++) {
      const at = this.place[i] >> 1;
      const waits = this.place[i] & 1;
      if (at === 0 || this.end[i] <= from || this.end[i] > to) continue;
      if (this.samples[i] > 0) {
        put();
        [n, place] = [this.samples[i], at];
        last[waits] = this.ns[i];
      } else if (waits && at === place && last[1] <= 0) last[1] = this.ns[i];
    }
    put();
    return ns.map((all, i) => {
      const most = squares[i] * samples[i];
      return all * all < most
        ? Math.floor((all * all * 1000) / most + 0.5) / 1000
        : 1;
    });
  }

  /**
   * What nodes have of a range; in exact modes, also what the profiler has.
   * @returns {any} ns: run, wait, own
   */
  shares({ run, wait }) {
    const sum = (list) => list.reduce((all, n, i) => (i ? all + n : 0), 0);
    return { run: sum(run), wait: sum(wait) };
  }

  // Divides the length of a range: ns of each part, and what nodes share.
  divide([from, to], sums) {
    const all = this.shares(sums);
    const { run, wait } = sums;
    let ns = to - from;
    const paused = share(ns, run[0], ns);
    ns -= paused;
    const preempted = share(ns, wait[0], ns);
    ns -= preempted;
    // from samples, what the profiler took is only known of the whole recording
    const { own } = all;
    const part = own === undefined ? this.axis.overhead : own / (ns || 1);
    const overhead = share(ns, part, 1);
    ns -= overhead;
    const both = all.run + all.wait;
    const waiting = both > 0 ? share(ns, all.wait, both) : 0;
    return { all, paused, preempted, overhead, waiting, running: ns - waiting };
  }

  // What the places of each node have.
  byNode(n, sums) {
    /** @type {any} */
    const out = {
      run: new Float64Array(n),
      wait: new Float64Array(n),
      samples: new Float64Array(n),
    };
    this.node.forEach((node, i) => {
      if (this.kind?.[i]) return;
      out.run[node] += sums.run[i + 1];
      out.wait[node] += sums.wait[i + 1];
      out.samples[node] += sums.samples[i + 1];
    });
    return out;
  }

  // The self figures of nodes in a range: columns self, wait and samples.
  ofNodes(n, sums, parts) {
    const own = this.byNode(n, sums);
    const out = {
      self: new Float64Array(n),
      wait: new Float64Array(n),
      samples: own.samples,
      cost: own.cost,
    };
    const upto = { run: 0, wait: 0 };
    let [ran, waited] = [0, 0];
    for (let i = 0; i < n; i++) {
      upto.run += own.run[i];
      upto.wait += own.wait[i];
      const run = share(parts.running, upto.run, parts.all.run);
      const wait = share(parts.waiting, upto.wait, parts.all.wait);
      out.wait[i] = wait - waited;
      out.self[i] = run - ran + out.wait[i];
      [ran, waited] = [run, wait];
    }
    return out;
  }

  // The ns of lines in a range: a list of { f, n, self }; func: the function of
  // each node.
  ofLines(func, sums, parts) {
    const scale = parts.all.run > 0 ? parts.running / parts.all.run : 0;
    const { spot, line, part } = this.spots;
    this.begin ??= spot.reduce((out, at, i) => {
      out[at] ??= i;
      return out;
    }, []);
    const out = new Map();
    this.spot.forEach((at, i) => {
      const ns = sums.run[i + 1] * scale;
      if (at === 0 || ns === 0) return;
      const f = func[this.node[i]];
      for (let k = this.begin[at]; spot[k] === at; k++) {
        const key = `${f} ${line[k]}`;
        const row = out.get(key) || { f, n: line[k], self: 0 };
        out.set(key, row);
        row.self += (ns * part[k]) / 1e9;
      }
    });
    const rows = [...out.values()];
    for (const row of rows) row.self = Math.round(row.self);
    return rows.filter((row) => row.self > 0);
  }

  // Does a place count? of: which nodes do; undefined: all.
  counts(i, of) {
    return !of || of[this.node[i]] > 0;
  }

  // What `count` cells of `ns` each have, from a time on: columns `run` and
  // `wait`; `paused`, the ns of pauses, and `lost`, those in which others had
  // the processor. of: which nodes count; undefined: all.
  cells(from, ns, count, of) {
    const out = {
      run: new Float64Array(count),
      wait: new Float64Array(count),
      paused: new Float64Array(count),
      lost: new Float64Array(count),
    };
    for (let k = this.first(from); k < this.n; k++) {
      const at = this.place[k] >> 1;
      if (at > 0 && !this.counts(at - 1, of)) continue;
      const waits = this.place[k] & 1;
      const column =
        at === 0 ? (waits ? out.lost : out.paused) : waits ? out.wait : out.run;
      const begin = Math.floor((this.start[k] - from) / ns);
      for (let i = Math.max(0, begin); i < count; i++) {
        const start = from + i * ns;
        if (start >= this.end[k]) break;
        column[i] += this.before(k, start + ns) - this.before(k, start);
      }
    }
    return out;
  }
}

// kinds of places; see moments.lua
const [isNode, isOverhead, isLine] = [0, 1, 2];

// Where there are slices, overhead is in proportion to events, as in
// src/profile/ranging.c: to the hits of lines, or to the calls of a node and
// those that it makes.
class Slices extends Moments {
  constructor(axis, model) {
    super(axis, model.trees);
    const { kind, line } = model.trees[axis.places];
    this.kind = kind;
    this.line = line;
    this.tree = model.tree;
    this.rows = new Map();
    for (const { rows } of model.sources) {
      for (const row of rows) this.rows.set(`${row.f} ${row.n}`, row);
    }
  }

  counts(i, of) {
    if (this.kind[i] === isLine) return false;
    return !of || (this.kind[i] === isNode && of[this.node[i]] > 0);
  }

  // The lines in a range, and by function, which part of the overhead of its
  // lines is in it; undefined: it has none. The sums of a range keep the result.
  lines(sums) {
    return (sums.lines ??= this.linesOf(sums));
  }

  linesOf(sums) {
    const found = new Map();
    this.kind.forEach((kind, i) => {
      const key = `${this.node[i]} ${this.line[i]}`;
      if (kind !== isLine || !this.rows.has(key)) return;
      const its = found.get(key) || { run: 0, wait: 0, hits: 0 };
      found.set(key, its);
      its.run += sums.run[i + 1];
      its.wait += sums.wait[i + 1];
      its.hits += sums.samples[i + 1];
    });
    /** @type {any[][]} */
    const [whole, part, rows] = [[], [], []];
    for (const [key, row] of this.rows) {
      const { f, n, hits, cost } = row;
      whole[f] = (whole[f] || 0) + cost;
      const its = found.get(key);
      if (!its) continue;
      const own = Math.min(hits > 0 ? cost * (its.hits / hits) : 0, its.run);
      part[f] = (part[f] || 0) + own;
      const wait = Math.round(its.wait);
      const raw = Math.round(its.run) + wait;
      const self = raw - Math.trunc(own);
      if (self > 0 || its.hits > 0) {
        rows.push({ f, n, self, wait, hits: its.hits, cost: raw - self });
      }
    }
    const parts = whole.map((all, f) => all > 0 && (part[f] || 0) / all);
    return { rows, parts };
  }

  // Calls of each node, and those that it makes.
  events(calls) {
    const out = Float64Array.from(calls);
    for (let i = 1; i < out.length; i++) out[this.tree.parent[i]] += calls[i];
    return out;
  }

  byNode(n, sums) {
    return (sums.nodes ??= this.nodesOf(n, sums));
  }

  nodesOf(n, sums) {
    const out = super.byNode(n, sums);
    const { func, cost = new Float64Array(n), calls } = this.tree;
    const { parts } = this.lines(sums);
    const [some, all] = [this.events(out.samples), this.events(calls)];
    /** @type {any[][]} */
    const [run, costs] = [[], []];
    for (let i = 0; i < n; i++) {
      run[func[i]] = (run[func[i]] || 0) + out.run[i];
      costs[func[i]] = (costs[func[i]] || 0) + cost[i];
    }
    out.cost = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      const f = func[i];
      let own = all[i] > 0 ? cost[i] * (some[i] / all[i]) : 0;
      if (parts[f] !== undefined && parts[f] !== false) {
        own = run[f] > 0 ? costs[f] * parts[f] * (out.run[i] / run[f]) : 0;
      }
      out.cost[i] = Math.min(own, out.run[i]);
    }
    out.cost.forEach((own, i) => (out.run[i] -= own));
    return out;
  }

  shares(sums) {
    const { run, wait, cost } = this.byNode(this.tree.n, sums);
    let own = sum(cost);
    this.kind.forEach((kind, i) => {
      if (kind === isOverhead) own += sums.run[i + 1];
    });
    return { run: sum(run), wait: sum(wait), own };
  }

  // All lines together get no more than the nodes, see exact_limit in ranging.c.
  ofLines(_func, sums, { running, waiting }) {
    const { rows } = this.lines(sums);
    const run = sum(rows.map(({ self, wait }) => self - wait));
    const waits = sum(rows.map(({ wait }) => wait));
    return rows.map((row) => {
      let [ran, wait] = [row.self - row.wait, row.wait];
      if (run > running) ran = share(running, ran, run);
      if (waits > waiting) wait = share(waiting, wait, waits);
      const self = ran + wait;
      return { ...row, self, wait, cost: row.self + row.cost - self };
    });
  }
}
