// What coroutines did: a row for each kind of them, their longest slices, and
// a flame graph of where they were suspended. Samples tell less: what they do
// not know is "-", and of slices they know an upper bound.

import { h, refill } from "./dom.js";
import { count, percent, time } from "./format.js";
import { Icicle } from "./icicle.js";
import { told, written } from "./ranged.js";
import { pathLink } from "./slowest.js";
import { named, Table } from "./table.js";
import { Builder, layout } from "./tree.js";

const most = 50;

// a figure that is left out where it is 0
const figure = (title, hint, key, text) => ({
  title,
  hint,
  has: (row) => row[key] > 0,
  cell: (row) => (row[key] > 0 ? text(row[key]) : ""),
});

const slice = (key, hint) => ({
  title: key,
  hint,
  cell: (row) => time(row[key]),
});

// a figure that samples do not know
const unknown = (title) => ({
  title,
  hint: "Samples do not tell: record with cprof run --tasks",
  cell: () => "-",
});

// an upper bound
const below = (ns) => (ns === undefined ? "-" : `<${time(ns)}`);

const running = {
  title: "running",
  hint: "Without the coroutines that they resumed",
  cell: (row) => time(row.running),
};

const waiting = figure(
  "waiting",
  "The thread waited while they ran",
  "waiting",
  time,
);

/** @type {any[]} */
const columns = [
  running,
  waiting,
  figure("suspended", "From a yield to the next resume", "suspended", time),
  figure("made", "Coroutines of this kind", "made", count),
  figure("alive", "Coroutines that have not ended", "alive", count),
  figure("errors", "Coroutines that ended with an error", "failed", count),
  figure("resumes", undefined, "resumes", count),
  slice("p50", "Half of the slices took no longer"),
  slice("p99", "99 % of the slices took no longer"),
  slice("max", "The longest slice: nothing else ran meanwhile"),
];

// The columns for samples. Shares of a range are known here alone.
/** @type {(app: any) => any[]} */
const sampled = (app) => [
  running,
  {
    title: "%",
    class: "percent",
    cell: ({ share, running: n }) =>
      share ?? app.share(n, app.model.whole, app.model.samples.n),
  },
  waiting,
  {
    title: "samples",
    hint: "Samples that found them running",
    cell: (row) => count(row.samples),
  },
  ...["suspended", "made", "alive", "resumes", "p50", "p99"].map(unknown),
  {
    title: "max",
    hint: "The longest time in which all samples found this kind",
    cell: (row) => below(row.most),
  },
];

// the name of a task, which chooses its function
function taskName(app, task) {
  const f = app.model.functions[task.f];
  return f ? named(app, f) : h("span.name", task.name);
}

function pathOf({ functions }, { known, path }) {
  if (!known) return "(not known)";
  return path.map((id) => functions[id].name).join(" → ");
}

// The tree of call paths in coroutines by the time that they were suspended.
function suspendedTree(app, list, pauses) {
  const root = app.model.functions.findIndex((f) => f.kind === "root");
  const out = new Builder();
  const top = out.child(-1, root);
  for (const { task, path, ns, times } of pauses) {
    const body = list[task].f;
    let node = body >= 0 && path[0] !== body ? out.child(top, body) : top;
    for (const f of path) node = out.child(node, f);
    out.add(node, times, ns);
  }
  return out.tree();
}

// the tasks that are shown: all, or those of the chosen function
function wanted(app) {
  const { list } = app.model.header.tasks;
  const f = app.chosen;
  const some = f && list.some((task) => task.f === f.id);
  return (task) => !some || list[task].f === f.id;
}

function kindsTable(app, out, passes) {
  const { list, exact } = app.model.header.tasks;
  const rows = list.filter((_, i) => passes(i));
  const own = (exact ? columns : sampled(app)).filter(
    ({ has }) => !has || rows.some(has),
  );
  out.change(
    [
      ...own,
      { title: "task", left: true, cell: (row) => taskName(app, row) },
      ...(exact
        ? [
            {
              title: "made at",
              left: true,
              class: "extra",
              cell: (row) => h("span.place", row.at),
            },
          ]
        : []),
    ],
    {
      caption: "Kinds of coroutines",
      none: "No coroutine was made or resumed.",
      key: (row) => `${row.f} ${row.name} ${row.at}`,
      choose: (row) => row.f >= 0 && app.choose(app.model.functions[row.f]),
    },
  );
  out.show(rows);
}

// The task of a row, and its call path.
const placeColumns = (app, title) => [
  {
    title: "task",
    left: true,
    cell: (row) => taskName(app, app.model.header.tasks.list[row.task]),
  },
  {
    title,
    left: true,
    cell: (row) => h("span.name", pathOf(app.model, row)),
  },
];

