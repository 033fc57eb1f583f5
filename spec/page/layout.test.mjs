// What the page computes, without a browser.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

globalThis.location = { hash: "" };

// Node.js before 22 has to be told that files *.js are modules
const modules = mkdtempSync(join(tmpdir(), "cprof-"));
const html = fileURLToPath(new URL("../../lua/cprof/html", import.meta.url));
cpSync(html, modules, { recursive: true });
writeFileSync(join(modules, "package.json"), '{ "type": "module" }');
after(() => rmSync(modules, { recursive: true }));

const from = (name) => import(pathToFileURL(join(modules, `${name}.js`)).href);

const { figures } = await from("decode");
const { Grid } = await from("heatgrid");
const { Moments } = await from("moments");
const { named } = await from("ranged");
const branches = await from("branches");
const trees = await from("tree");
const {
  bytes,
  count,
  fixed,
  instant,
  percent,
  precise,
  short,
  signed,
  tail,
  time,
} = await from("format");
const { matcher } = await from("search");
const layers = await from("layers");
const { between, falls, nearest, peaks, ticks } = await from("axis");
const { beside, coverage, hot, hottest } = await from("lines");
const {
  both,
  interval,
  least,
  uncertain,
  worth: evenly,
} = await from("samples");
const { cut, highlight } = await from("lua");
const { address, parse } = await from("state");
const { Model, span } = await from("model");
const { byFile, byHeat, palette } = await from("colors");
const { fitted, labelOf } = await from("labels");
const { Recording } = await from("recording");
const { compared, scaled } = await from("frames");
const { causes, length } = await from("stretches");
const { tasksOf } = await from("streaks");

// a tree from { func, calls, self, children }
function tree(root) {
  const columns = { levels: [], func: [], calls: [], self: [] };
  let last = -1;
  function add(node, depth) {
    columns.levels.push(last + 1 - depth);
    columns.func.push(node.func);
    columns.calls.push(node.calls ?? 1);
    columns.self.push(node.self ?? 0);
    last = depth;
    for (const child of node.children || []) add(child, depth + 1);
  }
  add(root, 0);
  const n = columns.func.length;
  return trees.fromColumns({
    n,
    levels: Int32Array.from(columns.levels),
    func: Int32Array.from(columns.func),
    calls: Float64Array.from(columns.calls),
    self: Float64Array.from(columns.self),
  });
}

const [root, a, b, c] = [0, 1, 2, 3];

// root -> a -> b -> a -> c, root -> c
const recursive = () =>
  tree({
    func: root,
    self: 1,
    children: [
      {
        func: a,
        self: 10,
        children: [
          {
            func: b,
            self: 20,
            children: [
              { func: a, self: 5, calls: 3, children: [{ func: c, self: 4 }] },
            ],
          },
        ],
      },
      { func: c, self: 60, calls: 2 },
    ],
  });

// a tree by chance, the same each time
function random(n, functions) {
  let seed = 7;
  const next = (k) => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return (seed >> 8) % k;
  };
  const depth = new Int32Array(n);
  const levels = new Int32Array(n);
  const func = new Int32Array(n);
  for (let i = 1; i < n; i++) {
    depth[i] = Math.max(1, Math.min(40, depth[i - 1] + 1 - next(3)));
    levels[i] = depth[i - 1] + 1 - depth[i];
    func[i] = 1 + next(functions - 1);
  }
  const self = Float64Array.from(func, () => next(1000));
  const calls = Float64Array.from(func, () => 1 + next(9));
  return trees.fromColumns({ n, levels, func, calls, self });
}

// for each of n functions: is it one of these?
const flags = (n, ...list) =>
  Uint8Array.from({ length: n }, (_, f) => (list.includes(f) ? 1 : 0));

const sum = (list, key) => list.reduce((all, row) => all + row[key], 0);

describe("figures as bytes", () => {
  it("have seven bits in each, beyond 32 bits, too", () => {
    const bytes = [0, 127, 128, 1, 255, 127, 128, 128, 128, 128, 128, 128, 2];
    const out = figures(Uint8Array.from(bytes), 5, []);
    assert.deepEqual(out, [0, 127, 128, 16383, 2 * 2 ** 42]);
  });
});

describe("a tree", () => {
  it("is inverted: callers below their callees, figures at the end of paths", () => {
    const t = trees.inverted(recursive());
    const paths = [...t.func].map((_, i) => {
      const path = [];
      for (let k = i; k >= 0; k = t.parent[k]) path.unshift(t.func[k]);
      return `${path.join(" ")}: ${t.self[i]} ${t.calls[i]}`;
    });
    assert.deepEqual(paths.sort(), [
      "0 1 2 1: 5 3",
      "0 1 2: 0 0",
      "0 1: 10 1",
      "0 2 1: 20 1",
      "0 2: 0 0",
      "0 3 1 2 1: 4 1",
      "0 3 1 2: 0 0",
      "0 3 1: 0 0",
      "0 3: 60 2",
      "0: 1 1",
    ]);
    assert.equal(t.total[0], 100);
    assert.equal(t.inverted, true);
  });

  it("is inverted without callers of what has next to nothing", () => {
    const large = random(20000, 40);
    const t = trees.inverted(large);
    assert.equal(t.total[0], large.total[0]);
    assert.equal(t.below()[0], large.below()[0]);
    const { self } = trees.perFunction(large, 40);
    for (let i = 1; i < t.n; i++) {
      if (t.parent[i] === 0) assert.equal(t.total[i], self[t.func[i]]);
    }
    const whole = large.total[0];
    const calls = large.below()[0];
    for (let i = 1; i < t.n; i++) {
      const p = t.parent[i];
      const enough = t.total[p] >= whole / 1e4 || t.below()[p] >= calls / 1e4;
      assert.ok(enough, `${i}`);
    }
  });

  it("has callers before callees, and their times in theirs", () => {
    const t = recursive();
    assert.deepEqual([...t.parent], [-1, 0, 1, 2, 3, 0]);
    assert.deepEqual([...t.total], [100, 39, 29, 9, 4, 60]);
    assert.deepEqual([...t.depths()], [0, 1, 2, 3, 4, 1]);
  });

  it("counts recursion once in totals of functions", () => {
    const { calls, self, total, samples } = trees.perFunction(recursive(), 4);
    assert.deepEqual([...samples], [9, 6, 5, 3]);
    assert.deepEqual([...calls], [1, 4, 1, 3]);
    assert.deepEqual([...self], [1, 15, 20, 64]);
    assert.deepEqual([...total], [100, 39, 29, 64]);
  });

  it("tells levels of a recursion apart", () => {
    const list = trees.levels(recursive(), a);
    assert.deepEqual(list, [
      { calls: 1, self: 10, total: 39 },
      { calls: 3, self: 5, total: 9 },
    ]);
  });

  it("has callers whose times add up, and callees, too", () => {
    for (const t of [recursive(), random(5000, 30)]) {
      const functions = 30;
      const { self, total } = trees.perFunction(t, functions);
      for (let f = 1; f < 4; f++) {
        const { callers, callees } = trees.neighbours(t, f);
        assert.equal(sum(callers, "total"), total[f]);
        assert.equal(sum(callees, "total") + self[f], total[f]);
      }
    }
  });

  it("is turned around for the callers of a function", () => {
    const t = trees.callers(recursive(), c);
    assert.equal(t.total[0], 64);
    assert.deepEqual([...t.func], [c, a, b, a]);
    assert.deepEqual([...t.self], [60, 0, 0, 4]);
    // so that callers are as wide as what they call it for
    assert.deepEqual([...t.calls], [2, 0, 0, 1]);
    assert.equal(trees.layout(t, t.calls).weight[0], 3);
    const all = recursive().below();
    assert.equal(trees.callers(recursive(), a, all).below()[0], 6);
  });

  it("keeps its sum where recursion is merged or nodes are left out", () => {
    const t = random(5000, 12);
    const { total } = trees.perFunction(t, 12);
    assert.equal(trees.merged(t, () => "Lua").total[0], t.total[0]);
    assert.equal(trees.only(t, (f) => f === 3).total[0], t.total[0]);
    assert.equal(trees.callees(t, 3).total[0], total[3]);
    assert.equal(trees.hide(t, flags(12, 3)).total[0], t.total[0] - total[3]);
  });

  it("has only some functions, or a group as one box", () => {
    const t = recursive();
    const some = trees.focused(t, flags(4, b, c));
    assert.deepEqual([...some.func], [root, b, a, c, c]);
    assert.equal(some.total[0], 89);
    const box = trees.collapsed(t, flags(4, a, b));
    assert.deepEqual([...box.func], [root, a, c, c]);
    assert.deepEqual([...box.self], [1, 35, 4, 60]);
    assert.deepEqual([...box.calls], [1, 1, 1, 2]);
    const large = random(5000, 12);
    const group = flags(12, 1, 2, 3);
    const boxes = trees.collapsed(large, group);
    assert.equal(boxes.total[0], large.total[0]);
    for (let i = 1; i < boxes.n; i++) {
      const p = boxes.parent[i];
      assert.ok(!(group[boxes.func[i]] && group[boxes.func[p]]));
    }
  });

  it("has a function once on a path where recursion is merged", () => {
    const t = trees.merged(random(5000, 12), () => "Lua");
    for (let i = 0; i < t.n; i++) {
      for (let p = t.parent[i]; p >= 0; p = t.parent[p]) {
        assert.notEqual(t.func[p], t.func[i]);
      }
    }
  });

  it("keeps calls of Lua below C functions that are there again", () => {
    const native = (f) => (f === b ? "native" : "Lua");
    const called = (f) => (f === b ? "C" : "Lua");
    const chain = (...list) =>
      list.reduceRight(
        (below, func) => ({ func, children: below ? [below] : [], self: 1 }),
        undefined,
      );
    const t = trees.merged(tree(chain(root, b, b, a, b)), native);
    assert.deepEqual([...t.func], [root, b, a, b]);
    assert.deepEqual([...t.parent], [-1, 0, 1, 2]);
    assert.equal(t.total[2], 2);
    const u = trees.merged(tree(chain(root, b, b, a, b, a, b)), called);
    assert.deepEqual([...u.func], [root, b, a, b]);
    assert.deepEqual([...u.parent], [-1, 0, 1, 2]);
    assert.equal(u.total[2], 4);
  });

  it("of two profiles has the figures of both", () => {
    const before = tree({ func: root, children: [{ func: a, self: 5 }] });
    const t = trees.both(before, recursive());
    assert.equal(t.before.total[0], 5);
    assert.equal(t.total[0], 100);
    const gone = trees.both(recursive(), before);
    assert.deepEqual(
      [...gone.self].filter((n) => n > 0),
      [5],
    );
    assert.equal(gone.before.total[0], 100);
  });

  it("of several is their sum", () => {
    const t = trees.union([recursive(), recursive()]);
    assert.equal(t.n, 6);
    assert.equal(t.total[0], 200);
  });
});

