// When samples came, by the time axis of a profile: what a range of time has
// of each place, and what each cell of a picture has. The figures are those of
// src/profile/range.c, to the nanosecond.

const known = new WeakMap();

// The samples of a model; undefined: it has no time axis. They are decoded
// when they are first asked for.
export function momentsOf(model) {
  const { axis } = model.header;
  if (!axis) return undefined;
  if (!known.has(axis)) known.set(axis, new Moments(axis, model.trees));
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
    this.end = new Float64Array(n);
    this.ns = new Float64Array(n);
    const unit = axis.mean / axis.steps;
    let steps = 0;
    for (let i = 0; i < n; i++) {
      steps += passed[i];
      this.end[i] = steps * axis.step;
      const up = above[i];
      this.ns[i] = axis.mean + (up % 2 ? -(up + 1) / 2 : up / 2) * unit;
    }
  }

  // how much of a sample there was before a time
  before(i, at) {
    const ns = at - (this.end[i] - this.ns[i]);
    return ns <= 0 ? 0 : Math.min(ns, this.ns[i]);
  }

  // how many samples had come by then
  come(i, at) {
    const n = this.samples[i];
    if (at >= this.end[i]) return n;
    if (n <= 1 || this.ns[i] <= 0) return 0;
    const part = this.before(i, at) / this.ns[i];
    return Math.trunc(n * part * (1 - 1e-9));
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
      if (this.end[i] - this.ns[i] >= to) continue;
      const at = this.place[i] >> 1;
      const ns = this.before(i, to) - this.before(i, from);
      if (this.place[i] & 1) wait[at] += ns;
      else run[at] += ns;
      samples[at] += this.come(i, to) - this.come(i, from);
    }
    return { run, wait, samples };
  }

  // Divides the length of a range: ns of each part, and what nodes share.
  divide([from, to], { run, wait }) {
    const sum = (list) => list.reduce((all, n, i) => (i ? all + n : 0), 0);
    const all = { run: sum(run), wait: sum(wait) };
    let ns = to - from;
    const paused = share(ns, run[0], ns);
    ns -= paused;
    const preempted = share(ns, wait[0], ns);
    ns -= preempted;
    // what the profiler took is only known of the whole recording
    const overhead = share(ns, this.axis.overhead, 1);
    ns -= overhead;
    const both = all.run + all.wait;
    const waiting = both > 0 ? share(ns, all.wait, both) : 0;
    return { all, paused, preempted, overhead, waiting, running: ns - waiting };
  }

  // The self figures of nodes in a range: columns self, wait and samples.
  ofNodes(n, sums, parts) {
    const own = { run: new Float64Array(n), wait: new Float64Array(n) };
    const out = {
      self: new Float64Array(n),
      wait: new Float64Array(n),
      samples: new Float64Array(n),
    };
    this.node.forEach((node, i) => {
      own.run[node] += sums.run[i + 1];
      own.wait[node] += sums.wait[i + 1];
      out.samples[node] += sums.samples[i + 1];
    });
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

  // What `count` cells of `ns` each have, from a time on: columns `run` and
  // `wait`, and `lost`, the ns that were not recorded. of: which nodes count;
  // undefined: all.
  cells(from, ns, count, of) {
    const out = {
      run: new Float64Array(count),
      wait: new Float64Array(count),
      lost: new Float64Array(count),
    };
    for (let k = this.first(from); k < this.n; k++) {
      const at = this.place[k] >> 1;
      if (at > 0 && of && !of[this.node[at - 1]]) continue;
      const column =
        at === 0 ? out.lost : this.place[k] & 1 ? out.wait : out.run;
      const begin = Math.floor((this.end[k] - this.ns[k] - from) / ns);
      for (let i = Math.max(0, begin); i < count; i++) {
        const start = from + i * ns;
        if (start >= this.end[k]) break;
        column[i] += this.before(k, start + ns) - this.before(k, start);
      }
    }
    return out;
  }
}
