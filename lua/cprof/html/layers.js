// Places for the nodes of a call graph: in layers, callers above their callees.

// widths of a node, and of the place where a long edge passes a layer
export const box = { width: 168, height: 40, gap: 18, rise: 38 };
const passing = 10;
const sweeps = 8;

const heaviest = (a, b) => b.total - a.total || a.from - b.from || a.to - b.to;

// The functions that a picture shows: those with the largest totals, or around
// one: its callers and callees, theirs, and so on, the heaviest edges first.
export function picked(edges, totals, most, centre) {
  if (centre === undefined) {
    return [...totals.keys()]
      .filter((f) => totals[f] > 0)
      .sort((a, b) => totals[b] - totals[a] || a - b)
      .slice(0, most);
  }
  const out = new Set([centre]);
  // callers of callers and callees of callees, not callees of callers
  const grow = (from, to) => {
    let last = [centre];
    for (let step = 0; step < 3; step++) {
      const room = Math.ceil(most / 4);
      const next = edges
        .filter((e) => last.includes(e[from]) && !out.has(e[to]))
        .sort(heaviest)
        .slice(0, room)
        .map((e) => e[to])
        .filter((f) => out.size < most && out.add(f));
      last = [...new Set(next)];
    }
  };
  grow("to", "from");
  grow("from", "to");
  return [...out];
}

// The edges without those that close a circle; these are turned round.
function acyclic(nodes, edges) {
  const after = new Map(nodes.map((f) => [f, []]));
  const entered = new Set(edges.map((e) => e.to));
  for (const e of [...edges].sort(heaviest)) after.get(e.from)?.push(e);
  const state = new Map();
  const out = [];
  const first = [...nodes].sort(
    (a, b) => Number(entered.has(a)) - Number(entered.has(b)),
  );
  for (const start of first) {
    if (state.has(start)) continue;
    state.set(start, "open");
    const stack = [{ f: start, at: 0 }];
    while (stack.length > 0) {
      const top = stack[stack.length - 1];
      const edge = after.get(top.f)?.[top.at++];
      if (!edge) {
        state.set(top.f, "done");
        stack.pop();
      } else if (state.get(edge.to) === "open") {
        out.push({ edge, from: edge.to, to: edge.from, back: true });
      } else {
        out.push({ edge, from: edge.from, to: edge.to, back: false });
        if (!state.has(edge.to)) {
          state.set(edge.to, "open");
          stack.push({ f: edge.to, at: 0 });
        }
      }
    }
  }
  return out;
}

// The layer of each node: below all of its callers.
function ranks(nodes, links) {
  const rank = new Map(nodes.map((f) => [f, 0]));
  const waits = new Map(nodes.map((f) => [f, 0]));
  for (const { to } of links) waits.set(to, waits.get(to) + 1);
  const ready = nodes.filter((f) => waits.get(f) === 0);
  for (let at = ready.pop(); at !== undefined; at = ready.pop()) {
    for (const { from, to } of links) {
      if (from !== at) continue;
      rank.set(to, Math.max(rank.get(to), rank.get(at) + 1));
      waits.set(to, waits.get(to) - 1);
      if (waits.get(to) === 0) ready.push(to);
    }
  }
  // what nothing calls stands just above its first callee
  for (const f of nodes) {
    if (links.some(({ to }) => to === f)) continue;
    const below = links.filter(({ from }) => from === f);
    const first = Math.min(...below.map(({ to }) => rank.get(to)));
    if (below.length > 0) rank.set(f, first - 1);
  }
  return rank;
}

// Positions as near as possible to the wanted ones, in this order, each at
// least as far from the one before as `apart` says.
export function spaced(wanted, apart) {
  const groups = [];
  let offset = 0;
  const offsets = wanted.map((_, i) => (offset += i > 0 ? apart[i] : 0));
  wanted.forEach((x, i) => {
    let group = { sum: x - offsets[i], n: 1 };
    for (let last = groups.pop(); last; last = groups.pop()) {
      if (last.sum / last.n < group.sum / group.n) {
        groups.push(last);
        break;
      }
      group = { sum: last.sum + group.sum, n: last.n + group.n };
    }
    groups.push(group);
  });
  const fit = groups.flatMap(({ sum, n }) => Array(n).fill(sum / n));
  return fit.map((x, i) => x + offsets[i]);
}

const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;

/**
 * Lays out a call graph.
 * @param {number[]} nodes  functions
 * @param {any[]} edges  rows of { from, to, total } between them; not from a
 *   function to itself
 * @returns {any} `at`, the middle of each node by function; `lines`, { edge,
 *   points, back } from caller to callee; `rows`, functions by layer; width and
 *   height
 */
export function layered(nodes, edges) {
  const links = acyclic(nodes, edges);
  const rank = ranks(nodes, links);
  /** @type {any[][]} */
  const layers = [];
  const put = (item) => (layers[item.layer] ??= []).push(item);
  const items = new Map(
    nodes.map((f) => [
      f,
      { f, layer: rank.get(f), wide: box.width, up: [], down: [], x: 0 },
    ]),
  );
  [...items.values()].forEach(put);
  const join = (a, b) => {
    a.down.push(b);
    b.up.push(a);
  };
  const lines = links.map(({ edge, from, to, back }) => {
    /** @type {any[]} */
    const path = [items.get(from)];
    for (let layer = rank.get(from) + 1; layer < rank.get(to); layer++) {
      const item = { layer, wide: passing, up: [], down: [], x: 0 };
      put(item);
      path.push(item);
    }
    path.push(items.get(to));
    for (let i = 1; i < path.length; i++) join(path[i - 1], path[i]);
    return { edge, back, path };
  });
  const pack = (layer) => {
    let x = 0;
    for (const item of layer) {
      item.x = x + item.wide / 2;
      x += item.wide + box.gap;
    }
  };
  layers.forEach(pack);
  for (let i = 0; i < sweeps; i++) {
    const down = i % 2 === 0;
    for (const layer of down ? layers : [...layers].reverse()) {
      const near = (item) => (down ? item.up : item.down);
      const wanted = new Map(
        layer.map((item) => [
          item,
          near(item).length > 0 ? mean(near(item).map((n) => n.x)) : item.x,
        ]),
      );
      layer.sort((a, b) => wanted.get(a) - wanted.get(b));
      pack(layer);
    }
  }
  for (let i = 0; i < sweeps; i++) {
    for (const layer of i % 2 === 0 ? layers : [...layers].reverse()) {
      const wanted = layer.map((item) => {
        const near = [...item.up, ...item.down].map((n) => n.x);
        return near.length > 0 ? mean(near) : item.x;
      });
      const apart = layer.map((item, k) =>
        k > 0 ? (layer[k - 1].wide + item.wide) / 2 + box.gap : 0,
      );
      spaced(wanted, apart).forEach((x, k) => (layer[k].x = x));
    }
  }
  const all = layers.flat();
  const left = Math.min(...all.map((item) => item.x - item.wide / 2));
  const right = Math.max(...all.map((item) => item.x + item.wide / 2));
  const middle = (item) => ({
    x: item.x - left,
    y: item.layer * (box.height + box.rise) + box.height / 2,
  });
  return {
    at: new Map([...items].map(([f, item]) => [f, middle(item)])),
    rows: layers.map((layer) =>
      layer.filter((item) => item.f !== undefined).map((item) => item.f),
    ),
    lines: lines.map(({ edge, back, path }) => {
      const points = path.map(middle);
      return { edge, back, points: back ? points.reverse() : points };
    }),
    width: right - left,
    height: layers.length * (box.height + box.rise) - box.rise,
  };
}
