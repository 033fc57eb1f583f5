// Call trees as columns. A caller always comes before its callees.

import { bounds } from "./bound.js";

export class Tree {
  /** @type {any} overhead of each node and all nodes below it */
  costs;
  /** @type {any} the depth of each node */
  depth;
  /** @type {any} by measure, this tree in another measure */
  others;
  /** @type {any} by measure, the self figures of nodes */
  memory;
  /** @type {any} the line that each node was called from */
  line;
  /** @type {any} calls of each node and all nodes below it */
  callsBelow;
  /** @type {Tree | undefined} in a comparison: the same nodes with the figures
   *   of the earlier profile */
  before;
  /** Are callers below their callees? */
  inverted = false;

  // All columns have length n. `total` is summed up from `self`; `cost` is the
  // overhead that was subtracted from `self`, if known.
  constructor(n, parent, func, calls, self, cost) {
    this.n = n;
    this.parent = parent;
    this.func = func;
    this.calls = calls;
    this.self = self;
    this.total = sums(parent, self);
    if (cost?.some((ns) => ns > 0)) this.cost = cost;
  }

  // The overhead that was subtracted from `total`.
  get totalCost() {
    if (this.cost) this.costs ??= sums(this.parent, this.cost);
    return this.costs;
  }

  // The upper bounds of a node's times: [self, total]; see bounds().
  most(i, limit) {
    const { self, total, cost, totalCost } = this;
    if (!cost) return [self[i], total[i]];
    const [raw, rawTotal] = [self[i] + cost[i], total[i] + totalCost[i]];
    return bounds(self[i], raw, total[i], rawTotal, limit);
  }

  // The depth of each node.
  depths() {
    if (!this.depth) {
      this.depth = new Int32Array(this.n);
      for (let i = 1; i < this.n; i++) {
        this.depth[i] = this.depth[this.parent[i]] + 1;
      }
    }
    return this.depth;
  }

  // The tree with another measure instead of time.
  measured(key) {
    this.others ??= {};
    this.others[key] ??= new Tree(
      this.n,
      this.parent,
      this.func,
      this.calls,
      this.memory[key],
    );
    return this.others[key];
  }

  // Calls of each node and all nodes below it. Useful if calls are samples.
  below() {
    this.callsBelow ??= sums(this.parent, this.calls);
    return this.callsBelow;
  }
}

// The sum of each node and all nodes below it.
export function sums(parent, own) {
  const out = Float64Array.from(own);
  for (let i = out.length - 1; i > 0; i--) out[parent[i]] += out[i];
  return out;
}

// The tree of decoded columns. Node i is levels[i] levels above a callee of
// node i - 1.
export function fromColumns({
  n,
  levels,
  func,
  calls,
  self,
  cost,
  line,
  ...memory
}) {
  const parent = new Int32Array(n);
  const path = [];
  let depth = -1;
  for (let i = 0; i < n; i++) {
    depth += 1 - levels[i];
    parent[i] = depth === 0 ? -1 : path[depth - 1];
    path[depth] = i;
  }
  const out = new Tree(n, parent, func, calls, self, cost);
  out.memory = memory;
  out.line = line;
  return out;
}

const columns = ["parent", "func", "calls", "self", "cost"];

// A column with room for n values.
function grown(column, n) {
  const out = new column.constructor(n);
  out.set(column);
  return out;
}

// Builds a tree node by node; a node has at most one child per function.
export class Builder {
  constructor() {
    this.n = 0;
    this.parent = new Int32Array(64);
    this.func = new Int32Array(64);
    this.calls = new Float64Array(64);
    this.self = new Float64Array(64);
    this.cost = new Float64Array(64);
    // a hash table of node numbers plus 1; half of it stays empty
    this.slots = new Int32Array(128);
  }

  // The slot of a child, or the empty one where it belongs.
  slot(parent, func) {
    const { slots } = this;
    const mask = slots.length - 1;
    const hash = Math.imul(parent, 0x9e3779b1) + Math.imul(func, 0x85ebca6b);
    let at = (hash ^ (hash >>> 15)) & mask;
    for (;;) {
      const node = slots[at] - 1;
      if (node < 0) return at;
      if (this.parent[node] === parent && this.func[node] === func) return at;
      at = (at + 1) & mask;
    }
  }

  grow() {
    const n = 2 * this.parent.length;
    for (const key of columns) this[key] = grown(this[key], n);
    this.slots = new Int32Array(2 * n);
    for (let i = 0; i < this.n; i++) {
      this.slots[this.slot(this.parent[i], this.func[i])] = i + 1;
    }
  }

