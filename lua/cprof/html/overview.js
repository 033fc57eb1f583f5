// The overview: what ran, the hottest functions and lines, and a small flame
// graph.

import { h, refill } from "./dom.js";
import { allLabels, facts, lacks, made, times } from "./facts.js";
import { count, percent, plural } from "./format.js";
import { Icicle } from "./icicle.js";
import { labelOf } from "./labels.js";
import { legend } from "./legend.js";
import { hottest } from "./lines.js";
import { ofLines } from "./measures.js";
import { causes, length, links } from "./stretches.js";
import {
  amount,
  counting,
  figureOf,
  named,
  placed,
  Table,
  waiting,
} from "./table.js";
import { forked, kindOf, layout, merged } from "./tree.js";

const many = 12;

// The hottest functions: { element, table, draw() }. draw() also shows new
// figures.
export function functions(app) {
  const table = new Table();
  const element = h("section");
  const self = (f) => figureOf(app, f, "self");
  function draw() {
    const { model, scope } = app;
    const list = model.functions.filter(
      (f) => f.kind !== "root" && scope.self[f.id] > 0,
    );
    list.sort((a, b) => scope.self[b.id] - scope.self[a.id]);
    const wait =
      model.measures.includes("wait") && model.allocated(app.state, "wait");
    const waits = ({ id }) => waiting(app, wait && wait[id], scope.self[id]);
    table.change(
      [
        ...amount(app, { title: "self", get: self, bar: "self", waits }),
        ...counting(model, (f) => scope.calls[f.id]),
        { title: "function", left: true, cell: (f) => named(app, f) },
        {
          title: "defined",
          left: true,
          class: "extra",
          cell: (f) => placed(f, true),
        },
      ],
      {
        caption: "Functions with the highest self figures",
        key: (f) => f.title,
        row: (f) => ({ "aria-selected": f === app.chosen }),
        choose: (f) =>
          app.choose(f, { view: f.source >= 0 ? "source" : "callgraph" }),
      },
    );
    table.show(list.slice(0, many));
    const left = list.length - many;
    refill(
      element,
      h("h2", "Hottest functions"),
      table.element,
      left > 0 &&
        h(
          "p.aside",
          h("a", { href: app.link({ view: "functions" }) }, `All functions`),
          `, ${plural(left, "more", "more")}`,
        ),
    );
  }
  return { element, table, draw };
}

function lines(app) {
  const table = new Table();
  const element = h("section");
  const draw = () => {
    const measure = ofLines(app.scope.measure);
    const list = hottest(app.sources, many, measure);
    const content =
      list.length > 0
        ? show_lines(app, table, list)
        : h(
            "p.aside",
            app.model.foreign
              ? `${lacks(app.model)} figures of lines.`
              : app.model.meta.labels
                ? allLabels
                : [
                    "No lines were recorded. To record them, use ",
                    h("code", "cprof run --lines"),
                    ".",
                  ],
          );
    refill(element, h("h2", "Hottest lines"), content);
  };
  return { element, draw };
}

const inC = (app) => ({
  title: "in C",
  hint: "Time in C functions called from the line",
  cell: ({ line }) => (line.inC > 0 ? app.figure(line.inC) : ""),
});

function show_lines(app, table, list) {
  const { model } = app;
  const measure = ofLines(app.scope.measure);
  const [own, ...shares] = amount(app, {
    title: "self",
    of: model.wholeOf(app.state, measure),
    bar: "self",
    get: ({ line }) =>
      measure ? [line[measure]] : [line.spent, line.spentMost],
    waits: ({ line }) => waiting(app, line.wait, line.spent),
  });
  if (!measure) own.cell = ({ line }) => app.amount(line.self, line.selfMost);
  const columns = [
    own,
    !measure && model.unit === "ns" && inC(app),
    ...shares,
    !model.sampled && { title: "hits", cell: ({ line }) => count(line.hits) },
    {
      title: "line",
      left: true,
      class: "wraps",
      cell: ({ source, line }) => [
        h(
          "a.code",
          {
            tabindex: "-1",
            href: app.link({
              view: "source",
              file: source.place,
              line: line.n,
              function: undefined,
            }),
            onclick: (event) => event.stopPropagation(),
          },
          (source.text[line.n - 1] || "").trim() || `line ${line.n}`,
        ),
      ],
    },
    {
      title: "where",
      left: true,
      class: "extra",
      cell: ({ source, line }) =>
        placed({ place: source.place, line: line.n }, true),
    },
  ].filter(Boolean);
  table.change(columns, {
    caption: "Lines with the most time, including C functions that they call",
    key: ({ source, line }) => `${source.place}:${line.n}`,
    choose: ({ source, line }) =>
      app.set({
        view: "source",
        file: source.place,
        line: line.n,
        function: undefined,
      }),
  });
  table.show(list);
  return table.element;
}