describe("a flame graph", () => {
  const big = random(200000, 50);
  const l = trees.layout(big, big.self);

  it("has the heaviest child first, beside each other, within the caller", () => {
    for (let i = 0; i < big.n; i++) {
      let x = l.start[i];
      let last = Infinity;
      for (let k = l.first[i]; k < l.first[i + 1]; k++) {
        const node = l.child[k];
        assert.equal(l.start[node], x);
        assert.ok(l.weight[node] <= last);
        x += l.weight[node];
        last = l.weight[node];
      }
      assert.ok(x <= l.start[i] + l.weight[i]);
    }
  });

  it("finds the child that lies somewhere", () => {
    const widest = l.child[l.first[0]];
    const middle = l.start[widest] + l.weight[widest] / 2;
    assert.equal(trees.childAt(l, 0, middle), widest);
    assert.equal(trees.childAt(l, 0, l.weight[0] + 1), -1);
  });

  it("visits no more than can be seen, however many nodes there are", () => {
    const width = 1400;
    const deep = 40;
    let visits = 0;
    const least = l.weight[0] / width;
    const visit = (node) => {
      visits++;
      assert.ok(node === 0 || l.weight[node] >= least);
    };
    trees.visible(l, 0, l.weight[0], least, deep, visit, () => visits++);
    assert.ok(visits > 100);
    assert.ok(visits < width * deep, `${visits}`);
  });

  it("shows all that there is of a part, and nothing beside it", () => {
    const node = l.child[l.first[0]];
    const [x0, x1] = [l.start[node], l.start[node] + l.weight[node]];
    const seen = new Set();
    trees.visible(l, x0, x1, 0, 100, (i) => seen.add(i), assert.fail);
    for (let i = 0; i < big.n; i++) {
      const inside =
        l.weight[i] > 0 && l.start[i] < x1 && l.start[i] + l.weight[i] > x0;
      if (inside) assert.ok(seen.has(i), `${i}`);
    }
    assert.ok(seen.size < big.n / 2);
  });

  it("tells what the nodes that match weigh, once where they are nested", () => {
    const t = recursive();
    const own = trees.layout(t, t.self);
    const wanted = Uint8Array.from([0, 1, 0, 0]);
    assert.equal(trees.weightOf(own, wanted), 39);
  });

  it("weighs calls where it is to", () => {
    const t = recursive();
    assert.equal(trees.layout(t, t.calls).weight[0], 9);
  });

  it("begins below what only leads to most of it", () => {
    const from = (t) => {
      const own = trees.layout(t, t.self);
      return t.func[trees.forked(own)];
    };
    const chain = (list, node) =>
      list.reduceRight((below, func) => ({ func, children: [below] }), node);
    const fork = (children) => chain([root, a, b], { func: c, children });
    const work = [
      { func: 4, self: 40 },
      { func: 5, self: 40 },
    ];
    assert.equal(from(tree(fork(work))), c);
    // a step that loses a fifth, and one that loses more than a third
    const loses = (self) =>
      tree({
        func: root,
        children: [
          {
            func: a,
            children: [
              { func: b, self },
              { func: c, children: work },
            ],
          },
        ],
      });
    assert.equal(from(loses(20)), c);
    assert.equal(from(loses(60)), a);
    // what takes the time itself is seen beside the others
    const hot = (self) =>
      tree({
        func: root,
        children: [
          {
            func: a,
            children: [
              { func: b, self: 10 },
              { func: c, self, children: [{ func: 4, self: 20 }] },
            ],
          },
        ],
      });
    assert.equal(from(hot(70)), a);
    const straight = tree({ func: root, children: [{ func: a, self: 5 }] });
    assert.equal(trees.forked(trees.layout(straight, straight.self)), 0);
  });
});

describe("a trace", () => {
  // root 0..100: a 10..50 (b 20..30, b 35..36), a 60..61, b 70..90
  const calls = {
    n: 6,
    levels: Int32Array.from([0, 0, 0, 1, 2, 1]),
    func: Int32Array.from([root, a, b, b, a, b]),
    calls: Float64Array.from([0, 10, 10, 15, 25, 10]),
    self: Float64Array.from([100, 40, 10, 1, 1, 20]),
  };
  const l = trees.timed(trees.fromColumns(calls));

  it("has calls where they are in time, and gaps between them", () => {
    assert.deepEqual([...l.start], [0, 10, 20, 35, 60, 70]);
    assert.deepEqual([...l.tree.parent], [-1, 0, 1, 1, 0, 0]);
    assert.equal(trees.childAt(l, 0, 49), 1);
    assert.equal(trees.childAt(l, 0, 55), -1);
    assert.equal(trees.childAt(l, 1, 35.5), 3);
  });

  it("shows a long call after short ones", () => {
    const seen = [];
    const rests = [];
    trees.visible(
      l,
      0,
      100,
      5,
      9,
      (node) => seen.push(node),
      (depth, x) => rests.push([depth, x]),
    );
    assert.deepEqual(seen.sort(), [0, 1, 2, 5]);
    assert.deepEqual(rests.sort(), [
      [1, 60],
      [2, 35],
    ]);
    seen.length = 0;
    const add = (node) => seen.push(node);
    trees.visible(l, 55, 95, 0.1, 9, add, () => {});
    assert.deepEqual(seen.sort(), [0, 4, 5]);
  });

  it("is summed up by function within a range", () => {
    const whole = trees.within([l], 0, 100, 3);
    assert.deepEqual([...whole.calls], [0, 2, 3]);
    assert.deepEqual([...whole.self], [0, 30, 31]);
    assert.deepEqual([...whole.total], [0, 41, 31]);
    const part = trees.within([l, l], 25, 75, 3);
    assert.deepEqual([...part.calls], [0, 4, 6]);
    assert.deepEqual([...part.self], [0, 40, 22]);
    assert.deepEqual([...part.total], [0, 52, 22]);
    assert.deepEqual([...part.longest], [0, 40, 20]);
  });

  it("counts the time of recursion once, and calls of no length", () => {
    const nested = trees.timed(
      trees.fromColumns({
        n: 4,
        levels: Int32Array.from([0, 0, 0, 2]),
        func: Int32Array.from([root, a, a, b]),
        calls: Float64Array.from([0, 10, 10, 5]),
        self: Float64Array.from([100, 40, 10, 0]),
      }),
    );
    const { calls, self, total } = trees.within([nested], 0, 100, 3);
    assert.deepEqual([...calls], [0, 2, 1]);
    assert.deepEqual([...self], [0, 40, 0]);
    assert.deepEqual([...total], [0, 40, 0]);
    assert.deepEqual([...trees.within([nested], 30, 40, 3).calls], [0, 1, 0]);
  });
});