  child(parent, func) {
    let at = this.slot(parent, func);
    if (this.slots[at] > 0) return this.slots[at] - 1;
    if (this.n === this.parent.length) {
      this.grow();
      at = this.slot(parent, func);
    }
    const node = this.n++;
    this.slots[at] = node + 1;
    this.parent[node] = parent;
    this.func[node] = func;
    return node;
  }

  add(node, calls, self, cost = 0) {
    this.calls[node] += calls;
    this.self[node] += self;
    this.cost[node] += cost;
  }

  // adds the figures of another tree's node
  take(node, tree, i, calls = tree.calls[i]) {
    this.add(node, calls, tree.self[i], tree.cost?.[i]);
  }

  // Adds another tree, callers first. `place` gives the node that takes the
  // figures of node i, where those of its caller went to `above`; -1: none.
  // Without `inner`, calls within one node are not counted.
  fill(tree, place, inner = true) {
    const to = new Int32Array(tree.n);
    for (let i = 0; i < tree.n; i++) {
      const p = tree.parent[i];
      const above = p < 0 ? -1 : to[p];
      to[i] = place(i, above);
      if (to[i] < 0) continue;
      const counts = inner || to[i] !== above;
      this.take(to[i], tree, i, counts ? tree.calls[i] : 0);
    }
    return this;
  }

  tree() {
    const { n } = this;
    const [parent, ...more] = columns.map((key) => this[key].slice(0, n));
    return new Tree(n, parent, ...more);
  }
}

// For each node: is the function above it?
function below(tree, func) {
  const inside = new Uint8Array(tree.n);
  for (let i = 1; i < tree.n; i++) {
    const p = tree.parent[i];
    inside[i] = inside[p] || tree.func[p] === func ? 1 : 0;
  }
  return inside;
}

// The tree of what a function calls, merged over all its callers.
export function callees(tree, func) {
  const out = new Builder();
  const place = (i, above) =>
    above >= 0 || tree.func[i] === func ? out.child(above, tree.func[i]) : -1;
  return out.fill(tree, place).tree();
}

const deepest = 250;

// The inverted tree of a function: callers are below their callees. Figures
// are at the end of each path.
export function callers(tree, func, counts = tree.calls) {
  const inside = below(tree, func);
  const out = new Builder();
  for (let i = 0; i < tree.n; i++) {
    if (tree.func[i] !== func || inside[i]) continue;
    let node = out.child(-1, func);
    let p = tree.parent[i];
    for (let left = deepest; p > 0 && left > 0; left--) {
      node = out.child(node, tree.func[p]);
      p = tree.parent[p];
    }
    out.add(node, counts[i], tree.total[i], tree.totalCost?.[i]);
  }
  const made = out.tree();
  made.inverted = true;
  return made;
}

// A node of less than this share of all figures is not divided by callers.
const divided = 1e-4;

// The inverted tree of all functions: below the root, each function with its
// own figures, and below it its callers. Figures are at the end of each path.
export function inverted(tree) {
  const { n, parent, func, calls, self, cost } = tree;
  const out = new Builder();
  const root = out.child(-1, func[0]);
  out.take(root, tree, 0);
  const sum = (list) => list.reduce((all, x) => all + x, 0);
  const least = [self, calls].map((own) => sum(own) * divided);
  const used = [];
  for (let i = 1; i < n; i++) if (calls[i] > 0 || self[i] > 0) used.push(i);
  // paths that continue: the nodes whose figures they are of, and where they
  // have come to
  const todo = [{ node: root, from: used, at: used }];
  for (let k = 0; k < todo.length; k++) {
    const { node, from, at } = todo[k];
    // its memory is needed no longer
    todo[k] = todo[0];
    const next = new Map();
    for (let j = 0; j < at.length; j++) {
      const i = from[j];
      // the first step is to the function itself
      const to = k === 0 ? at[j] : parent[at[j]];
      if (to <= 0) {
        out.add(node, calls[i], self[i], cost?.[i]);
        continue;
      }
      const of = next.get(func[to]) || { from: [], at: [], self: 0, calls: 0 };
      next.set(func[to], of);
      of.from.push(i);
      of.at.push(to);
      of.self += self[i];
      of.calls += calls[i];
    }
    for (const [f, of] of next) {
      const child = out.child(node, f);
      if (of.self >= least[0] || of.calls >= least[1]) {
        todo.push({ node: child, from: of.from, at: of.at });
      } else {
        for (const i of of.from) out.add(child, calls[i], self[i], cost?.[i]);
      }
    }
  }
  const made = out.tree();
  made.inverted = true;
  return made;
}

