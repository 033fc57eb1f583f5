// Stacks of another tool's profile, put together as a call tree.

import { at } from "./table.js";
import { Builder, perFunction, Tree, walk } from "./tree.js";

// The most call-tree nodes: browsers show this many without delay.
const most = 3e6;

// A text on one line, in which no character is invisible or turns the
// direction of others.
const plain = (text) =>
  text.replace(
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    (c) => `\\u{${c.codePointAt(0).toString(16).toUpperCase()}}`,
  );

// What a title says of a function, as cprof and many other tools write it:
// "name (file:line)", "name ([C])" or "file (main chunk)".
function parsed(title) {
  const [, name, inside] = title.match(/^(.*\S) \(([^()]+)\)$/) || [];
  if (inside === "[C]") return { name, kind: "C" };
  if (inside === "main chunk") return { name, place: name, line: 1 };
  const [, place, line] = inside?.match(/^(.+):(\d+)$/) || [];
  if (place) return { name, place, line: Number(line) };
}

export class Stacks {
  /** @type {any[]} rows of title, name, place, line and kind */
  functions = [];
  numbers = new Map();
  /** @type {number[][]} by figure, the own figures of nodes */
  own = [];
  nodes = new Builder();

  // figures: how many each stack has
  constructor(figures) {
    for (let i = 0; i < figures; i++) this.own.push([]);
    this.child(-1, this.add({ name: "(root)", kind: "root" }));
  }

  // The number of a function, which is known by its title.
  add({ name, place = "", line = 0, kind = "" }) {
    const title = place ? `${name} (${at(place, line)})` : name;
    return this.called(title, { name, place, line, kind });
  }

  // The number of the function with this title.
  called(title, known) {
    const found = this.numbers.get(title);
    if (found !== undefined) return found;
    const { name, place, line, kind } = known || parsed(title) || {};
    const number = this.functions.length;
    this.numbers.set(title, number);
    this.functions.push({
      title: plain(title),
      name: plain(name || title),
      place: plain(place || ""),
      line: line || 0,
      kind: kind || "",
    });
    return number;
  }

  // The node of a function below another node. The root, where a stack begins
  // with it, is node 0.
  child(parent, func) {
    if (parent === 0 && func === 0) return 0;
    const node = this.nodes.child(parent, func);
    if (node === most) {
      throw new Error("it has more than 3 million different call paths");
    }
    if (node === this.own[0].length) for (const own of this.own) own.push(0);
    return node;
  }

  // Adds a figure to a node.
  count(node, figure, n) {
    if (n > 0) this.own[figure][node] += n;
  }

  // The tree with one of the figures, times `scale`, as self, and one, if any,
  // as calls.
  tree(self, calls, scale) {
    const { n, parent, func } = this.nodes.tree();
    const of = (k, by) =>
      k < 0
        ? new Float64Array(n)
        : Float64Array.from(this.own[k], (x) => x * by);
    return new Tree(n, parent, func, of(calls, 1), of(self, scale), undefined);
  }

  // The functions, as the data of a page have them.
  columns(tree) {
    const { functions } = this;
    const n = functions.length;
    const depth = new Int32Array(n).fill(1);
    const open = new Int32Array(n);
    walk(
      tree,
      (i) => {
        const f = tree.func[i];
        depth[f] = Math.max(depth[f], ++open[f]);
      },
      (i) => open[tree.func[i]]--,
    );
    const out = { depth: [...depth], source: functions.map(() => -1) };
    for (const key of ["title", "name", "place", "line", "kind"]) {
      out[key] = functions.map((f) => f[key]);
    }
    out.last = out.line;
    for (const [key, list] of Object.entries(perFunction(tree, n))) {
      out[key] = [...list];
    }
    return out;
  }
}
