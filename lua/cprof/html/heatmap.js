// The heatmap: when the program was busy. Choosing a range there limits all
// views to it.

import { palette } from "./colors.js";
import { choice, fill, h, refill, reveal, toggle } from "./dom.js";
import { count, percent, plural, time } from "./format.js";
import { choices, Grid, round } from "./heatgrid.js";
import { sum } from "./model.js";
import { momentsOf } from "./moments.js";
import { functions, shape } from "./overview.js";
import { named as nameOf, parsed, told, written } from "./ranged.js";
import { searched, wantedIn } from "./search.js";
import { causes, length, links, notable } from "./stretches.js";
import { asTable, named, placed, Table } from "./table.js";
import { under } from "./tree.js";

const scales = { 1: "Second", 60: "Minute", 3600: "Hour", 86400: "Day" };

// What the colours mean.
function legend(app, lit) {
  const theme = palette(app.isDark());
  const color = lit ? theme.lit : theme.cell;
  const steps = [0, 0.25, 0.5, 0.75, 1].map((part) =>
    h("span.swatch", { style: { background: color(part) } }),
  );
  return [
    `${lit ? "total time of what is found" : "CPU time"}: none `,
    h("span.steps", { "aria-hidden": "true" }, steps),
    " all of the cell; an empty cell was not recorded, or other programs had " +
      "the processor throughout",
  ];
}

// What stands out, as a table with a row for each cause.
function stretches(app) {
  const { all } = app;
  const { axis } = all.header;
  const list = causes(all);
  const share = (n) => `${percent(n, 1)} %`;
  const rangeOf = ({ moments }) => written(moments[0], axis);
  const chosen = ({ moments }) =>
    moments.some((moment) => app.state.range === written(moment, axis));
  const several = list.some(({ moments }) => moments.length > 1);
  /** @type {import("./table.js").Column[]} */
  const columns = [
    {
      title: "CPU",
      hint: "CPU time as a share of these stretches",
      cell: ({ cpu }) => share(cpu),
    },
    ...(list.some(({ lost }) => lost >= notable)
      ? [
          {
            title: "preempted",
            hint: "Share in which other programs had the processor",
            cell: ({ lost }) => share(lost),
          },
        ]
      : []),
    {
      title: "of stretch",
      hint: "Share of the function, with its callees, in these stretches",
      cell: ({ f, part }) => (f ? share(part) : ""),
    },
    {
      title: "of recording",
      hint: "Share of the function, with its callees, in the whole recording",
      cell: ({ f, usual }) => (f ? share(usual) : ""),
    },
    {
      title: "function",
      left: true,
      cell: ({ f }) => (f ? named(app, f) : ""),
    },
    {
      title: "defined",
      left: true,
      class: "extra",
      cell: ({ f }) => (f ? placed(f, true) : ""),
    },
    { title: "when", left: true, cell: (cause) => links(app, cause) },
  ];
  columns.unshift({
    title: several ? "each" : "took",
    cell: (cause) => length(cause),
  });
  if (several) {
    columns.unshift({
      title: "times",
      hint: "How often it stood out",
      cell: ({ moments }) => count(moments.length),
    });
  }
  const table = new Table(columns, {
    caption: "Stretches of time that stand out, by their cause",
    key: rangeOf,
    limit: 8,
    row: (cause) => ({ "aria-selected": chosen(cause) }),
    choose: (cause) =>
      app.set({
        range: rangeOf(cause),
        function: cause.f?.title,
        line: undefined,
      }),
  });
  const draw = () => table.show(list);
  const element = h(
    "section",
    h("h2", "What stands out"),
    table.element,
    axis.note && h("p.aside", `note: ${axis.note}`),
    axis.left > 0 &&
      h(
        "p.aside",
        "Less unusual, and not listed: " +
          `${plural(axis.left, "stretch", "stretches")} of time.`,
      ),
  );
  return { table, element, draw };
}

// The columns as a table, for people who cannot see the colours.
function listed(grid) {
  return asTable((box) => {
    const rows = Array.from({ length: grid.columns }, (_, i) =>
      grid.rangeOf(i * grid.rows, (i + 1) * grid.rows - 1),
    );
    const share = (range) => `${percent(grid.sums(range)[0], 1)} %`;
    const table = new Table(
      [
        { title: "from", cell: ([from]) => told(from) },
        { title: "to", cell: ([, to]) => told(to) },
        { title: grid.of ? "found" : "CPU", cell: share },
      ],
      { caption: "The columns of the heatmap", limit: 60 },
    );
    table.show(rows);
    fill(box, table.element);
  });
}