// The tree of wanted functions and what they call, below the root; without
// nodes if none of them is in the tree.
export function focused(tree, wanted) {
  const { func } = tree;
  const out = new Builder();
  const place = (i, above) => {
    if (above >= 0) return out.child(above, func[i]);
    return wanted[func[i]] ? out.child(out.child(-1, func[0]), func[i]) : -1;
  };
  return out.fill(tree, place).tree();
}

// The tree without unwanted functions and all nodes below them.
export function hide(tree, unwanted) {
  const { func, parent } = tree;
  const out = new Builder();
  const place = (i, above) =>
    unwanted[func[i]] || (parent[i] >= 0 && above < 0)
      ? -1
      : out.child(above, func[i]);
  return out.fill(tree, place).tree();
}

// The tree with a group of functions in one box for each call from outside of
// the group: it has the figures of all of the group below it.
export function collapsed(tree, group) {
  const { func } = tree;
  const out = new Builder();
  const place = (i, above) =>
    above >= 0 && group[func[i]] && group[out.func[above]]
      ? above
      : out.child(above, func[i]);
  return out.fill(tree, place, false).tree();
}

// The kind of a function by its number: "native" is a C function that Lua did
// not call.
export function kindOf(model) {
  return (f) => model.functions[f].kind;
}

/**
 * The tree with recursion merged: each function appears once per path, and
 * calls of its recursive nodes move to its first node. Lua's own C functions
 * are there once for each call: native ones are merged only if nothing else
 * is between. Those that Lua calls are merged only if nothing at all is
 * between, or what stands between two calls of pcall would be hidden.
 * @param {any} tree
 * @param {(f: number) => string} kind  of a function by its number
 */
export function merged(tree, kind) {
  const out = new Builder();
  const place = (i, parent) => {
    const f = tree.func[i];
    const is = kind(f);
    let above = parent;
    while (above >= 0 && out.func[above] !== f) {
      const stop =
        is === "C" || (is === "native" && kind(out.func[above]) !== is);
      above = stop ? -1 : out.parent[above];
    }
    return above >= 0 ? above : out.child(parent, f);
  };
  return out.fill(tree, place).tree();
}

// The tree of some functions; figures of others go to their callers.
export function only(tree, keep) {
  const { func } = tree;
  const out = new Builder();
  const place = (i, above) =>
    above < 0 || keep(func[i]) ? out.child(above, func[i]) : above;
  return out.fill(tree, place, false).tree();
}

// The sum of the weights of the wanted functions' outermost nodes.
export function weightOf(l, wanted) {
  const { n, parent, func } = l.tree;
  const inside = new Uint8Array(n);
  let sum = 0;
  for (let i = 0; i < n; i++) {
    const above = parent[i] >= 0 && inside[parent[i]];
    inside[i] = above || wanted[func[i]] ? 1 : 0;
    if (inside[i] && !above) sum += l.weight[i];
  }
  return sum;
}

// Merges several trees.
export function union(trees) {
  const out = new Builder();
  for (const tree of trees) {
    out.fill(tree, (i, above) => out.child(above, tree.func[i]));
  }
  return out.tree();
}

// Merges two trees: the result has the figures of `after`; its field `before`
// is a tree of the same nodes with the figures of `before`.
export function both(before, after) {
  const out = new Builder();
  const was = { calls: [], self: [], cost: [] };
  for (const tree of [before, after]) {
    const to = new Int32Array(tree.n);
    for (let i = 0; i < tree.n; i++) {
      const p = tree.parent[i];
      to[i] = out.child(p < 0 ? -1 : to[p], tree.func[i]);
      if (tree === after) {
        out.take(to[i], tree, i);
      } else {
        for (const key of Object.keys(was)) {
          was[key][to[i]] = (was[key][to[i]] || 0) + (tree[key]?.[i] || 0);
        }
      }
    }
  }
  const made = out.tree();
  const { n, parent, func } = made;
  const own = (key) => Float64Array.from(func, (_, i) => was[key][i] || 0);
  const figures = [own("calls"), own("self"), own("cost")];
  made.before = new Tree(n, parent, func, ...figures);
  return made;
}

