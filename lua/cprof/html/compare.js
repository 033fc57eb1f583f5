// Another page's profile as what this page's is compared with.

import { decode } from "./decode.js";
import { Model } from "./model.js";
import { fromColumns, Tree } from "./tree.js";

// The header and the main tree of a page; fails with a message.
export async function read(text) {
  const [, encoding, data] =
    text.match(/ id="data"\s+data-encoding="(\w+)"\s*>([^<]+)<\/script>/) || [];
  if (!data || !text.includes('<meta name="generator" content="cprof"')) {
    throw new Error("it is not a page of cprof html");
  }
  const { header, trees } = await decode(data.trim(), encoding);
  /** @type {any} */
  const [tree] = trees;
  return { header, tree: fromColumns(tree) };
}

// A name without the line that may be in it.
const plain = (name) => name.replace(/<fn:[\d:]+>/g, "<fn>");

// The number of the function of `now` for each of `old`; -1: there is none.
// Titles decide; then names within a file, where both have as many of a name.
function paired(old, now) {
  const at = new Map(now.title.map((title, i) => [title, i]));
  const out = old.title.map((title) => at.get(title) ?? -1);
  const taken = new Set(out);
  const groups = new Map();
  const add = (of, i, side) => {
    const key = [of.kind[i], of.place[i], plain(of.name[i])].join("\n");
    const group = groups.get(key) || { old: [], now: [] };
    groups.set(key, group);
    group[side].push(i);
  };
  out.forEach((to, i) => to < 0 && add(old, i, "old"));
  now.title.forEach((_, i) => !taken.has(i) && add(now, i, "now"));
  for (const group of groups.values()) {
    if (group.old.length !== group.now.length) continue;
    const byLine = (of) => (a, b) => of.line[a] - of.line[b];
    group.old.sort(byLine(old));
    group.now.sort(byLine(now));
    group.old.forEach((i, k) => (out[i] = group.now[k]));
  }
  return out;
}

// The functions with those that only the earlier profile has.
function joined(now, old, to) {
  const out = { ...now };
  const n = now.title.length;
  const gone = old.title.map((_, i) => i).filter((i) => to[i] < 0);
  gone.forEach((i, k) => (to[i] = n + k));
  const kept = ["title", "name", "place", "kind", "line", "last"];
  for (const key of Object.keys(now)) {
    if (!Array.isArray(now[key])) continue;
    const of = (i) => (kept.includes(key) ? old[key][i] : 0);
    out[key] = [
      ...now[key],
      ...gone.map((i) => (key === "source" ? -1 : of(i))),
    ];
  }
  out.memory = Object.fromEntries(
    Object.entries(now.memory || {}).map(([key, columns]) => [
      key,
      Object.fromEntries(
        Object.entries(columns).map(([what, list]) => [
          what,
          [...list, ...gone.map(() => 0)],
        ]),
      ),
    ]),
  );
  return { functions: out, gone: gone.map((_, k) => n + k) };
}

/**
 * A model beside an earlier profile; fails with a message.
 * @param {any} model
 * @param {any} was  the header and the tree of the earlier one
 * @param {string} name  of the earlier profile's file
 */
export function compared(model, was, name) {
  const { header, trees } = model;
  const { header: old } = was;
  if (old.unit !== header.unit) {
    throw new Error("one has times, the other counts of instructions");
  }
  const to = paired(old.functions, header.functions);
  const { functions, gone } = joined(header.functions, old.functions, to);
  const column = (get) => {
    const out = functions.title.map(() => 0);
    to.forEach((at, i) => (out[at] += get(i)));
    return out;
  };
  const named = functions.title.map(() => "");
  to.forEach((at, i) => {
    const { [i]: before } = old.functions.name;
    if (functions.name[at] !== before) named[at] = before;
  });
  const { n, parent, func, calls, self, cost } = was.tree;
  const modes = [old.meta.mode, header.meta.mode];
  const before = {
    dropped: name,
    whole: old.whole,
    most: old.most,
    gone,
    was: named,
    has: column(() => 1).map((k) => Math.min(1, k)),
    calls: column((i) => old.functions.calls[i]),
    self: column((i) => old.functions.self[i]),
    total: column((i) => old.functions.total[i]),
    cost: column((i) => old.functions.cost?.[i] ?? 0),
    totalCost: column((i) => old.functions.totalCost?.[i] ?? 0),
    notes:
      modes[0] === modes[1]
        ? []
        : [`recorded in different modes: ${modes.join(" and ")}`],
    program: old.meta.program,
    samples: old.samples?.sure,
    sampled: old.samples !== undefined && !old.samples.joined,
    tree: trees.length,
  };
  const at = Int32Array.from(func, (f) => to[f]);
  const out = new Model({ ...header, functions, before }, [
    model.tree,
    ...trees.slice(1),
    new Tree(n, parent, at, calls, self, cost),
  ]);
  out.hues = model.hues;
  return out;
}