describe("a drawn call graph", () => {
  const edge = (from, to, total = 1) => ({ from, to, calls: 1, total });

  it("has the calls of one function by another, recursion once", () => {
    const rows = trees.calledBetween(recursive(), 9);
    const found = Object.fromEntries(
      rows.map(({ from, to, calls, total }) => [
        `${from} ${to}`,
        [calls, total],
      ]),
    );
    assert.deepEqual(found, {
      [`${root} ${a}`]: [1, 39],
      [`${a} ${b}`]: [1, 29],
      [`${b} ${a}`]: [3, 9],
      [`${a} ${c}`]: [1, 4],
      [`${root} ${c}`]: [2, 60],
    });
  });

  it("has callers above callees, and turns what closes a circle", () => {
    const edges = [edge(1, 2, 9), edge(2, 3, 8), edge(3, 1, 1), edge(1, 3, 2)];
    const { at, lines, rows } = layers.layered([1, 2, 3], edges);
    assert.deepEqual(
      lines.filter(({ back }) => back).map((l) => l.edge),
      [edges[2]],
    );
    const y = (f) => at.get(f).y;
    assert.ok(y(1) < y(2) && y(2) < y(3));
    assert.deepEqual(rows, [[1], [2], [3]]);
    // a line begins at the caller, also if it goes up
    for (const { edge: e, points } of lines) {
      assert.equal(points[0].y, y(e.from));
      assert.equal(points[points.length - 1].y, y(e.to));
    }
  });

  it("has nodes apart, and lines that pass between them", () => {
    const edges = [];
    for (let i = 1; i < 40; i++) edges.push(edge((i * 7) % i, i, 50 - i));
    for (let i = 3; i < 40; i += 4) edges.push(edge(0, i, 1));
    const nodes = [...Array(40).keys()];
    const { at, lines, width, height } = layers.layered(nodes, edges);
    const { box } = layers;
    const list = [...at.values()];
    list.forEach((p, i) => {
      assert.ok(p.x >= box.width / 2 - 1e-6);
      assert.ok(p.x <= width - box.width / 2 + 1e-6 && p.y < height);
      for (const q of list.slice(i + 1)) {
        assert.ok(p.y !== q.y || Math.abs(p.x - q.x) >= box.width);
      }
    });
    for (const { points } of lines) {
      for (const p of points.slice(1, -1)) {
        const over = list.some(
          (q) => q.y === p.y && Math.abs(q.x - p.x) < box.width / 2,
        );
        assert.ok(!over);
      }
    }
  });

  it("has positions near the wanted ones, in order and apart", () => {
    assert.deepEqual(layers.spaced([0, 10, 50], [0, 5, 5]), [0, 10, 50]);
    assert.deepEqual(layers.spaced([10, 10], [0, 6]), [7, 13]);
    assert.deepEqual(layers.spaced([30, 10, 0], [0, 10, 10]).length, 3);
    const [x, y, z] = layers.spaced([30, 10, 0], [0, 10, 10]);
    assert.ok(y - x >= 10 - 1e-9 && z - y >= 10 - 1e-9);
  });

  it("is of the largest functions, or of those around one", () => {
    const totals = [100, 90, 80, 0, 70];
    assert.deepEqual(layers.picked([], totals, 3), [0, 1, 2]);
    assert.deepEqual(layers.picked([], totals, 9), [0, 1, 2, 4]);
    const edges = [edge(0, 1, 5), edge(1, 2, 4), edge(0, 4, 9), edge(2, 3, 1)];
    // a caller's other callees are not around it
    assert.deepEqual(layers.picked(edges, totals, 9, 1), [1, 0, 2, 3]);
    assert.deepEqual(layers.picked(edges, totals, 3, 1), [1, 0, 2]);
  });
});

describe("memory", () => {
  const header = {
    unit: "ns",
    whole: 100,
    functions: {
      title: ["root", "a", "b"],
      name: ["root", "a", "b"],
      place: ["", "x", "x"],
      kind: ["root", "Lua", "Lua"],
      source: [-1, 0, 0],
      line: [0, 1, 2],
      last: [0, 1, 2],
      depth: [1, 1, 1],
      calls: [1, 1, 2],
      self: [10, 70, 20],
      total: [100, 90, 20],
      samples: [],
      memory: {
        bytes: { self: [0, 8, 92], total: [100, 100, 92] },
        allocs: { self: [0, 1, 4], total: [5, 5, 4] },
      },
    },
    sources: [
      {
        lines: {
          n: [1, 2, 3],
          hits: [1, 2, 2],
          self: [70, 15, 5],
          calls: [1, 0, 0],
          total: [20, 0, 0],
          inC: [0, 0, 80],
          bytes: [8, 0, 92],
          allocs: [1, 0, 4],
        },
        active: "111",
        text: [],
      },
    ],
    memory: {},
    measures: ["bytes", "allocs"],
    taken: {},
    frames: {
      list: [
        {
          n: 1,
          ns: 60,
          rows: [1, 1, 40, 60, 2, 1, 20, 20],
          bytes: [8, 50],
          allocs: [1, 2],
        },
        { n: 2, ns: 30, rows: [1, 1, 30, 30], bytes: [0], allocs: [0] },
      ],
    },
  };
  const column = (...list) => Float64Array.from(list);
  const columns = {
    n: 3,
    levels: Int32Array.from([0, 0, 0]),
    func: Int32Array.from([0, 1, 2]),
    calls: column(1, 1, 2),
    self: column(10, 70, 20),
    bytes: column(0, 8, 92),
    allocs: column(0, 1, 4),
  };
  const model = new Model(header, [columns]);

  it("stands in place of time, in functions and the tree", () => {
    const scope = model.scope({ measure: "bytes" });
    assert.equal(scope.whole, 100);
    assert.deepEqual([...scope.self], [0, 8, 92]);
    assert.deepEqual([...scope.tree.total], [100, 100, 92]);
    assert.equal(scope.measure, "bytes");
    // upper bounds are known for times only, not for bytes
    assert.equal(scope.all, undefined);
    assert.deepEqual([...model.scope({}).self], [10, 70, 20]);
    assert.equal(model.scope({ measure: "live" }).measure, undefined);
  });

  it("is relative to what is left where a function is hidden", () => {
    const scope = model.scope({ measure: "bytes", hide: "b" });
    assert.equal(scope.whole, 8);
    assert.equal(scope.filters.hide.one.title, "b");
    const focus = model.scope({ measure: "allocs", focus: "b" });
    assert.deepEqual([focus.whole, focus.self[2]], [4, 4]);
  });

  it("of functions is that of the frames that are chosen", () => {
    const own = (state) => [...model.allocated(state, "bytes")];
    assert.deepEqual(own({}), [0, 8, 92]);
    assert.deepEqual(own({ frames: "1" }), [0, 8, 50]);
    assert.deepEqual(own({ frames: "1-2" }), [0, 8, 50]);
    assert.deepEqual(own({ frames: "2" }), [0, 0, 0]);
    // trees of frames know times only
    assert.equal(model.measure({ frames: "1", measure: "bytes" }), undefined);
  });

  it("is all of it where the chosen frames have times alone", () => {
    const frames = {
      list: [
        { n: 1, ns: 60, rows: [] },
        { n: 2, ns: 30, rows: [1, 1, 30, 30] },
      ],
      others: [{ name: "net", list: [{ n: 1, ns: 7, rows: [2, 1, 7, 7] }] }],
    };
    const one = new Model({ ...header, frames }, [columns]);
    assert.equal(one.scope({ frames: "1" }).frames, undefined);
    assert.equal(one.scope({ frames: "1-2" }).whole, 30);
    assert.equal(one.loops.length, 2);
    const net = { loop: "net", frames: "1" };
    assert.deepEqual([...one.scope(net).self], [0, 0, 7]);
    assert.equal(one.loop({ loop: "nothing" }), frames);
  });

  it("keeps the frames that are chosen where a function is hidden", () => {
    const state = { frames: "1", focus: "a" };
    assert.equal(model.scope(state).frames.length, 1);
  });

  it("sorts lines", () => {
    const lines = (key) => hottest(model.sources, 9, key);
    assert.deepEqual(
      lines("bytes").map(({ line }) => line.n),
      [3, 1],
    );
    assert.deepEqual(
      // with what C functions called there take
      lines().map(({ line }) => line.n),
      [3, 1, 2],
    );
    assert.deepEqual(hot(model.sources[0], 0.5, "bytes"), [3]);
  });

  it("has sizes with three digits, as the reports have", () => {
    const texts = { 0: "0 B", 876: "876 B", 1024: "1.00 KB", 1023: "1.00 KB" };
    for (const n of Object.keys(texts)) assert.equal(bytes(n), texts[n]);
    assert.equal(bytes(45 * 2 ** 20), "45.0 MB");
    assert.equal(bytes(3 * 2 ** 30), "3.00 GB");
  });
});