// Calls enter(node) and leave(node) for all nodes, depth first. The order of
// columns need not be depth first.
export function walk(tree, enter, leave) {
  const order = layout(tree, tree.self);
  /** @type {any[]} */
  const stack = [0];
  while (stack.length > 0) {
    const i = stack.pop();
    if (i < 0) {
      leave(~i);
      continue;
    }
    enter(i);
    stack.push(~i);
    for (let c = order.first[i]; c < order.first[i + 1]; c++) {
      stack.push(order.child[c]);
    }
  }
}

// Calls, self, total, and samples with callees of each function, and the
// subtracted overhead if known. Recursion counts once.
export function perFunction(tree, functions) {
  const { cost, totalCost } = tree;
  const keys = ["calls", "self", "total", "samples"];
  const out = {};
  for (const key of cost ? [...keys, "cost", "totalCost"] : keys) {
    out[key] = new Float64Array(functions);
  }
  const below = tree.below();
  const open = new Int32Array(functions);
  walk(
    tree,
    (i) => {
      const f = tree.func[i];
      out.calls[f] += tree.calls[i];
      out.self[f] += tree.self[i];
      if (cost) out.cost[f] += cost[i];
      if (open[f]++ > 0) return;
      out.total[f] += tree.total[i];
      out.samples[f] += below[i];
      if (cost) out.totalCost[f] += totalCost[i];
    },
    (i) => open[tree.func[i]]--,
  );
  return out;
}

// For each node of a C function: the first of the C functions that lead to it,
// which a line may have called; -1: not a C function.
export function firstInC(tree, functions) {
  const kind = (i) => functions[tree.func[i]].kind;
  const out = new Int32Array(tree.n).fill(-1);
  for (let i = 1; i < tree.n; i++) {
    if (kind(i) !== "C") continue;
    let p = tree.parent[i];
    while (p > 0 && kind(p) === "zone") p = tree.parent[p];
    out[i] = out[p] < 0 ? i : out[p];
  }
  return out;
}

// Calls of nodes that are `inside`, added up by a key, which keyOf(node,
// caller) gives; undefined: the call does not count. Rows of { key, node,
// caller, calls, total, totalCost, inC }; node is the first one, caller its
// caller. Recursion counts once. Calls from a zone count for its function, and
// what C functions have called counts in C.
export function callsBy(tree, inside, functions, keyOf) {
  const rows = new Map();
  const open = new Map();
  const within = (own) =>
    own &&
    sums(
      tree.parent,
      own.map((n, i) => (inside[i] ? n : 0)),
    );
  const [total, totalCost] = [within(tree.self), within(tree.cost)];
  const kind = (i) => functions[tree.func[i]].kind;
  const at = (i) => {
    let p = tree.parent[i];
    if (p < 0 || !tree.line[i] || !inside[i] || !inside[p]) return [];
    while (p > 0 && kind(p) === "zone") p = tree.parent[p];
    return [keyOf(i, p), p];
  };
  const figures = { calls: 0, total: 0, totalCost: 0, inC: 0 };
  const first = firstInC(tree, functions);
  walk(
    tree,
    (i) => {
      const [key, caller] = at(i);
      const called = first[i] >= 0 && first[i] !== i && inside[i];
      const above = called && rows.get(at(first[i])[0]);
      if (above) above.inC += tree.self[i];
      if (key === undefined) return;
      const row = rows.get(key) || { key, node: i, caller, ...figures };
      rows.set(key, row);
      if (kind(i) === "zone") return;
      row.calls += tree.calls[i];
      if (kind(i) === "C") row.inC += tree.self[i];
      const depth = open.get(key) || 0;
      open.set(key, depth + 1);
      if (depth > 0) return;
      row.total += total[i];
      row.totalCost += totalCost?.[i] || 0;
    },
    (i) => {
      const key = kind(i) === "zone" ? undefined : at(i)[0];
      if (key !== undefined) open.set(key, open.get(key) - 1);
    },
  );
  return [...rows.values()];
}

// The calls of one function by another: rows of { from, to, calls, total }.
// Recursion counts once.
export function calledBetween(tree, functions) {
  const rows = new Map();
  const { func, parent } = tree;
  const row = (i) => {
    if (parent[i] < 0) return undefined;
    const [from, to] = [func[parent[i]], func[i]];
    const key = from * functions + to;
    const known = rows.get(key) || { from, to, calls: 0, total: 0, open: 0 };
    rows.set(key, known);
    return known;
  };
  walk(
    tree,
    (i) => {
      const of = row(i);
      if (!of) return;
      of.calls += tree.calls[i];
      if (of.open++ === 0) of.total += tree.total[i];
    },
    (i) => {
      const of = row(i);
      if (of) of.open--;
    },
  );
  return [...rows.values()].map(({ from, to, calls, total }) => ({
    from,
    to,
    calls,
    total,
  }));
}