function slicesTable(app, out, passes) {
  const { slices } = app.model.header.tasks;
  const rows = slices.filter(({ task }) => passes(task));
  const waits = rows.some(({ wait }) => wait > 0);
  out.change(
    [
      { title: "took", cell: (row) => time(row.took) },
      ...(waits
        ? [
            {
              title: "waiting",
              hint: "The thread waited meanwhile",
              cell: (row) => (row.wait > 0 ? time(row.wait) : ""),
            },
          ]
        : []),
      {
        title: "ended at",
        hint: "Since the start",
        cell: (row) => (row.ended === undefined ? "" : time(row.ended)),
      },
      {
        title: "coroutine",
        cell: (row) => (row.coroutine === undefined ? "" : `${row.coroutine}`),
      },
      ...placeColumns(app, "until"),
    ],
    {
      caption: "Longest slices",
      choose: (row) =>
        row.node >= 0 &&
        app.set(pathLink(app, row.node, app.model.functions[row.path.at(-1)])),
    },
  );
  out.show(rows);
}

// The longest times in one kind of coroutine, by samples; a row leads to the
// flame graph of this time.
function streaksTable(app, out, passes) {
  const { slices } = app.model.header.tasks;
  const { axis } = app.all.header;
  out.change(
    [
      { title: "took", cell: (row) => below(row.most) },
      { title: "samples", cell: (row) => count(row.samples) },
      { title: "from", cell: (row) => told(row.from) },
      { title: "to", cell: (row) => told(row.to) },
      ...placeColumns(app, "in"),
    ],
    {
      caption: "Longest times in one kind of coroutine",
      // a live page does not know when samples came
      choose:
        axis &&
        (({ from, to }) =>
          app.set({ view: "flame", range: written([from, to], axis) })),
    },
  );
  out.show(slices.filter(({ task }) => passes(task)));
}

function pausesTable(app, out, passes) {
  const { pauses } = app.model.header.tasks;
  out.change(
    [
      { title: "suspended", cell: (row) => time(row.ns) },
      { title: "times", cell: (row) => count(row.times) },
      ...placeColumns(app, "at"),
    ],
    { caption: "Where they were suspended" },
  );
  out.show(pauses.filter(({ task }) => passes(task)));
}

// The flame graph of where coroutines were suspended.
function suspended(app) {
  let tree;
  const graph = new Icicle(app, {
    label:
      "Flame graph of where coroutines were suspended. A table follows with " +
      "the same figures.",
    height: () => 320,
    fit: true,
    detail: (node) => [
      `suspended ${time(tree.total[node])} ` +
        `(${percent(tree.total[node], tree.total[0])} %), ` +
        `${count(tree.below()[node])} times`,
    ],
    choose: (node) => graph.show_zoom(node),
  });
  return {
    graph,
    draw(list, pauses) {
      tree = suspendedTree(app, list, pauses);
      graph.refresh(layout(tree, tree.self));
    },
  };
}

export function tasks(app, root) {
  // the graph, from the first pause on
  let shape;
  const tables = [0, most, most].map((limit) => new Table([], { limit }));
  const [kinds, slices, pauses] = tables;
  function draw() {
    const passes = wanted(app);
    const { list, pauses: all, exact } = app.model.header.tasks;
    const shown = all.filter(({ task, ns }) => passes(task) && ns > 0);
    if (shown.length > 0) {
      shape ??= suspended(app);
      shape.draw(list, shown);
    }
    kindsTable(app, kinds, passes);
    (exact ? slicesTable : streaksTable)(app, slices, passes);
    pausesTable(app, pauses, passes);
    refill(
      root,
      h(
        "p.lead",
        exact
          ? "A slice is the time from a resume to the next yield: nothing " +
              "else in the program runs meanwhile."
          : "Estimated from samples, which see coroutines only while " +
              "they run. For what samples do not know (-), use mode call: cprof " +
              "run --tasks records each slice, and where coroutines are " +
              "suspended. max (<) is the longest time in which all samples " +
              "found coroutines of this kind: one may have run that long " +
              "without a yield, or several may have taken turns.",
      ),
      kinds.element,
      slices.rows.length > 0 &&
        h(
          "section",
          { key: "slices" },
          h(
            "h2",
            exact ? "Longest slices" : "Longest times in one kind of coroutine",
          ),
          slices.element,
        ),
      shown.length > 0 &&
        h(
          "section.suspended",
          { key: "suspended" },
          h("h2", "Where they were suspended"),
          shape.graph.element,
          pauses.element,
        ),
    );
    shape?.graph.resize();
  }
  draw();
  return {
    update: draw,
    resize: () => shape?.graph.resize(),
    key: (event) => {
      const graph = shape?.graph;
      if (graph && document.activeElement === graph.canvas) {
        return graph.key(event);
      }
      const at = tables.find((t) => t.body.contains(document.activeElement));
      return (at || tables[0]).key(event);
    },
    close: () => shape?.graph.close(),
  };
}