describe("what is looked at", () => {
  // main calls a twice, from lines 1 and 2, and C from line 1; a calls C from
  // line 5; what a takes is nearly all overhead
  const [main, f, inC] = [1, 2, 3];
  const header = {
    unit: "ns",
    whole: 100,
    most: 100,
    functions: {
      title: ["root", "main", "f", "C"],
      name: ["root", "main", "f", "C"],
      place: ["", "x", "x", ""],
      kind: ["root", "main", "Lua", "C"],
      source: [-1, 0, 0, -1],
      line: [0, 1, 4, 0],
      last: [0, 9, 6, 0],
      depth: [1, 1, 1, 1],
      calls: [0, 1, 2, 4],
      self: [0, 20, 10, 70],
      total: [100, 100, 60, 70],
      samples: [],
      cost: [0, 0, 80, 0],
      totalCost: [80, 80, 80, 0],
    },
    sources: [
      {
        lines: {
          n: [1, 2, 5],
          f: [main, main, f],
          hits: [1, 1, 2],
          self: [12, 8, 10],
          calls: [3, 1, 2],
          total: [50, 30, 50],
          inC: [20, 0, 50],
          cost: [0, 0, 80],
          totalCost: [40, 40, 0],
        },
        active: "110010000",
        text: [],
      },
    ],
  };
  const column = (...list) => Float64Array.from(list);
  const columns = {
    n: 7,
    levels: Int32Array.from([0, 0, 0, 0, 2, 0, 2]),
    func: Int32Array.from([0, main, f, inC, f, inC, inC]),
    calls: column(0, 1, 1, 1, 1, 1, 2),
    self: column(0, 20, 5, 25, 5, 25, 20),
    cost: column(0, 0, 40, 0, 40, 0, 0),
    line: Int32Array.from([0, 0, 1, 5, 2, 5, 1]),
  };
  const model = new Model(header, [columns]);
  const lines = (state) =>
    model
      .sourcesOf(state)[0]
      .lines.map((l) => [l.n, l.hits, l.self, l.calls, l.total, l.inC]);

  it("says what times are at most, one figure for one thing", () => {
    const scope = model.scope({});
    assert.deepEqual([...scope.selfMost], [0, 20, 10 + 20, 70]);
    assert.deepEqual([...scope.totalMost], [100, 100, 60, 70]);
    const { tree } = scope;
    assert.deepEqual(tree.most(2, model.most), [15, 30]);
    assert.deepEqual(tree.most(1, model.most), [20, 100]);
    assert.equal(model.sources[0].byLine.get(5).selfMost, 30);
    const focus = model.scope({ focus: "f" });
    assert.equal(focus.selfMost[f], 30);
  });

  it("adds up estimates", () => {
    const { whole, self } = model.scope({});
    const all = [...self].reduce((a, b) => a + b);
    assert.equal(all, whole);
    const spent = model.sources[0].lines.reduce((a, l) => a + l.spent, 0);
    assert.ok(spent <= whole);
  });

  it("has the lines of a function and of what it calls", () => {
    assert.deepEqual(lines({ focus: "f" }), [[5, 2, 10, 2, 50, 50]]);
    assert.equal(model.wholeOf({ focus: "f" }), 60);
    assert.deepEqual(lines({ focus: "main" }), lines({}));
  });

  it("has what C functions have called in C, for the line of the first", () => {
    // main calls C from line 1, C calls C, that one f, and f C from line 5
    const chain = {
      n: 6,
      levels: Int32Array.from([0, 0, 0, 0, 0, 0]),
      func: Int32Array.from([0, main, inC, inC, f, inC]),
      calls: column(0, 1, 1, 1, 1, 1),
      self: column(0, 20, 5, 25, 5, 25),
      cost: column(0, 0, 0, 0, 0, 0),
      line: Int32Array.from([0, 0, 1, 0, 0, 5]),
    };
    const { tree } = new Model(header, [chain]).scope({});
    const inside = new Uint8Array(tree.n).fill(1);
    const { functions } = model;
    assert.deepEqual(
      trees.calledFrom(tree, inside, functions).map((r) => [r.f, r.n, r.inC]),
      [
        [main, 1, 30],
        [f, 5, 25],
      ],
    );
    assert.deepEqual(
      [...trees.firstInC(tree, functions)],
      [-1, -1, 2, 2, -1, 5],
    );
  });

  it("has the calls of a line by what it calls, and callers by line", () => {
    const t = recursive();
    t.line = Int32Array.from([0, 7, 8, 8, 9, 7]);
    const functions = [root, a, b, c].map((id) => ({ id, kind: "Lua" }));
    const inside = new Uint8Array(t.n).fill(1);
    const told = (key) =>
      trees
        .callsBy(t, inside, functions, key)
        .map(({ key: k, calls, total }) => [k, calls, total]);
    // line 7 of the root calls a and c; line 8 of a calls b, that of b calls a
    const here = (i, p) => (p === 0 && t.line[i] === 7 ? t.func[i] : undefined);
    assert.deepEqual(told(here).sort(), [
      [a, 1, 39],
      [c, 2, 60],
    ]);
    const toA = (i, p) =>
      t.func[i] === a ? `${t.func[p]}:${t.line[i]}` : undefined;
    assert.deepEqual(told(toA), [
      ["0:7", 1, 39],
      ["2:8", 3, 9],
    ]);
    const rows = trees.calledFrom(t, inside, functions);
    const line7 = rows.find(({ f, n }) => f === root && n === 7);
    assert.deepEqual([line7.calls, line7.total], [3, 99]);
  });

  it("has no lines of a function that is left out, nor its time", () => {
    assert.deepEqual(lines({ hide: "f" }), [
      [1, 1, 12, 2, 20, 20],
      [2, 1, 8, 0, 0, 0],
    ]);
    assert.deepEqual(lines({ hide: "C" }), [
      [1, 1, 12, 1, 5, 0],
      [2, 1, 8, 1, 5, 0],
      [5, 2, 10, 0, 0, 0],
    ]);
    assert.deepEqual(lines({ hide: "main" }), []);
  });

  it("has a part of what a function took where it also ran elsewhere", () => {
    const two = { ...columns, line: Int32Array.from([0, 0, 1, 5, 2, 5, 1]) };
    // the second call of f is another function's
    two.levels = Int32Array.from([0, 0, 0, 0, 3, 0, 3]);
    const more = new Model(header, [two]).sourcesOf({ focus: "main" })[0];
    const line = more.byLine.get(5);
    assert.deepEqual([line.hits, line.self, line.inC], [1, 5, 25]);
    assert.equal(more.part, true);
  });
});

describe("an axis", () => {
  it("has round marks, of sizes in their unit", () => {
    assert.deepEqual(ticks(1.1e9, 5), [0, 5e8, 1e9]);
    assert.deepEqual(ticks(10, 5), [0, 2, 4, 6, 8, 10]);
    assert.deepEqual(ticks(0, 5), [0]);
    const kb = 1024;
    assert.deepEqual(ticks(900 * kb, 4, true), [0, 500 * kb]);
    assert.deepEqual(ticks(3 * kb, 3, true), [0, kb, 2 * kb, 3 * kb]);
  });

  it("knows the point that is nearest", () => {
    const list = [0, 10, 30];
    const at = [-5, 4, 5, 19, 21, 99].map((n) => nearest(list, n));
    assert.deepEqual(at, [0, 0, 1, 1, 2, 2]);
  });

  it("finds where a line falls far", () => {
    const list = [1, 9, 5, 2, 3, 2, 8, 1];
    assert.deepEqual(falls(list, 3), [
      { at: 3, by: 7 },
      { at: 7, by: 7 },
    ]);
    assert.deepEqual(falls([1, 2, 3], 1), []);
  });

  it("has round marks between any two times, which can be told apart", () => {
    const { marks, step } = between(1234567, 1234999, 4);
    assert.equal(step, 200);
    assert.deepEqual(marks, [1234600, 1234800]);
    assert.deepEqual(
      marks.map((n) => instant(n, step)),
      ["1.2346 ms", "1.2348 ms"],
    );
    assert.equal(instant(0, 5), "0");
    assert.equal(instant(12, 5), "12 ns");
    assert.equal(instant(2e9, 1e9), "2 s");
    assert.deepEqual(between(5, 5, 4).marks, []);
  });

  it("keeps the peaks where it has fewer points", () => {
    assert.deepEqual(peaks([1, 5, 2, 3, 9, 4], 2), [1, 4]);
    assert.deepEqual(peaks([1, 2], 9), [0, 1]);
  });
});

describe("samples", () => {
  it("tell a share as well as the farther end of Wilson's interval", () => {
    const near = (x, y) => assert.ok(Math.abs(x - y) < 0.0005, `${x} ${y}`);
    // 50 of 100: 40.4 to 59.6 %; 10 of 100: 5.5 to 17.4 %; none: to 3.7 %
    near(interval(0.5, 100), 0.0962);
    near(interval(0.1, 100), 0.0744);
    near(interval(0, 100), 0.037);
    assert.equal(interval(0.5, 0), 1);
    assert.equal(interval(2, 100), interval(1, 100));
  });

  it("of two profiles are as uncertain as both", () => {
    const one = interval(0.5, 100) * 20;
    assert.equal(uncertain([10, 20, 100], [3, 9, undefined]), one);
    assert.equal(uncertain([10, 20, 100], [10, 20, 100]), one * Math.SQRT2);
    assert.equal(uncertain([1, 2, undefined], [3, 4, undefined]), 0);
  });

  it("have callers and callees whose samples add up", () => {
    const t = random(5000, 30);
    const { calls, samples } = trees.perFunction(t, 30);
    for (let f = 1; f < 4; f++) {
      const near = trees.neighbours(t, f, t.below());
      assert.equal(sum(near.callers, "total"), samples[f]);
      assert.equal(sum(near.callees, "total") + calls[f], samples[f]);
    }
  });
});

