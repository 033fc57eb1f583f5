// How long the calls of functions took: percentiles, histograms, and the
// slowest calls, with their paths in the flame graph.

import { bar, h, refill } from "./dom.js";
import { count, plural, time } from "./format.js";
import { kinds } from "./filters.js";
import { named, Table } from "./table.js";

// Preemption and overhead are shown from this share of a call's time on.
const disturbed = 0.1;

const made = new WeakMap();

// The durations of a profile: { functions, by id; calls; causes: the slowest
// calls, without those that only made slow ones }. undefined: not recorded.
export function timedOf(model) {
  const { timed } = model.header;
  if (!timed) return undefined;
  if (!made.has(timed)) made.set(timed, read(timed));
  return made.get(timed);
}

// columns as a list of rows
function rowsOf(columns) {
  const keys = Object.keys(columns);
  const list = columns[keys[0]];
  return Array.from(list, (_, i) =>
    Object.fromEntries(keys.map((key) => [key, columns[key][i]])),
  );
}

function read({ functions, calls, causes }) {
  const slow = rowsOf(calls);
  const of = new Map();
  for (const row of rowsOf(functions)) of.set(row.f, { ...row, slow: [] });
  for (const call of slow) of.get(call.f)?.slow.push(call);
  return { functions: of, causes: Array.from(causes, (i) => slow[i]) };
}

// The address that shows a node of the whole tree in the flame graph.
export function pathLink(app, node, f) {
  const out = { view: "flame", function: f?.title };
  for (const key of ["range", "against", "frames", "shape", "fold", "zones"]) {
    out[key] = undefined;
  }
  for (const { key } of kinds) out[key] = undefined;
  return { ...out, by: undefined, zoom: `${node}/${app.model.tree.n}` };
}

// the callers of a node, as text
function pathOf({ tree, functions }, node) {
  const names = [];
  for (let i = tree.parent[node]; i > 0; i = tree.parent[i]) {
    const { name } = functions[tree.func[i]];
    if (name !== "(host)") names.unshift(name);
  }
  return names.join(" → ");
}

const part = (title, hint, key, least) => ({
  title,
  hint,
  has: (row) => row[key] > 0 && row[key] >= least * row.took,
  cell: (row) => time(row[key]),
});

/** @type {any[]} */
const columns = [
  { title: "took", hint: "Without overhead", cell: (row) => time(row.took) },
  {
    title: "CPU",
    hint: "The part of the time in which the call computed",
    has: (row) => row.cpu >= 0,
    cell: (row) => time(row.cpu),
  },
  {
    title: "waiting",
    hint: "The part of the time in which the call waited",
    some: (row) => row.wait > 0,
    has: (row) => row.wait >= 0,
    cell: (row) => time(row.wait),
  },
  part(
    "preempted",
    'Time in which other programs had the processor; not part of "took"',
    "preempted",
    disturbed,
  ),
  part(
    "overhead",
    'The time of the profiler itself; not part of "took"',
    "overhead",
    disturbed,
  ),
  {
    title: "median",
    hint: "Median time of the function's calls",
    cell: (row) => time(row.usual),
  },
  {
    title: "ended at",
    hint: "Since the start",
    has: (row) => row.ended >= 0,
    cell: (row) => time(row.ended),
  },
  {
    title: "coroutine",
    has: (row) => row.coroutine > 1,
    cell: (row) => String(row.coroutine),
  },
  {
    title: "frame",
    has: (row) => row.frame > 0,
    cell: (row) => count(row.frame),
  },
];

// The columns that these calls have. A column without `some` is there if a call
// has it.
function columnsOf(app, calls, single) {
  const { model } = app;
  const own = columns
    .filter(({ has, some = has }) => !some || calls.some(some))
    .map((column) => ({
      ...column,
      cell: (row) => (column.has && !column.has(row) ? "" : column.cell(row)),
    }));
  if (!single) {
    own.push({
      title: "function",
      left: true,
      cell: (row) => named(app, model.functions[row.f]),
    });
  }
  if (calls.some((row) => row.node >= 0)) {
    own.push({
      title: "called by",
      left: true,
      cell: (row) =>
        row.node >= 0
          ? h(
              "a.name",
              {
                title: "Show this path in the flame graph",
                href: app.link(pathLink(app, row.node, model.functions[row.f])),
                tabindex: "-1",
                onclick: (event) => event.stopPropagation(),
              },
              pathOf(model, row.node) || "(root)",
            )
          : "",
    });
  }
  return own;
}

// A table of slow calls; a row leads to its path.
function table(app, calls, caption, single) {
  const out = new Table(columnsOf(app, calls, single), {
    caption,
    limit: 50,
    none: "No call took more than twice the median of its function.",
    choose: (row) => {
      const f = app.model.functions[row.f];
      app.set(
        row.node >= 0 ? pathLink(app, row.node, f) : { function: f.title },
      );
    },
  });
  out.show(calls);
  return out;
}

function histogram(app, d) {
  const rows = [];
  for (let i = 0; i < d.steps.length; i += 3) {
    rows.push({ from: d.steps[i], to: d.steps[i + 1], n: d.steps[i + 2] });
  }
  const out = new Table(
    [
      { title: "from", cell: (row) => time(row.from) },
      { title: "to", cell: (row) => time(row.to) },
      { title: "calls", cell: (row) => count(row.n) },
      {
        title: "",
        class: "left bars",
        cell: (row) => bar(row.n / d.calls, "self"),
      },
    ],
    { caption: "Durations of calls" },
  );
  out.show(rows);
  return out.element;
}

// What is known of the durations of a function's calls: sections.
export function durations(app, f) {
  const d = timedOf(app.model)?.functions.get(f.id);
  if (!d) return [];
  const out = [];
  if (d.calls > 1) {
    const told =
      `${plural(d.calls, "complete call")}: median ${time(d.p50)}, ` +
      `p90 ${time(d.p90)}, p99 ${time(d.p99)}, max ${time(d.max)}`;
    out.push(
      h(
        "section.durations",
        h("h2", "Durations of calls"),
        h("p", told),
        d.steps.length > 3 && histogram(app, d),
      ),
    );
  }
  if (d.slow.length > 0) {
    out.push(
      h(
        "section.slowest",
        h("h2", "Slowest calls"),
        table(app, d.slow, "Slowest calls", true).element,
      ),
    );
  }
  return out;
}

// The slowest calls of all functions.
export function slowest(app, root) {
  let shown;
  function draw() {
    const { causes } = timedOf(app.model);
    shown = table(app, causes, "The slowest calls");
    refill(
      root,
      h(
        "p.lead",
        "Calls that took more than twice the median of their function, " +
          "sorted by how far they exceed it. A call that was slow because " +
          "of a call that it made is left out. A row leads to its path in " +
          "the flame graph.",
      ),
      shown.element,
    );
  }
  draw();
  return { update: draw, key: (event) => shown.key(event) };
}
