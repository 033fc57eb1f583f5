// A call tree as rows: which nodes are below which, with their figures. Nodes
// are made when they are asked for, as there may be a million. Both kinds of
// tree have the functions roots(), below(node), has(node), func(node) and
// figures(node).

import { bounds } from "./bound.js";
import { layout } from "./tree.js";

/** Callees below their callers. A node is its number in the tree. */
export class TopDown {
  // sampled: does the tree count samples in place of calls? most: see bound();
  // root, host: the functions outside of all, and of the program without Lua
  constructor(tree, { sampled, most, root, host }) {
    this.root = root;
    this.host = host;
    this.tree = tree;
    this.sampled = sampled;
    this.most = most;
    this.layout = layout(tree, tree.self);
    this.counts = tree.below();
  }

  // Nodes that ran before the start and only lead there are left out.
  roots() {
    const { tree, sampled, host, root } = this;
    if (tree.func[0] !== root) return [0];
    const { func, calls, self } = tree;
    // A node ran if it was called. Samples know no calls: there, all nodes ran
    // but those of the host without self time.
    const ran = (i) =>
      sampled ? func[i] !== host || self[i] > 0 : calls[i] > 0;
    let list = this.below(0);
    while (list.length === 1 && !ran(list[0])) {
      const next = this.below(list[0]);
      if (next.length === 0) break;
      list = next;
    }
    return list;
  }

  counted(i) {
    return this.counts[i] > 0 || this.tree.total[i] > 0;
  }

  below(i) {
    const { first, child } = this.layout;
    const out = [];
    for (let c = first[i]; c < first[i + 1]; c++) {
      if (this.counted(child[c])) out.push(child[c]);
    }
    return out;
  }

  has(i) {
    const { first, child } = this.layout;
    for (let c = first[i]; c < first[i + 1]; c++) {
      if (this.counted(child[c])) return true;
    }
    return false;
  }

  func(i) {
    return this.tree.func[i];
  }

  figures(i) {
    const { tree, sampled, counts } = this;
    const [selfMost, totalMost] = tree.most(i, this.most);
    return {
      self: tree.self[i],
      total: tree.total[i],
      calls: sampled ? counts[i] : tree.calls[i],
      selfMost,
      totalMost,
    };
  }

  // What is left of a search: the nodes of wanted functions and those that
  // lead there.
  kept(wanted) {
    const { n, parent, func } = this.tree;
    const out = new Uint8Array(n);
    for (let i = n - 1; i >= 0; i--) {
      if (wanted[func[i]]) out[i] = 1;
      if (out[i] && i > 0) out[parent[i]] = 1;
    }
    return out;
  }
}

const sums = ["self", "total", "calls", "cost", "totalCost"];

/**
 * Callers below their callees. Figures are those of the function at the root,
 * in the calls that come this way. Recursion is merged in the tree, so a
 * function is at most once on a path, and nothing counts twice.
 */
export class Inverted {
  constructor(tree, { sampled, most, root }) {
    this.tree = tree;
    this.most = most;
    // the last node that is not a function
    this.floor = tree.func[0] === root ? 0 : -1;
    const { cost, totalCost } = tree;
    const calls = sampled ? tree.below() : tree.calls;
    this.columns = { self: tree.self, total: tree.total, calls };
    if (cost) Object.assign(this.columns, { cost, totalCost });
  }

  // Nodes for lists of tree nodes: `own` are those of the function at the
  // root, `at` their callers this far up.
  grouped(own, at) {
    const { func } = this.tree;
    const groups = new Map();
    at.forEach((node, k) => {
      const f = func[node];
      if (!groups.has(f)) groups.set(f, [[], []]);
      const [owns, ats] = groups.get(f);
      owns.push(own[k]);
      ats.push(node);
    });
    const out = [];
    for (const [f, [owns, ats]] of groups) {
      const node = { func: f, own: owns, at: ats };
      for (const key of sums) {
        const column = this.columns[key];
        node[key] = column ? owns.reduce((sum, i) => sum + column[i], 0) : 0;
      }
      if (node.calls > 0 || node.total > 0) out.push(node);
    }
    return out;
  }

  roots() {
    if (!this.made) {
      const all = [...new Int32Array(this.tree.n).keys()];
      all.splice(0, this.floor + 1);
      this.made = this.grouped(all, all);
    }
    return this.made;
  }

  below(node) {
    if (!node.callers) {
      const { floor, tree } = this;
      const own = node.own.filter((_, k) => tree.parent[node.at[k]] > floor);
      const at = node.at.map((i) => tree.parent[i]).filter((p) => p > floor);
      node.callers = this.grouped(own, at);
    }
    return node.callers;
  }