export function heatmap(app, root) {
  const { all } = app;
  const { axis } = all.header;
  const moments = momentsOf(all);
  const odd = axis.stretches.length > 0 && stretches(app);
  const colors = h("p.aside.legend");
  const said = h("p.aside", { role: "status" });
  const top = functions(app);
  const title = h("h2.apart.result");
  const graphBox = h("div");
  const search = searched(app);
  let graph;
  let searchedFor;
  // will the next choice be the range to compare with?
  let other = false;
  // the range that was shown last; and are keys moving its end?
  let shown = app.state.range;
  let moving = false;

  const grid = new Grid(app, moments, {
    scale: () => Number(app.state.column) || undefined,
    chosen: (range, second, replace) => {
      const text = written(range, axis);
      const key = second || other ? "against" : "range";
      other = false;
      moving = replace;
      const value = text === ".." ? undefined : text;
      // also where nothing changes, the grid has to show what is chosen
      if (app.state[key] === value) draw();
      else app.set({ [key]: value }, replace);
      moving = false;
    },
  });

  const columns = listed(grid);

  // which nodes of the tree the search finds
  function found() {
    const wanted = wantedIn(all.functions, app.state.search);
    return wanted && under(all.tree, wanted);
  }

  function controls() {
    const list = choices(axis);
    refill(
      search.rest,
      list.length > 0 &&
        choice(
          "Length of a column",
          [
            [undefined, "Fit", "As short as the width allows"],
            ...list.map((s) => [String(s), scales[s], `${scales[s]} a column`]),
          ],
          list.includes(Number(app.state.column))
            ? app.state.column
            : undefined,
          (column) => app.set({ column }),
        ),
      toggle(
        "Compare with …",
        other,
        (on) => {
          other = on;
          controls();
        },
        "The next range that you choose is the one to compare with (Shift)",
      ),
      h(
        "span.aside",
        other
          ? "Drag to choose the range to compare with."
          : "Drag to choose a range of time.",
      ),
      app.model.before &&
        h("a", { href: app.link({ view: "diff" }) }, "What changed"),
    );
    refill(colors, legend(app, grid.of));
  }

  function tell() {
    const { range } = app.model;
    title.textContent = range ? nameOf(range) : "Whole recording";
    const { waiting_ns: waiting } = app.model.meta;
    const cpu = app.model.whole - (waiting ?? 0);
    const about = [
      `A column is ${round(grid.column ?? 0)}, a cell ${round(grid.ns ?? 0)}.`,
      `${range ? "This range" : "The recording"} took ` +
        `${time(app.model.meta.wall_ns)}: ${time(cpu)} CPU, ` +
        (app.model.samples
          ? plural(app.model.samples.n, "sample")
          : plural(sum(app.model.tree.calls), "call")) +
        ".",
      `Shares below are of the program's ${time(app.model.whole)}.`,
    ];
    said.textContent = about.join(" ");
  }

  function draw() {
    const { state } = app;
    search.show(state.search);
    grid.range = parsed(state.range, axis);
    grid.against = parsed(state.against, axis);
    if (searchedFor !== state.search) {
      searchedFor = state.search;
      grid.of = found();
    }
    grid.resize();
    if (grid.range && grid.cells) grid.reveal(grid.cellsOf(grid.range)[0]);
    controls();
    columns.draw();
    if (odd) odd.draw();
    if (!graph) {
      graph = shape(app);
      fill(graphBox, graph.element);
    }
    graph.draw();
    top.draw();
    tell();
    if (state.range && state.range !== shown && !moving) reveal(title);
    shown = state.range;
  }

  fill(
    root,
    search.element,
    colors,
    grid.element,
    columns.element,
    odd ? odd.element : "",
    title,
    said,
    graphBox,
    top.element,
  );
  draw();
  return {
    update: draw,
    resize: () => {
      grid.resize();
      controls();
      tell();
      graph.resize();
    },
    print: () => grid.paint(),
    key: (event) => {
      if (grid.key(event)) return true;
      const { range, against } = app.state;
      const escapes = event.key === "Escape" && (range || against);
      if (escapes) app.set({ range: undefined, against: undefined });
      if (event.key === "b" && range) {
        app.set({ range: undefined, against: range });
        return true;
      }
      const inside = odd && odd.element.contains(document.activeElement);
      return escapes || (inside ? odd.table : top.table).key(event);
    },
    close: () => {
      grid.close();
      graph?.graph.close();
    },
  };
}
