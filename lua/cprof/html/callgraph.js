// One function: who calls it above, what it calls below; or a picture of the
// functions around it, or of all.

import { bound } from "./bound.js";
import { button, choice, fill, h, refill, reveal } from "./dom.js";
import { Drawn } from "./drawn.js";
import { notKept } from "./facts.js";
import { field, matcher } from "./search.js";
import { durations } from "./slowest.js";
import { spent } from "./spent.js";
import { amount, counting, figureOf, named, placed, Table } from "./table.js";
import { neighbours } from "./tree.js";

function columns(app, what, of, samples) {
  const out = amount(app, {
    title: `of ${what}`,
    of,
    samples,
    bar: "total",
    get: (row) =>
      row.most > 0 || row.self ? [row.total, row.most] : undefined,
  });
  const { model } = app;
  out.push(
    ...counting(model, (row) => (model.sampled ? row.samples : row.calls)),
    {
      title: what,
      left: true,
      cell: (row) =>
        row.self ? h("span.name.own", "itself") : named(app, row.f),
    },
    {
      title: "defined",
      left: true,
      cell: (row) => (row.self ? "" : placed(row.f)),
    },
  );
  return out;
}

const shapes = [
  [undefined, "Tables", "Callers and callees of a function"],
  ["drawn", "Drawn", "Functions as boxes, callers above their callees"],
];

// Another figure of a function's callers or callees, by function.
function beside(tree, f, figures) {
  const near = figures && neighbours(tree, f.id, figures);
  return (which) =>
    new Map((near?.[which] || []).map((row) => [row.func, row.total]));
}

// The hottest functions, to choose one from. Returns the function that redraws
// them.
function start(app, root, shape) {
  const box = h("div.list");
  let text;
  const draw = () => {
    const { scope, model } = app;
    const list = model.functions.filter(
      (f) => f.kind !== "root" && scope.total[f.id] > 0,
    );
    list.sort((a, b) => scope.self[b.id] - scope.self[a.id]);
    const passes = matcher(text) || (() => true);
    refill(
      box,
      list
        .filter(passes)
        .slice(0, 30)
        .map((f) =>
          h(
            "a",
            { key: f.title, href: app.link({ function: f.title }) },
            h("span.name", f.name),
            h("span.aside", `${app.share(scope.self[f.id])} % self`),
          ),
        ),
    );
  };
  draw();
  fill(
    root,
    shape,
    h("p.lead", "Choose a function to see who calls it and what it calls."),
    h(
      "div.controls",
      field("", (typed) => {
        text = typed;
        draw();
      }),
    ),
    box,
  );
  return draw;
}

export function callgraph(app, root) {
  let tables = [];
  let begun;
  /** @type {any} the function that is shown */
  let shown;
  /** @type {Drawn | undefined} the picture, if it is shown */
  let drawn;
  const made = new Map();
  const shape = h("div.controls");

  // a section and its table, which are reused by later draws
  function section(title) {
    if (!made.has(title)) {
      const of = new Table([], { limit: 50 });
      const element = h("section", h("h2", title), of.element);
      made.set(title, { table: of, element });
    }
    return made.get(title);
  }

  function table(title, what, rows, none) {
    const { scope, chosen } = app;
    const of = scope.total[chosen.id];
    const samples = scope.samples?.[chosen.id];
    const { table: its, element } = section(title);
    its.change(columns(app, what, of, samples), {
      caption: title,
      none,
      key: (row) => (row.self ? "itself" : row.f.title),
      row: (row) => (row.self ? { class: "own" } : {}),
      choose: (row) => row.f && app.choose(row.f),
    });
    its.show(rows);
    tables.push(its);
    return element;
  }

  function draw() {
    const f = app.chosen;
    const { scope, model } = app;
    shown = f;
    tables = [];
    refill(
      shape,
      choice("Shape", shapes, app.state.graph, (graph) => app.set({ graph })),
      app.state.graph === "drawn" &&
        f &&
        button("Whole program", () => app.choose(undefined), {
          title: "Clear the choice (Esc)",
        }),
    );
    if (app.state.graph === "drawn" && scope.tree) {
      begun = undefined;
      if (!drawn) {
        drawn = new Drawn(app);
        fill(root, shape, drawn.element);
      }
      drawn.draw();
      return;
    }
    drawn = undefined;
    if (!f) {
      if (begun) begun();
      else begun = start(app, root, shape);
      return;
    }
    begun = undefined;
    if (!scope.tree) {
      fill(root, h("p.lead", notKept));
      return;
    }
    const { tree } = scope;
    const near = neighbours(tree, f.id);
    const costs = beside(tree, f, tree.totalCost);
    const counted = beside(tree, f, model.sampled && tree.below());
    const rows = (which) => {
      const samples = counted(which);
      const cost = costs(which);
      return near[which].map((row) => ({
        ...row,
        most: bound(
          row.total,
          row.total + (cost.get(row.func) || 0),
          model.most,
        ),
        f: model.functions[row.func],
        samples: samples.get(row.func),
      }));
    };
    const below = rows("callees");
    const [self, most] = figureOf(app, f, "self");
    if (below.length > 0) {
      const samples = model.sampled ? scope.calls[f.id] : undefined;
      below.push({ self: true, total: self, most, samples });
      below.sort((a, b) => b.total - a.total);
    }
    refill(
      root,
      shape,
      table("Called by", "caller", rows("callers"), "Nothing calls it."),
      h(
        "section.centre.result",
        { "aria-label": "The chosen function" },
        h("h1.name", { title: f.title }, f.name),
        placed(f),
        h("p", app.inWords(f).join(" · ")),
      ),
      table("Calls", "callee", below, "It calls nothing."),
      spent(app, f),
      durations(app, f),
    );
  }

  draw();
  return {
    refresh: draw,
    update: () => {
      const inside = root.contains(document.activeElement);
      const before = shown;
      draw();
      if (shown !== before) reveal(root.querySelector("section.centre"));
      if (inside)
        root
          .querySelector("section.centre ~ section tr[tabindex='0']")
          ?.focus();
    },
    resize: () => drawn?.paint(),
    key: (event) => {
      if (drawn) return drawn.key(event);
      if (event.key === "ArrowLeft") history.back();
      else if (event.key === "ArrowRight") history.forward();
      else {
        const at = tables.findIndex((t) =>
          t.body.contains(document.activeElement),
        );
        const t = tables[at < 0 ? tables.length - 1 : at];
        if (!t) return false;
        const rows = [...t.body.querySelectorAll("tr[tabindex]")];
        const row = rows.indexOf(document.activeElement);
        const down = event.key === "ArrowDown";
        const up = event.key === "ArrowUp";
        const past = down ? row === rows.length - 1 : up && row === 0;
        const next = tables[at + (down ? 1 : -1)];
        if (at >= 0 && past && next) {
          const list = next.body.querySelectorAll("tr[tabindex]");
          list[down ? 0 : list.length - 1]?.focus();
          return true;
        }
        return t.key(event);
      }
      return true;
    },
  };
}