describe("text", () => {
  it("of times has three digits, and the next unit where it rounds up", () => {
    const list = [0, 876, 1000, 1234567, 45e9, 999960, 1234e9].map(time);
    assert.deepEqual(list, [
      "0 ns",
      "876 ns",
      "1.00 µs",
      "1.23 ms",
      "45.0 s",
      "1.00 ms",
      "1234 s",
    ]);
  });

  it("of counts and shares", () => {
    assert.equal(count(1234567), "1,234,567");
    assert.deepEqual([1, 9999, 12345, 1234567].map(short), [
      "1",
      "9,999",
      "12.3 k",
      "1.2 M",
    ]);
    assert.equal(percent(1, 3), "33.3");
    assert.equal(percent(1, 0), "0.0");
    assert.equal(signed(-5, count), "−5");
    assert.equal(tail("/usr/share/lua/5.4/long.lua", 16), "…/5.4/long.lua");
  });

  it("is looked for by a part, or a pattern", () => {
    const f = (title) => ({ title });
    assert.ok(matcher("PARSE")(f("parser.parse")));
    assert.ok(matcher("/^p.*e$/")(f("parser.parse")));
    assert.ok(!matcher("/^arse/")(f("parser.parse")));
    assert.ok(matcher("a.b")(f("a.b (x.lua:1)")));
    assert.ok(!matcher("a.b")(f("axb")));
    assert.equal(matcher("/(/"), null);
    // what stands between slashes may be a path
    assert.ok(matcher("/a+b/")(f("main (/home/a+b/x.lua:1)")));
    assert.ok(matcher("/home/a")(f("main (/home/a+b/x.lua:1)")));
    assert.ok(!matcher("/.ome")(f("main (/home/a+b/x.lua:1)")));
    assert.equal(matcher(""), undefined);
  });
});

describe("an address", () => {
  it("gives the state again, whatever names are in it", () => {
    const name = 'a&b=c#</script>"%20\u2028 é';
    const state = { view: "flame", function: name, line: "7" };
    assert.deepEqual({ ...parse(address(state)) }, state);
    assert.deepEqual(parse(""), {});
    assert.ok(!address(state).includes("<"));
  });

  it("has a range of frames in either order", () => {
    assert.deepEqual(span("9-3"), [3, 9]);
    assert.deepEqual(span("4"), [4, 4]);
  });
});

describe("a source", () => {
  it("is cut into pieces that are the text again", () => {
    const text = [
      "local s = [==[ a",
      "]] b ]==] --[[ c",
      "d ]] return 'x\\'y' .. \"--\" -- end",
      "",
      "x = 0x1F + 1e5",
    ];
    const lines = highlight(text);
    assert.deepEqual(
      lines.map((line) => line.map(([, s]) => s).join("")),
      text,
    );
    assert.deepEqual(lines[2][0], ["comment", "d ]]"]);
    assert.ok(lines[2].some(([kind, s]) => kind === "string" && s === '"--"'));
    assert.ok(
      lines[1].some(([kind, s]) => kind === "string" && s === "]] b ]==]"),
    );
  });

  it("is cut at columns", () => {
    const pieces = cut(
      [
        ["", "abc"],
        ["keyword", "end"],
      ],
      [1, 4],
    );
    assert.deepEqual(pieces, [
      ["", "a", 0],
      ["", "bc", 1],
      ["keyword", "e", 3],
      ["keyword", "nd", 4],
    ]);
  });

  it("has hot lines one after the other, round about", () => {
    const line = (n, spent) => ({ n, spent });
    const lines = [line(2, 50), line(5, 0), line(7, 49), line(9, 1)];
    assert.deepEqual(hot({ lines, spent: 100 }, 0.02), [2, 7]);
    assert.equal(beside([2, 7], 2, true), 7);
    assert.equal(beside([2, 7], 7, true), 2);
    assert.equal(beside([2, 7], 2, false), 7);
    assert.equal(beside([], 2, true), undefined);
  });

  it("knows which lines ran of those that could", () => {
    const byLine = new Map([[1, { hits: 1, self: 0 }]]);
    assert.deepEqual(coverage({ active: "1011", byLine }), [1, 3]);
  });
});

describe("labels", () => {
  it("keep the end of a path, and of a name with dots", () => {
    const path = "/usr/share/lua/5.1/luacheck/stages/init.lua";
    assert.equal(fitted(path, 50), path);
    assert.equal(fitted(path, 20), "…/stages/init.lua");
    assert.equal(fitted(path, 12), "…/init.lua");
    assert.equal(fitted(path, 6), "init.…");
    assert.equal(fitted("luacheck.stages.parse.run", 12), "…parse.run");
    assert.equal(fitted("luacheck.stages.parse.run", 5), "…run");
    assert.equal(fitted("LinState:emit_stmts", 14), "…emit_stmts");
    assert.equal(fitted("LinState:emit_stmts", 8), "emit_st…");
    assert.equal(fitted("statements", 5), "stat…");
    assert.equal(fitted("m.lists.<fn:72>", 9), "…<fn:72>");
    assert.equal(fitted("(garbage collector)", 8), "(garbag…");
    for (const name of [path, "a.b:c", "<fn:2>", "x"]) {
      for (let n = 1; n < 60; n++) assert.ok(fitted(name, n).length <= n);
    }
  });

  it("have the file of a function without a name", () => {
    const place = "/home/me/words.lua";
    assert.equal(labelOf({ name: "<fn:2>", place }), "words.lua <fn:2>");
    assert.equal(labelOf({ name: "m.<fn:2>", place }), "m.<fn:2>");
    assert.equal(labelOf({ name: "<fn:2>", place: "" }), "<fn:2>");
  });
});

describe("colours", () => {
  const files = [...Array(40).keys()].map((i) => `src/module${i}.lua`);
  const colours = (selves) =>
    byFile(
      files.map((place, i) => ({ place, self: selves[i], kind: "Lua" })),
      palette(false),
    );
  // the time that each file takes, of which `hot` take nearly all
  const selves = (hot) => files.map((_, i) => (hot(i) ? 100 + 7 * i : 0));

  it("of files are the same on other pages of a program", () => {
    const one = colours(selves((i) => i < 20));
    const two = colours(selves((i) => i < 20).map((n) => n && 1000 - n));
    assert.deepEqual(two.slice(0, 20), one.slice(0, 20));
    // although another file is hot there, most stay
    const three = colours(selves((i) => i < 20 || i === 33));
    const same = one.slice(0, 20).filter((c, i) => c === three[i]);
    assert.ok(same.length >= 17, `${same.length}`);
  });

  it("differ where files take much", () => {
    const list = colours(selves((i) => i < 24));
    assert.equal(new Set(list.slice(0, 24)).size, 24);
  });

  it("of heat are hotter where a function takes more itself", () => {
    const functions = [0, 1, 2].map((id) => ({ id, kind: "Lua" }));
    const theme = { ...palette(false), heat: (s) => s };
    assert.deepEqual(byHeat(functions, theme, [0, 25, 100]), [0, 0.5, 1]);
  });
});

describe("hues of files", () => {
  it("stay what they were, whatever is hotter now", () => {
    const known = new Map();
    const of = (...list) =>
      byFile(
        list.map(([place, self]) => ({ place, self, kind: "Lua" })),
        palette(false),
        known,
      );
    const [a, b] = of(["a", 2], ["b", 1]);
    const [a2, b2, c] = of(["a", 1], ["b", 3], ["c", 9]);
    assert.deepEqual([a2, b2], [a, b]);
    assert.equal(new Set([a, b, c]).size, 3);
  });
});