// The stretches of time that stand out most, with links to them.
function standing(app) {
  const { model } = app;
  const { axis } = model.header;
  if (model.range || !axis || axis.stretches.length === 0) return undefined;
  const list = causes(model)
    .slice(0, 3)
    .map((cause) => {
      const { f, part, usual, cpu, moments } = cause;
      const several = moments.length > 1;
      const these = several ? "these times" : "this time";
      return h(
        "li",
        several && `${moments.length} times, each ${length(cause)}: `,
        links(app, cause),
        ": ",
        f && h("span.name", f.name),
        f && `, ${percent(part, 1)} % of ${these}, `,
        f && `${percent(usual, 1)} % of the whole recording`,
        !f && `${percent(cpu, 1)} % CPU time`,
      );
    });
  return h(
    "section.standing",
    h("h2", "When something was unusual"),
    h("ul", list),
    axis.note && h("p.aside", `note: ${axis.note}`),
  );
}

// what the tables below the graph have of the window's height, at least
const below = 260;

// A flame graph of what takes the time: recursion is merged, and functions
// that only lead there are left out.
export function shape(app) {
  const said = h("p.aside");
  const title = h("h2");
  const graph = new Icicle(app, {
    label: "A small flame graph. The view Flame graph shows all of it.",
    height: () => {
      const { top } = graph.element.getBoundingClientRect();
      return Math.max(228, innerHeight - top - scrollY - below);
    },
    fit: true,
    least: 0.004,
    still: true,
    choose: (node) => {
      const f = app.model.functions[graph.layout.tree.func[node]];
      app.choose(f.kind === "root" ? undefined : f, { view: "flame" });
    },
  });
  const colors = h("div");
  const element = h("section.shape", ...[title, said, graph.element, colors]);
  let drawn;
  function draw() {
    const { model, scope } = app;
    title.textContent =
      app.measure?.heading ||
      (model.unit === "ns" ? "Where the time goes" : "Where the work is");
    scope.merged ??= merged(scope.tree, kindOf(model));
    const l = layout(scope.merged, scope.merged.self);
    const from = forked(l);
    const f = model.functions[scope.merged.func[from]];
    // the same graph with new figures, or another graph
    const key = [scope.measure, f.title].join();
    if (drawn === key) graph.refresh(l);
    else {
      graph.show(l);
      if (from > 0) graph.zoom(from, true);
    }
    drawn = key;
    refill(colors, legend(app));
    said.textContent =
      from > 0
        ? `Below ${labelOf(f)}, which has ` +
          `${app.share(l.weight[from], l.weight[0])} % of the total.`
        : "";
  }
  function resize() {
    refill(colors, legend(app));
    graph.resize();
  }
  return { element, graph, draw, resize };
}

export function overview(app, root) {
  const top = functions(app);
  const hot = lines(app);
  const columns = h("div.columns", top.element, hot.element);
  let graph;

  function draw() {
    const { model, scope } = app;
    const { notes } = model.header;
    if (!scope.tree) {
      graph?.graph.close();
      graph = undefined;
    } else if (!graph) graph = shape(app);
    top.draw();
    hot.draw();
    refill(
      root,
      model.unit === "ns" && !model.foreign && times(app),
      facts(app),
      model.samples && h("p.aside", model.samples.told),
      notes.length > 0 &&
        h(
          "ul.notes",
          { "aria-label": "Notes" },
          notes.map((note) => h("li", note)),
        ),
      standing(app),
      graph?.element,
      columns,
      made(app),
    );
    graph?.draw();
  }

  draw();
  return {
    update: draw,
    resize: () => graph?.resize(),
    key: (event) => top.table.key(event),
    close: () => graph?.graph.close(),
  };
}