// The calls made from each line, of nodes that are `inside`: rows of { f, n,
// calls, total, totalCost, inC }; f is the calling function, n its line.
export function calledFrom(tree, inside, functions) {
  const { func, line } = tree;
  const key = (i, p) => func[p] + line[i] * functions.length;
  return callsBy(tree, inside, functions, key).map(
    ({ calls, total, totalCost, inC, ...row }) => ({
      ...{ f: func[row.caller], n: line[row.node] },
      ...{ calls, total, totalCost, inC },
    }),
  );
}

// For each node: is it of a wanted function, or below one?
export function under(tree, wanted) {
  const inside = new Uint8Array(tree.n);
  for (let i = 0; i < tree.n; i++) {
    const p = tree.parent[i];
    inside[i] = wanted[tree.func[i]] || (p >= 0 && inside[p]) ? 1 : 0;
  }
  return inside;
}

// Calls, self and total for each level of a function's recursion.
export function levels(tree, func) {
  const out = [];
  const level = new Int32Array(tree.n);
  for (let i = 0; i < tree.n; i++) {
    const above = tree.parent[i] < 0 ? 0 : level[tree.parent[i]];
    level[i] = above;
    if (tree.func[i] !== func) continue;
    level[i] = above + 1;
    const row = (out[above] = out[above] || { calls: 0, self: 0, total: 0 });
    row.calls += tree.calls[i];
    row.self += tree.self[i];
    row.total += tree.total[i];
    if (tree.cost) {
      row.cost = (row.cost || 0) + tree.cost[i];
      row.totalCost = (row.totalCost || 0) + tree.totalCost[i];
    }
  }
  return out;
}

// The callers and callees of a function. The times of callers add up to its
// total, those of callees to its total minus its self time: if a callee calls
// the function again, that time is not the callee's. `total` may be another
// figure that includes callees, such as tree.below().
export function neighbours(tree, func, total = tree.total) {
  const inside = below(tree, func);
  const again = new Float64Array(tree.n);
  const above = new Map();
  const under = new Map();
  function add(map, key, calls, total) {
    const row = map.get(key) || { func: key, calls: 0, total: 0 };
    row.calls += calls;
    row.total += total;
    map.set(key, row);
  }
  for (let i = tree.n - 1; i > 0; i--) {
    const p = tree.parent[i];
    const own = tree.func[i] === func;
    again[p] += own ? total[i] : again[i];
    if (own) {
      add(above, tree.func[p], tree.calls[i], inside[i] ? 0 : total[i]);
    }
    if (tree.func[p] === func) {
      add(under, tree.func[i], tree.calls[i], own ? 0 : total[i] - again[i]);
    }
  }
  const order = (a, b) => b.total - a.total || b.calls - a.calls;
  return {
    callers: [...above.values()].sort(order),
    callees: [...under.values()].sort(order),
  };
}

function insertion(list, from, to, weight) {
  for (let i = from + 1; i < to; i++) {
    const node = list[i];
    const w = weight[node];
    let j = i - 1;
    while (j >= from && weight[list[j]] < w) {
      list[j + 1] = list[j];
      j--;
    }
    list[j + 1] = node;
  }
}

// The children of each node: those of i are child[first[i]] to
// child[first[i + 1] - 1].
function childrenOf({ n, parent }) {
  const first = new Int32Array(n + 1);
  for (let i = 1; i < n; i++) first[parent[i] + 1]++;
  for (let i = 0; i < n; i++) first[i + 1] += first[i];
  const at = first.slice();
  const child = new Int32Array(Math.max(0, n - 1));
  for (let i = 1; i < n; i++) child[at[parent[i]]++] = i;
  return { first, child };
}

// The positions of nodes in a flame graph, in units of weight; the heaviest
// child comes first.
export function layout(tree, own) {
  const { n, parent } = tree;
  const weight = own === tree.self ? tree.total : sums(parent, own);
  const { first, child } = childrenOf(tree);
  const start = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const from = first[i];
    const to = first[i + 1];
    if (to - from > 32) {
      child.subarray(from, to).sort((a, b) => weight[b] - weight[a] || a - b);
    } else if (to - from > 1) {
      insertion(child, from, to, weight);
    }
    let x = start[i];
    for (let c = from; c < to; c++) {
      start[child[c]] = x;
      x += weight[child[c]];
    }
  }
  return { tree, weight, first, child, start };
}