describe("a live recording", () => {
  const packed = (list) => {
    const columns = [[], [], [], [], [], [], []];
    let last = -1;
    for (const [id, parent, func, calls, self, cost = 0, line = 0] of list) {
      const up = parent < 0 ? 0 : id - parent;
      const row = [id - last, up, func, calls, self, cost, line];
      row.forEach((n, i) => columns[i].push(...seven(n)));
      last = id;
    }
    const bytes = Buffer.from(columns.flat()).toString("base64");
    const sizes = [list.length, ...columns.map((c) => c.length)];
    return { sizes, bytes };
  };
  const seven = (n) =>
    n < 128 ? [n] : [(n % 128) + 128, ...seven(Math.floor(n / 128))];
  const functionOf = (id, title, calls, self, total, cost = 0) =>
    [
      id,
      title,
      title,
      "x.lua",
      "Lua",
      0,
      1,
      2,
      calls,
      self,
      total,
      1,
      0,
    ].concat([cost, 0]);
  const told = (version, from, nodes, functions, more) => ({
    epoch: "1",
    version,
    from,
    status: { state: "running" },
    content: {
      unit: "ns",
      meta: { wall_ns: version * 1000 },
      notes: [],
      whole: 300,
      most: 300,
      nodes: packed(nodes),
      functions,
      sources: [],
      lines: [],
      ...more,
    },
  });
  const first = () => {
    const r = new Recording();
    r.apply(
      told(
        2,
        0,
        [
          [0, -1, 0, 0, 0],
          [1, 0, 1, 3, 100],
          [2, 1, 2, 300, 200],
        ],
        [
          functionOf(0, "(root)", 0, 0, 300),
          functionOf(1, "a", 3, 100, 300),
          functionOf(2, "b", 300, 200, 200),
        ],
        {
          sources: [[0, { place: "x.lua", text: ["x"], active: "1" }]],
          lines: [0, 1, 1, 5, 40, 0, 0, 7, 0, 0],
        },
      ),
    );
    return r;
  };
  const second = told(
    3,
    2,
    [
      [2, 1, 2, 500, 230],
      [3, 1, 3, 1, 70],
    ],
    [functionOf(2, "b", 500, 230, 230), functionOf(3, "c", 1, 70, 70, 830)],
    { whole: 400, most: 400, lines: [0, 1, 1, 7, 60, 0, 0, 9, 0, 0] },
  );

  it("is put together from what has changed", () => {
    const r = first();
    assert.ok(r.apply(second));
    const { header, tree: t } = r.page();
    assert.deepEqual([...t.calls], [0, 3, 500, 1]);
    assert.deepEqual([...t.parent], [-1, 0, 1, 1]);
    assert.deepEqual([...t.total], [400, 400, 230, 70]);
    assert.deepEqual(header.functions.calls, [0, 3, 500, 1]);
    assert.deepEqual(header.sources[0].lines.hits, [7]);
    // much overhead was taken out: only a bound is known
    const { selfMost } = new Model(header, [t]).scope({});
    assert.deepEqual([...selfMost].slice(1), [100, 230, 70 + 208]);
  });

  it("has what functions' own time was spent in, of the whole only", () => {
    const r = first();
    assert.equal(r.page().header.spent, undefined);
    const a = { f: 1, what: ["kernel"], ns: [100] };
    const b = { f: 2, what: ["tables", "calls"], ns: [150, 80] };
    r.apply({
      ...second,
      content: {
        ...second.content,
        spent: [
          [0, a],
          [1, { ...b, ns: [] }],
        ],
      },
    });
    r.apply(told(4, 3, [], [], { spent: [[1, b]] }));
    const spent = { f: [1, 2], what: [a.what, b.what], ns: [a.ns, b.ns] };
    assert.deepEqual(r.page().header.spent, { ...spent, part: false });
    r.mark();
    assert.deepEqual(r.page().header.spent, { ...spent, part: true });
  });

  it("refuses what does not follow what it has", () => {
    const r = first();
    assert.equal(r.apply({ ...second, from: 3 }), false);
    assert.equal(r.apply({ ...second, epoch: "2" }), false);
    assert.ok(r.apply({ ...told(1, 0, [[0, -1, 0, 0, 0]], []), epoch: "2" }));
    assert.equal(r.functions[1], undefined);
  });

  it("has figures since a mark, and all of them again", () => {
    const r = first();
    r.mark();
    assert.deepEqual([...r.page().tree.total], [0, 0, 0, 0].slice(0, 3));
    r.apply(second);
    const { header, tree: t } = r.page();
    assert.deepEqual([...t.calls], [0, 0, 200, 1]);
    assert.deepEqual([...t.self], [0, 0, 30, 70]);
    assert.equal(header.whole, 100);
    assert.equal(header.meta.wall_ns, 1000);
    assert.deepEqual(header.functions.calls, [0, 0, 200, 1]);
    assert.deepEqual(header.sources[0].lines.hits, [2]);
    assert.deepEqual(header.sources[0].lines.self, [20]);
    assert.deepEqual(header.sources[0].lines.inC, [2]);
    r.unmark();
    assert.deepEqual([...r.page().tree.calls], [0, 3, 500, 1]);
  });

  it("has figures of the last seconds, as far back as it is known", () => {
    const r = new Recording();
    const whole = first();
    r.apply({ ...told(2, 0, [[0, -1, 0, 0, 0]], []), from: 0 }, 1000);
    assert.equal(r.known(5000), 0);
    r.window(3, 1000);
    assert.deepEqual([...r.page().tree.calls], [0]);
    // the same recording, with messages 10 s apart
    r.apply({ ...told(1, 0, [[0, -1, 0, 0, 0]], []), epoch: "3" }, 1000);
    assert.equal(r.past.length, 0);
    Object.assign(r, { epoch: "1", version: 2, at: 1000 });
    r.content = whole.content;
    r.nodes = whole.nodes;
    r.functions = whole.functions;
    r.sources = whole.sources;
    assert.ok(r.apply(second, 11000));
    const third = told(4, 3, [[3, 1, 3, 5, 90]], [], {
      whole: 420,
      lines: [0, 2, 1, 1, 3, 0, 0, 0, 0, 0],
    });
    assert.ok(r.apply(third, 21000));
    assert.equal(r.known(21000), 10);
    const seen = (seconds, now) => {
      r.window(seconds, now);
      const { header, tree: t } = r.page();
      return [[...t.calls], header.whole, header.sources[0].lines.hits];
    };
    assert.deepEqual(seen(5, 21000), [[0, 0, 0, 4], 20, [1]]);
    assert.deepEqual(seen(12, 21000), [[0, 0, 200, 5], 120, [2, 1]]);
    assert.deepEqual(seen(5, 30000), [[0, 0, 0, 0], 0, []]);
    assert.deepEqual(seen(0, 30000), [[0, 3, 500, 5], 420, [7, 1]]);
    // what is too old is forgotten
    assert.ok(r.apply(told(5, 4, [[3, 1, 3, 6, 90]], []), 700000));
    assert.equal(r.past.length, 1);
  });

  // A recording of which many messages have come, a second apart, and what a
  // page had after each of them. More and more is counted at random.
  const long = (many) => {
    let seed = 3;
    const random = (n) => {
      seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
      return (seed >> 8) % n;
    };
    const r = new Recording();
    const nodes = [];
    const lines = new Map();
    const kinds = [["table", 0, 0]];
    let [waiting, whole] = [0, 0];
    const pages = [];
    for (let version = 1; version <= many; version++) {
      const changed = new Set();
      for (let k = 0; k < 3 || nodes.length === 0; k++) {
        const fresh = nodes.length < 40 && random(2) === 0;
        const id = fresh ? nodes.length : random(Math.max(nodes.length, 1));
        nodes[id] ??= {
          parent: id === 0 ? -1 : random(id),
          func: id === 0 ? 0 : 1 + random(5),
          ...{ calls: 0, self: 0, cost: 0, wait: 0, bytes: 0 },
        };
        const node = nodes[id];
        const [self, wait] = [random(5000), random(1000)];
        node.calls += random(9);
        node.self += self + wait;
        node.wait += wait;
        node.bytes += random(300);
        whole += self + wait;
        waiting += wait;
        changed.add(id);
      }
      const list = [...changed].sort((a, b) => a - b);
      const key = 1 + random(9);
      const line = lines.get(key) || [0, key, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
      lines.set(key, line);
      for (let k = 3; k < line.length; k++) line[k] += random(50);
      // the waiting of a line is at most its time
      line[4] += 50;
      kinds[0][1] += 10;
      kinds[0][2] += 1;
      const sum = (f, what) =>
        nodes.reduce((n, node) => n + (node.func === f ? node[what] : 0), 0);
      const functions = [0, 1, 2, 3, 4, 5].map((f) =>
        functionOf(f, `f${f}`, sum(f, "calls"), sum(f, "self"), 0),
      );
      const meta = { wall_ns: version * 1e9, waiting_ns: waiting };
      const message = told(version, version - 1, [], functions, {
        ...{ meta, whole, most: undefined },
        nodes: packedMore(list.map((id) => [id, nodes[id]])),
        sources: version === 1 ? [[0, { place: "x.lua", text: [] }]] : [],
        lines: line,
        measures: {
          names: ["wait", "bytes"],
          lines: ["wait", "bytes"],
          taken: {},
        },
        memory: { bytes: kinds[0][1], allocs: version, kinds: clone(kinds) },
      });
      assert.ok(r.apply(message, version * 1000));
      pages.push(figuresOf(r));
    }
    return { r, pages };
  };
  const clone = (value) => JSON.parse(JSON.stringify(value));
  const packedMore = (list) => {
    const columns = [[], [], [], [], [], [], [], [], []];
    let last = -1;
    for (const [id, node] of list) {
      const up = node.parent < 0 ? 0 : id - node.parent;
      const { func, calls, self, cost, wait, bytes: n } = node;
      const row = [id - last, up, func, calls, self, cost, 0, wait, n];
      row.forEach((figure, i) => columns[i].push(...seven(figure)));
      last = id;
    }
    return {
      sizes: [list.length, ...columns.map((c) => c.length)],
      bytes: Buffer.from(columns.flat()).toString("base64"),
    };
  };
  // all figures of a page, by what they are of
  const figuresOf = (r) => {
    const { header, tree: t } = r.page();
    const out = { whole: header.whole, bytes: header.memory.bytes };
    out.waiting = header.meta.waiting_ns;
    out.wall = header.meta.wall_ns;
    for (let i = 0; i < t.n; i++) {
      for (const key of ["calls", "self", "total"]) out[key + i] = t[key][i];
      for (const key of Object.keys(t.memory)) out[key + i] = t.memory[key][i];
    }
    header.functions.title.forEach((title, f) => {
      for (const key of ["calls", "self"]) {
        out[title + key] = header.functions[key][f];
      }
      out[title + "bytes"] = header.functions.memory.bytes.self[f];
    });
    const { lines } = header.sources[0];
    lines.n.forEach((n, i) => {
      for (const key of Object.keys(lines)) {
        if (key !== "n" && key !== "f") out[`${n}:${key}`] = lines[key][i];
      }
    });
    return out;
  };

  it("has exactly the difference of two looks in a range of its past", () => {
    const { r, pages } = long(150);
    const ends = r.ends().map((ns) => ns / 1e9);
    assert.equal(ends.at(-1), 150);
    let seen = 0;
    for (let i = 0; i < ends.length - 1; i += 7) {
      for (let k = i + 1; k < ends.length; k += 11) {
        assert.ok(r.range([ends[i] * 1e9, ends[k] * 1e9]));
        assert.deepEqual(r.shown, [ends[i] * 1e9, ends[k] * 1e9]);
        const part = figuresOf(r);
        const [was, is] = [pages[ends[i] - 1], pages[ends[k] - 1]];
        for (const key of Object.keys(is)) {
          // lines without figures are left out
          const got = part[key] ?? 0;
          assert.equal(got, is[key] - (was[key] ?? 0), `${key} ${i} ${k}`);
        }
        seen++;
      }
    }
    assert.ok(seen > 100);
    r.unmark();
    assert.deepEqual(figuresOf(r), pages.at(-1));
  });

  it("keeps the figures of a range while more is recorded", () => {
    const { r } = long(20);
    assert.ok(r.range([5e9, 20e9]));
    const before = figuresOf(r);
    const more = told(21, 20, [[0, -1, 0, 7e6, 7e6]], [], {
      meta: { wall_ns: 21e9, waiting_ns: 1e9 },
      nodes: packedMore([
        [
          0,
          {
            parent: -1,
            func: 0,
            calls: 7e6,
            self: 7e6,
            cost: 0,
            wait: 0,
            bytes: 9,
          },
        ],
      ]),
      measures: { names: ["wait", "bytes"], lines: ["wait", "bytes"] },
    });
    assert.ok(r.apply(more, 21000));
    assert.deepEqual(figuresOf(r), before);
    // it is not known what ran before the page was opened, nor what will run
    for (const range of [
      [0, 5e9],
      [5e9, 30e9],
    ]) {
      assert.equal(r.range(range), false);
      assert.equal(r.shown, undefined);
    }
  });

  it("has few looks of a long past, the shorter the later they are", () => {
    const { r } = long(600);
    const looks = r.looks();
    assert.equal(looks.length, 120);
    const spans = looks.map(({ from, to }) => (to - from) / 1e9);
    assert.equal(looks[0].from, 1e9);
    assert.equal(looks.at(-1).to, 600e9);
    looks.slice(1).forEach(({ from }, i) => assert.equal(from, looks[i].to));
    assert.deepEqual(spans.slice(-20), Array(20).fill(1));
    const mean = (list) => list.reduce((a, b) => a + b) / list.length;
    assert.ok(mean(spans.slice(0, 20)) > 3 * mean(spans.slice(-60, -40)));
    assert.ok(Math.max(...spans) < 60, `${spans}`);
  });

  it("has how busy the program was between two looks", () => {
    const r = new Recording();
    const at = (version, whole, waiting_ns) =>
      r.apply(
        told(version, version - 1, [], [], {
          ...{ whole, meta: { wall_ns: version * 1000, waiting_ns } },
        }),
        version,
      );
    at(1, 500, 100);
    assert.deepEqual(r.looks(), []);
    at(2, 1250, 350);
    at(3, 1250, 350);
    assert.deepEqual(r.looks(), [
      { from: 1000, to: 2000, waiting: 0.25, cpu: 0.5 },
      { from: 2000, to: 3000, waiting: 0, cpu: 0 },
    ]);
    // the program has ended: no time passes
    r.apply(told(4, 3, [], [], { whole: 1250, meta: { wall_ns: 3000 } }), 9);
    assert.equal(r.looks().length, 2);
  });

  it("has a past by its own clock, where the recording counts no time", () => {
    for (const meta of [{}, { clock: "cpu", wall_ns: 5 }]) {
      const r = new Recording();
      const at = (version, started_at) =>
        r.apply(
          told(version, version - 1, [], [], {
            ...{ unit: "instructions", whole: version ** 2 },
            meta: { ...meta, started_at },
          }),
          1e6 + version * 1000,
        );
      for (let version = 1; version < 5; version++) at(version, 999);
      const looks = r.looks();
      assert.deepEqual(
        looks.map(({ from, to }) => [from, to]),
        [
          [2e9, 3e9],
          [3e9, 4e9],
          [4e9, 5e9],
        ],
      );
      // compared with the one that has the most
      assert.deepEqual(
        looks.map(({ cpu }) => cpu.toFixed(3)),
        ["0.429", "0.714", "1.000"],
      );
      assert.ok(r.range([3e9, 5e9]));
      assert.equal(r.page().header.whole, 16 - 4);
      // a server whose clock is ahead
      r.begin();
      at(1, 1e9);
      assert.deepEqual(r.ends(), [0]);
    }
  });

  it("has memory and tasks, of which changes alone are sent", () => {
    const r = first();
    const task = (name, running, more) => ({ name, f: 1, running, ...more });
    const more = (version, from, content) =>
      assert.ok(r.apply(told(version, from, [], [], content), version));
    const memory = { bytes: 9, allocs: 3, kinds: [["string", 9, 3]], live: 5 };
    more(3, 2, {
      memory,
      tasks: {
        exact: true,
        list: [
          [0, task("a", 5)],
          [1, task("b", 9)],
        ],
        pauses: [[0, { task: 0, ns: 4, times: 1 }]],
        slices: [{ task: 1, took: 7 }],
      },
    });
    const names = () => r.tasks().list.map(({ name }) => name);
    assert.deepEqual(names(), ["b", "a"]);
    assert.equal(r.tasks().slices[0].task, 0);
    assert.equal(r.tasks().pauses[0].task, 1);
    assert.deepEqual(r.page().header.memory, memory);
    more(4, 3, {
      memory: { ...memory, bytes: 20, kinds: [["string", 20, 4]], live: 8 },
      tasks: { exact: true, list: [[0, task("a", 50)]] },
    });
    assert.deepEqual(names(), ["a", "b"]);
    assert.equal(r.tasks().pauses[0].task, 0);
    // until the heap is known, what was in use at each look
    assert.deepEqual(r.heap().bytes, [5, 8]);
    more(5, 4, { heap: { ns: [0, 1], bytes: [2, 3] }, tasks: { exact: true } });
    assert.deepEqual(r.page().header.heap, { ns: [0, 1], bytes: [2, 3] });
    assert.deepEqual(names(), ["a", "b"]);
    assert.ok(r.range([3000, 4000]));
    assert.equal(r.page().header.memory.bytes, 11);
    assert.equal(r.page().header.memory.live, undefined);
    // another recording, or a reset, has nothing of this one
    const list = [[0, task("c", 1)]];
    const other = told(1, 0, [[0, -1, 0, 0, 0]], [], { tasks: { list } });
    assert.ok(r.apply({ ...other, epoch: "2" }));
    assert.deepEqual(names(), ["c"]);
    assert.deepEqual(r.tasks().pauses, []);
    assert.deepEqual(r.tasks().slices, []);
  });

  it("says that another recording has begun", () => {
    const r = new Recording();
    const from = (version, started_at) =>
      told(version, 0, [[0, -1, 0, 0, 0]], [], { meta: { started_at } });
    r.apply({ ...from(1, 500), from: 0 });
    r.apply({ ...from(1, 500), from: 0, epoch: "2" });
    assert.equal(r.anew, false);
    r.apply({ ...from(1, 502), from: 0, epoch: "3" });
    assert.equal(r.anew, true);
  });

  it("grows as far as there are nodes", () => {
    const r = first();
    const list = [];
    for (let i = 3; i < 5000; i++) list.push([i, i - 1, 1, 1, 1]);
    r.apply(told(3, 2, list, []));
    const { tree: t } = r.page();
    assert.equal(t.n, 5000);
    assert.equal(t.total[0], 300 + 4997);
  });
});

describe("open nodes of a call tree", () => {
  it("are written for the address, and read again", () => {
    const { read, written } = branches;
    for (const text of ["3", "3.5", "3.5-9", "3.5.6--7", "0.12-1", "-"]) {
      assert.equal(written(read(text)), text);
    }
    assert.equal(read("3.5-9").get(3).size, 2);
    // an address with a damaged list is read as far as it makes sense
    assert.equal(written(read("---x7y8")), "7.8");
  });

  it("keep their functions where these have other numbers", () => {
    const { read, renumbered, written } = branches;
    const number = (f) => (f === 6 ? undefined : f + 1);
    assert.equal(written(renumbered(read("3.5.6--7"), number)), "4.6-8");
  });
});

describe("the cells of a heatmap", () => {
  // a slice of 20 ms: 4 of a node, 10 in which others had the processor, and 6
  // of a pause
  const axis = { step: 1e6, mean: 0, unit: 1e6, begins: 0, wall: 20e6 };
  const column = (...list) => Float64Array.from(list);
  const moments = new Moments({ ...axis, samples: 0, places: 1 }, [
    {
      n: 3,
      passed: column(20, 0, 0),
      place: column(0, 1, 2),
      above: column(12, 20, 8),
      samples: column(0, 0, 1),
    },
    { node: column(0), spot: column(0) },
  ]);

  it("tell pauses from time in which others had the processor", () => {
    const { run, wait, paused, lost } = moments.cells(0, 10e6, 2);
    assert.deepEqual(
      [run, wait, paused, lost].map((list) => [...list]),
      [
        [2e6, 2e6],
        [0, 0],
        [3e6, 3e6],
        [5e6, 5e6],
      ],
    );
  });

  it("show CPU time as a share of all of the cell but pauses", () => {
    const grid = Object.assign(Object.create(Grid.prototype), {
      axis,
      from: 0,
      ns: 10e6,
      rows: 2,
      columns: 1,
      cells: moments.cells(0, 10e6, 2),
    });
    const shown = { there: 7e6, lost: 5e6, share: 2 / 7, recorded: true };
    assert.deepEqual(grid.cell(0), shown);
    const close = (n) => Number(n.toFixed(9));
    assert.deepEqual(
      grid.sums([0, 20e6]).map(close),
      [2 / 7, 5 / 7].map(close),
    );
    assert.equal(
      grid.said([0, 20e6]),
      "0.00s to 0.02s: CPU 28.6 %, preempted 71.4 %",
    );
  });
});

describe("a range in words", () => {
  it("has as many decimals in both ends, and no more than tell", () => {
    for (const [from, to, words] of [
      [0, 0.565694123, "0.000s to 0.566s"],
      [1.4, 1.6, "1.4s to 1.6s"],
      [2, 3.25, "2.00s to 3.25s"],
      [100, 250, "100s to 250s"],
      [0.224352, 0.507952, "0.224s to 0.508s"],
      [0.1000012, 0.1000132, "0.100001s to 0.100013s"],
    ]) {
      assert.equal(named([from * 1e9, to * 1e9]), words);
    }
  });
});

describe("what stands out", () => {
  const s = 1e9;
  const model = {
    functions: ["a", "b"],
    header: {
      axis: {
        stretches: [
          [9 * s, 11 * s, 1, 1, 0.9, 0.2, 0],
          [2 * s, 3 * s, 0.8, -1, 0, 0, 0],
          [5 * s, 7 * s, 0.5, 1, 0.5, 0.2, 0.5],
          [4 * s, 4.5 * s, 0.7, 0, 0.6, 0.1, 0],
          [12 * s, 13 * s, 0.9, -1, 0, 0, 0],
        ],
      },
    },
  };

  it("is together where it has one cause, in the order of time", () => {
    const list = causes(model);
    assert.deepEqual(
      list.map(({ f, moments }) => [f, moments.map(([from]) => from / s)]),
      [
        ["b", [5, 9]],
        [undefined, [2]],
        ["a", [4]],
        [undefined, [12]],
      ],
    );
    assert.deepEqual(
      [list[0].cpu, list[0].part, list[0].usual, list[0].lost],
      [0.75, 0.7, 0.2, 0.25],
    );
  });

  it("says how long it took each time", () => {
    const told = (...list) =>
      length({ moments: list.map((ns) => [s, s + ns]) });
    assert.equal(told(2e8), "200 ms");
    assert.equal(told(2e8, 2.2e8), "about 210 ms");
    assert.equal(told(1e8, 2e8, 5e8), "100 ms to 500 ms");
  });
});

describe("the chart of frames", () => {
  const list = [10, 11, 12, 500].map((ns) => ({ ns }));

  it("cuts the few frames that would make the others too small", () => {
    assert.deepEqual(scaled(list, 16, 12, undefined), { most: 24, cut: 1 });
    assert.deepEqual(scaled(list, 16, 12, "1"), { most: 525, cut: 0 });
    assert.deepEqual(scaled(list, 300, 12, undefined), { most: 525, cut: 0 });
    assert.deepEqual(scaled([], 0, 0, undefined), { most: 1.05, cut: 0 });
  });

  it("compares frames with an average one", () => {
    const slow = { rows: [7, 2, 30, 40, 8, 1, 5, 5] };
    const [first, second] = compared([slow], [slow], [7, 1, 10, 8, 1, 4]);
    assert.deepEqual(
      [first.id, first.self, first.usual, first.more],
      [7, 30, 10, 20],
    );
    assert.deepEqual([second.id, second.more], [8, 1]);
    assert.equal(compared([slow], [slow])[0].more, 0);
  });
});

describe("figures", () => {
  it("round halves as text reports do", () => {
    assert.equal(time(144500), "144 µs");
    assert.equal(time(145500), "146 µs");
    assert.equal(percent(1225, 10000), "12.2");
    assert.equal(percent(1275, 10000), "12.8");
    assert.equal(time(14350), "14.3 µs");
    assert.equal(fixed(12.5, 0), "12");
    assert.equal(fixed(6.25, 1), "6.2");
    for (const [n, told] of [
      [2400, "0.12"],
      [4800, "0.062"],
      [2608, "0.12"],
      [2609, "0.11"],
      [300, "1"],
      [24, "12"],
      [1, "100"],
    ]) {
      assert.equal(precise(least(n)), told, n);
    }
  });

  it("assume as many samples as text reports do", () => {
    // as sampled.both
    for (const [n, waits, part, all] of [
      [1000, 100, 0.5, 200],
      [1000, 900, 0.5, 200],
      [1000, 500, 0.5, 1000],
      [1000, 0, 0.01, 100],
      [1000, 1000, 0.9, 10],
      [1000, 0, 0, 1000],
    ]) {
      assert.equal(both(n, waits, part), all, `${waits} of ${n}, ${part}`);
    }
  });
});

describe("what samples are worth", () => {
  // rows: ms that a sample stands for, samples that it counts as, what it found
  function worth(rows, from = 0, to = 1000) {
    const moments = {
      axis: { wall: rows.length },
      n: rows.length,
      place: rows.map(([, , found]) => ({ runs: 2, waits: 3 })[found] ?? 0),
      end: rows.map((_, i) => i + 1),
      ns: rows.map(([ns]) => ns),
      samples: rows.map(([, n]) => n),
      first: () => 0,
    };
    return Moments.prototype.worth.call(moments, [from, to]);
  }

  it("is computed as for reports", () => {
    // as spec/worth_spec.lua
    const [one, four] = [
      [1, 1, "runs"],
      [4, 1, "runs"],
    ];
    assert.deepEqual(worth([]), [1, 1]);
    assert.deepEqual(worth([one, one, [7, 7, "runs"]]), [1, 1]);
    assert.deepEqual(worth([one, one, four, one, one]), [0.64, 1]);
    assert.deepEqual(worth([one, one, four, one, one], 0, 2), [1, 1]);
    const wait = [1, 1, "waits"];
    assert.deepEqual(
      worth([[1, 4, "runs"], [3, 0, "waits"], one, wait]),
      [1, 1],
    );
    assert.deepEqual(
      worth([[2, 2, "runs"], [2, 0, "waits"], one, wait]),
      [0.9, 0.9],
    );
    assert.deepEqual(worth([one, [90, 0, "runs"], [90, 0, ""], one]), [1, 1]);
  });

  it("reduces the number of samples to the effective number", () => {
    assert.deepEqual(evenly(1000, 100, [1, 1]), [1000, 100]);
    assert.deepEqual(evenly(1000, 100, [0.5, 1]), [550, 100]);
    assert.deepEqual(evenly(1000, 100, [1, 0.5]), [950, 50]);
  });
});

describe("tasks by samples of a range", () => {
  // a scheduler, and a coroutine that it resumes; 1 ms from sample to sample
  const tree = { n: 3, func: [0, 1, 2], parent: [-1, 0, 1] };
  const tasks = {
    list: [{ f: 2 }],
    slices: [],
    bodies: { node: [2], task: [0] },
  };
  const own = { self: [0, 0, 1], wait: [0, 0, 0], samples: [0, 0, 1] };

  // from, to and bound of streaks. rows: the node, or 0 if others had the
  // processor; when the sample was taken, and for how long it stands; waits
  function streaks(rows, range) {
    const end = rows.map((row) => row[1]);
    const ns = rows.map((row) => row[2]);
    const moments = {
      axis: { begins: 0, mean: 1 },
      n: rows.length,
      node: [1, 2],
      place: rows.map(([node, , , waits]) => node * 2 + (waits ? 1 : 0)),
      start: rows.map((_, i) => end[i] - ns[i]),
      end,
      ns,
      samples: rows.map(([node]) => (node > 0 ? 1 : 0)),
    };
    const out = tasksOf({ tasks }, tree, moments, own, range);
    assert.equal(out.list[0].most, out.slices[0].most);
    return out.slices.map((row) => [row.from, row.to, row.most]);
  }

  it("have bounds, as cprof tasks has them", () => {
    const rows = [
      [1, 1, 1],
      [2, 2, 1],
      [2, 3, 1],
      [1, 4, 1],
    ];
    assert.deepEqual(streaks(rows, [0, 10]), [[1, 4, 3]]);
    assert.deepEqual(streaks(rows, [2.5, 3.5]), [[2.5, 3.5, 1]]);
  });

  it("end where a tick found a wait", () => {
    const rows = [
      [2, 10, 1],
      [1, 50, 39, true],
      [0, 60, 10, true],
      [1, 60, 1],
    ];
    assert.deepEqual(streaks(rows, [0, 100]), [[0, 12, 12]]);
  });

  it("do not have waits that were noted late", () => {
    const rows = [
      [2, 10, 1],
      [1, 100, 80, true],
      [2, 100, 1],
      [1, 102, 1],
    ];
    assert.deepEqual(streaks(rows, [0, 50]), [[0, 11, 11]]);
    assert.deepEqual(streaks(rows, [50, 200]), [[99, 102, 3]]);
  });

  it("leave out time in which others had the processor", () => {
    const rows = [
      [1, 10, 1],
      [2, 15, 1],
      [0, 40, 20, true],
      [2, 40, 1],
      [1, 42, 1],
    ];
    assert.deepEqual(streaks(rows, [0, 100]), [[10, 42, 12]]);
  });
});