  has(node) {
    return node.at.some((i) => this.tree.parent[i] > this.floor);
  }

  func(node) {
    return node.func;
  }

  figures(node) {
    const { self, total, calls, cost, totalCost } = node;
    const raw = [self + cost, total + totalCost];
    const at = bounds(self, raw[0], total, raw[1], this.most);
    return { self, total, calls, selfMost: at[0], totalMost: at[1] };
  }
}

// The nodes in an order: "self", "total", "calls" or "name"; `up`: the other
// way round.
function sorted(branches, list, { by, up, names }) {
  if (branches instanceof TopDown && by === "total" && !up) return list;
  const value = (node) =>
    by === "name" ? names[branches.func(node)] : branches.figures(node)[by];
  const sign = (by === "name") !== up ? 1 : -1;
  return list
    .map((node, i) => [value(node), i, node])
    .sort((a, b) => {
      if (a[0] !== b[0]) return a[0] < b[0] ? -sign : sign;
      return a[1] - b[1];
    })
    .map((one) => one[2]);
}

/**
 * The rows to show: nodes, their levels, and the map of open nodes that each
 * one is in or may be in. An open node is in the map of its caller by its
 * function, with the map of what is open below it.
 * @param {any} branches
 * @param {object} options
 * @param {Map<number, any>} options.open
 * @param {any} options.order  by, up, names: as sorted() has them
 * @param {Uint8Array} [options.kept]  only these nodes of a TopDown, all open
 * @param {Set<number>} [options.shut]  but these
 * @param {(f: number) => any} [options.passes]  only these roots
 */
export function flatten(branches, { open, order, kept, shut, passes }) {
  /** @type {Record<string, any[]>} */
  const rows = { nodes: [], levels: [], within: [], open: [] };
  /** @type {any[]} */
  const stack = [];
  const push = (nodes, level, within) => {
    const left = kept ? nodes.filter((i) => kept[i]) : nodes;
    const list = sorted(branches, left, order);
    for (let i = list.length - 1; i >= 0; i--) {
      stack.push(within, level, list[i]);
    }
  };
  const roots = branches.roots();
  const first = passes
    ? roots.filter((node) => passes(branches.func(node)))
    : roots;
  push(first, 0, open);
  while (stack.length > 0) {
    const node = stack.pop();
    const level = stack.pop();
    const within = stack.pop();
    const f = branches.func(node);
    const below = kept ? undefined : within.get(f);
    const opened = kept ? !shut?.has(node) : below !== undefined;
    rows.nodes.push(node);
    rows.levels.push(level);
    rows.within.push(within);
    rows.open.push(opened);
    if (opened) push(branches.below(node), level + 1, below ?? new Map());
  }
  return rows;
}

// Opens the nodes from one on, each with the most of a figure, while it has
// half of the one above it. Returns the path of functions from that node.
export function openHottest(branches, node, within, by) {
  const path = [branches.func(node)];
  let at = node;
  let map = within;
  while (branches.has(at)) {
    const f = branches.func(at);
    if (!map.has(f)) map.set(f, new Map());
    map = map.get(f);
    let next;
    let most = -1;
    for (const one of branches.below(at)) {
      const figure = branches.figures(one)[by];
      if (figure > most) [next, most] = [one, figure];
    }
    if (most * 2 < branches.figures(at)[by]) break;
    at = next;
    path.push(branches.func(at));
  }
  return path;
}

// Open nodes where functions have other numbers: number(f) is the new one, or
// undefined if there is no such function any more.
export function renumbered(open, number) {
  const out = new Map();
  for (const [f, below] of open) {
    const now = number(f);
    if (now !== undefined) out.set(now, renumbered(below, number));
  }
  return out;
}

// Open nodes as text for the address: the numbers of functions, each before
// what is open below it; "-" goes up.
export function written(open) {
  const stack = [open.entries()];
  let out = "";
  while (stack.length > 0) {
    const { value, done } = stack[stack.length - 1].next();
    if (done) {
      stack.pop();
      if (stack.length > 0) out += "-";
    } else {
      out += (/\d$/.test(out) ? "." : "") + value[0];
      stack.push(value[1].entries());
    }
  }
  return out.replace(/-+$/, "") || "-";
}

export function read(text) {
  const open = new Map();
  const path = [open];
  for (const part of text.match(/\d+|-/g) || []) {
    const last = path[path.length - 1];
    if (part !== "-") {
      const below = new Map();
      last.set(Number(part), below);
      path.push(below);
    } else if (path.length > 1) path.pop();
  }
  return open;
}