// The node from which a graph shows where the weight is: the deepest one with
// at least two thirds of the weight of which most is below it.
export function forked(l) {
  const [whole] = l.weight;
  const own = (i) => {
    let rest = l.weight[i];
    for (let c = l.first[i]; c < l.first[i + 1]; c++) {
      rest -= l.weight[l.child[c]];
    }
    return rest;
  };
  let node = 0;
  for (;;) {
    if (l.first[node] === l.first[node + 1]) return node;
    const next = l.child[l.first[node]];
    const most = l.weight[next] >= (whole * 2) / 3;
    if (!most || own(next) * 2 >= l.weight[next]) return node;
    node = next;
  }
}

// The child of a node at the position x, or -1.
export function childAt(l, node, x) {
  let low = l.first[node];
  let high = l.first[node + 1] - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const c = l.child[middle];
    if (x < l.start[c]) high = middle - 1;
    else if (x >= l.start[c] + l.weight[c]) low = middle + 1;
    else return c;
  }
  return -1;
}

// The layout of calls in the order of time. `calls` has the begin of each call
// relative to the previous node's, `self` its duration.
export function timed(tree) {
  const { n, calls, self } = tree;
  const start = new Float64Array(n);
  for (let i = 1; i < n; i++) start[i] = start[i - 1] + calls[i];
  return { tree, weight: self, ...childrenOf(tree), start, timed: true };
}

// What functions took between x0 and x1, in layouts of timed(): calls that are
// there, at least in part, their self and total time in that range, and the
// whole time of the longest one.
export function within(layouts, x0, x1, functions) {
  const column = () => new Float64Array(functions);
  const [calls, self, total, longest] = [0, 0, 0, 0].map(column);
  for (const { tree, start, weight } of layouts) {
    const { n, parent, func } = tree;
    const open = new Int32Array(functions);
    /** @type {number[]} */
    const path = [];
    for (let i = 1; i < n; i++) {
      for (let at = path.pop(); at !== undefined; at = path.pop()) {
        if (at === parent[i]) {
          path.push(at);
          break;
        }
        open[func[at]]--;
      }
      const f = func[i];
      const inside =
        Math.min(x1, start[i] + weight[i]) - Math.max(x0, start[i]);
      // calls without a duration are where they begin
      const seen =
        inside > 0 || (weight[i] === 0 && start[i] >= x0 && start[i] <= x1);
      if (seen) {
        calls[f]++;
        self[f] += inside;
        if (parent[i] > 0) self[func[parent[i]]] -= inside;
        if (open[f] === 0) total[f] += inside;
        longest[f] = Math.max(longest[f], weight[i]);
      }
      path.push(i);
      open[f]++;
    }
  }
  return { calls, self, total, longest };
}

// Calls visit(node, depth, x, width) for all nodes between x0 and x1 that are
// at least `least` wide, and rest(depth, x, width) for runs of narrower ones.
// Only visits depths below `until`.
export function visible(l, x0, x1, least, until, visit, rest) {
  /** @type {any[]} */
  const stack = [0, 0];
  while (stack.length > 0) {
    const depth = stack.pop();
    const node = stack.pop();
    visit(node, depth, l.start[node], l.weight[node]);
    if (depth + 1 >= until) continue;
    let drawn = -Infinity;
    let low = l.first[node];
    const end = l.first[node + 1];
    let high = end;
    while (low < high) {
      const middle = (low + high) >> 1;
      const c = l.child[middle];
      if (l.start[c] + l.weight[c] <= x0) low = middle + 1;
      else high = middle;
    }
    for (let c = low; c < end; c++) {
      const next = l.child[c];
      const x = l.start[next];
      if (x >= x1) break;
      if (l.weight[next] < least && l.timed) {
        // narrow calls close to each other are drawn as one
        if (x >= drawn) {
          rest(depth + 1, x, Math.max(l.weight[next], least));
          drawn = x + least;
        }
        continue;
      }
      if (l.weight[next] < least) {
        // children are sorted: all that follow are as narrow
        const last = l.child[end - 1];
        const to = Math.min(x1, l.start[last] + l.weight[last]);
        if (to > x) rest(depth + 1, x, to - x);
        break;
      }
      stack.push(next, depth + 1);
    }
  }
}
