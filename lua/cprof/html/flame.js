// The flame graph with its controls, and its nodes as a table.

import { button, choice, fill, h, refill, toggle } from "./dom.js";
import { notKept } from "./facts.js";
import { count, plural } from "./format.js";
import { kinds } from "./filters.js";
import { Icicle } from "./icicle.js";
import { labelOf } from "./labels.js";
import { legend } from "./legend.js";
import { Overmap } from "./overmap.js";
import { copied, png, save, svg } from "./picture.js";
import { searched, wantedIn } from "./search.js";
import { asTable, counting, named, Table } from "./table.js";
import * as trees from "./tree.js";
import { Zoom } from "./zoom.js";

const shapes = [
  [undefined, "Icicle", "Root at the top"],
  ["flame", "Flame", "Root at the bottom"],
  [
    "inverted",
    "Inverted",
    "Each function by its self figure, its callers below it",
  ],
  [
    "sandwich",
    "Sandwich",
    "Callers of the chosen function above it, callees below",
  ],
];

// the tree that a state asks for
function treeOf(app) {
  const { model, scope, state } = app;
  let { tree } = scope;
  if (!tree) return undefined;
  if (state.zones === "1") {
    const zone = (f) => model.functions[f].kind === "zone";
    tree = trees.only(tree, zone);
  }
  if (state.fold === "1") {
    tree = trees.merged(tree, trees.kindOf(model));
  }
  return tree;
}

export function flame(app, root) {
  const { model } = app;
  const box = h("div.graphs");
  const colors = h("div");
  const crumbs = h("p.crumbs", { "aria-label": "Path" });
  const quiet = (text, title, onclick) =>
    button(text, onclick, { class: "quiet", title });
  const copying = quiet(
    "Copy stack",
    "Copy the functions from the root to the node (c)",
    () => copy(),
  );
  const told = h("span", { role: "status" });
  const tools = h(
    "p.aside.tools",
    copying,
    quiet("Save as SVG", "All rows of what the graph shows", () =>
      save(
        file("svg"),
        svg(active(), `${model.meta.program} · cprof`),
        "image/svg+xml",
      ),
    ),
    quiet("Save as PNG", "The graph as it is on the screen", async () =>
      save(file("png"), await png(active())),
    ),
    told,
  );
  const { element: listing, box: table } = asTable(() => draw_table());
  const said = h("span.aside", { role: "status" });
  const search = searched(app);
  let graphs = [];
  let drawn;
  const rows = new Table([], { limit: 40 });
  // the graph that was used last
  let used;
  let colored = app.state.color;
  fill(root, search.element, colors, box, crumbs, tools, listing);

  const zoom = new Zoom(app, "zoom");
  // the address has the zoom of the last graph
  const last = () => graphs[graphs.length - 1];

  // the graph that has the focus, or the last one
  const active = () =>
    graphs.find((g) => g.canvas === document.activeElement) ||
    graphs.find((g) => g === used) ||
    last();

  const file = (ending) => {
    const [, name] = model.meta.program.match(/([^\\/ ]+)(?: |$)/) || [];
    return `${(name || "profile").replace(/[^\w.-]/g, "_")}.${ending}`;
  };

  // Copies the functions from the root to the node of the cursor, each on a
  // line, callers first.
  async function copy() {
    const g = active();
    const { tree } = g.layout;
    const lines = [];
    for (let i = g.cursor; i >= 0; i = tree.parent[i]) {
      const f = model.functions[tree.func[i]];
      if (f.kind !== "root") lines.push(f.title);
    }
    if (!tree.inverted) lines.reverse();
    const done = lines.length > 0 && (await copied(lines.join("\n") + "\n"));
    told.textContent = done
      ? `Copied ${plural(lines.length, "function")}.`
      : lines.length === 0
        ? "Choose a node first."
        : "The browser does not allow copying.";
  }

  function choose(node, graph) {
    const f = model.functions[graph.layout.tree.func[node]];
    const zoomed = graph === last() && zoom.change(graph);
    app.choose(f.kind === "root" ? undefined : f, zoomed || {});
  }

  // make(): the tree to show; called again when there are new figures
  function graph(make, options) {
    const layout = () => {
      const tree = make();
      return trees.layout(
        tree,
        app.state.by === "calls" ? tree.calls : tree.self,
      );
    };
    const made = new Icicle(app, {
      ...options,
      choose: (node) => {
        used = made;
        choose(node, made);
      },
      user: (moved) => {
        used = made;
        if (made === last()) zoom.changed(made, moved);
      },
      painted: () => map.draw(),
      zoomed: () => {
        told.textContent = "";
        draw_crumbs();
        draw_table();
      },
    });
    const map = new Overmap(made);
    box.append(map.canvas, made.element);
    made.show(layout());
    made.refigure = () => made.refresh(layout());
    graphs.push(made);
    return made;
  }

  // the height available for a graph in the window
  const room = (share) => () =>
    Math.max(
      160,
      (innerHeight - box.getBoundingClientRect().top - scrollY - 120) * share -
        46,
    );

  function shape() {
    const { state, scope } = app;
    const key = [
      state.shape,
      state.by,
      scope.measure,
      state.fold,
      state.zones,
      state.frames,
      ...kinds.map((kind) => state[kind.key]),
      state.shape === "sandwich" && state.function,
    ].join("\n");
    if (key === drawn) {
      if (graphs.length > 0) zoom.apply(last());
      return;
    }
    drawn = key;
    for (const g of graphs) g.close();
    graphs = [];
    used = undefined;
    fill(box);
    const tree = treeOf(app);
    if (!tree) fill(box, h("p.lead", notKept));
    else if (state.shape === "sandwich") sandwich();
    else {
      const up = state.shape === "flame";
      const inverted = state.shape === "inverted";
      const label =
        `${inverted ? "Inverted flame graph" : "Flame graph"}. Arrow keys ` +
        "go from node to node, Enter zooms in. A table follows.";
      const make = () => {
        const all = treeOf(app);
        return inverted ? trees.inverted(all) : all;
      };
      graph(make, { up, label, height: room(1) });
    }
    if (graphs.length > 0) zoom.apply(last(), true);
  }

  function sandwich() {
    const f = app.chosen;
    if (!f) {
      const what =
        "Choose a function in any view to see its callers above and its callees below.";
      fill(box, h("p.lead", what));
      return;
    }
    box.append(h("h2", "Callers"));
    const above = () => {
      const tree = treeOf(app);
      const counts = model.sampled ? tree.below() : tree.calls;
      const { id } = app.chosen;
      return trees.callers(tree, id, counts);
    };
    const below = () => trees.callees(treeOf(app), app.chosen.id);
    graph(above, {
      up: true,
      label: `Callers of ${f.name}`,
      height: room(0.45),
    });
    box.append(h("h2", "Callees"));
    graph(below, { label: `What ${f.name} calls`, height: room(0.5) });
  }

  function draw_controls() {
    const { state, scope } = app;
    search.show(state.search);
    const zones = model.functions.some((f) => f.kind === "zone");
    refill(
      search.rest,
      choice("Shape", shapes, state.shape, (value) =>
        app.set({ shape: value }),
      ),
      model.counted &&
        choice(
          "Width",
          [
            [undefined, app.measure?.title || model.title],
            ["calls", model.sampled ? "Samples" : "Calls"],
          ],
          state.by,
          (by) => app.set({ by }),
        ),
      choice(
        "Colours",
        [
          [undefined, "By file", "A colour for each file"],
          ["heat", "By heat", "Hotter colours for larger self figures"],
        ],
        state.color,
        (color) => app.set({ color }),
      ),
      scope.tree &&
        toggle(
          "Merge recursion",
          state.fold === "1",
          (on) => app.set({ fold: on ? "1" : undefined }),
          "Show each function only once per path",
        ),
      zones &&
        toggle("Zones only", state.zones === "1", (on) =>
          app.set({ zones: on ? "1" : undefined }),
        ),
      button("Zoom out", () => graphs.forEach((g) => g.zoom(0)), {
        title: "Show all of the graph (Esc zooms out one level)",
      }),
      said,
      state.search && scope.tree && app.filters(state.search, "these"),
    );
  }

  function mark() {
    const wanted = wantedIn(model.functions, app.state.search);
    for (const g of graphs) g.highlight(wanted);
    said.textContent = "";
    if (!wanted || !graphs[0]) return;
    if (graphs.length > 1) {
      said.textContent = ["caller", "callee"]
        .map((what, i) => matched(graphs[i].layout, wanted, what))
        .join("; ");
      return;
    }
    // matches are counted in the whole tree: an inverted tree does not divide
    // small nodes by callers
    const tree = treeOf(app);
    const by_calls = app.state.by === "calls";
    const weight = by_calls ? tree.below() : tree.total;
    const n = wanted.reduce((sum, w) => sum + w, 0);
    const share = app.share(
      trees.weightOf({ tree, weight }, wanted),
      weight[0],
    );
    said.textContent = `${plural(n, "function matches", "functions match")}, ${share} % of the width`;
  }

  // how many functions of one side of a sandwich match, and their share
  function matched(l, wanted, what) {
    const others = wanted.slice();
    others[app.chosen.id] = 0;
    const found = new Set(l.tree.func.filter((f) => others[f]));
    const share = app.drawnShare(
      trees.weightOf(l, others),
      l.weight[0],
      app.scope.samples?.[app.chosen.id],
    );
    const matches = plural(found.size, `${what} matches`, `${what}s match`);
    return `${matches}, ${share} % of the width`;
  }

  function draw_crumbs() {
    const g = last();
    if (!g) return fill(crumbs);
    const path = [];
    for (let i = g.base; i >= 0; i = g.layout.tree.parent[i]) path.unshift(i);
    const shown =
      path.length > 9 ? [...path.slice(0, 2), -1, ...path.slice(-6)] : path;
    const link = (node) =>
      node < 0
        ? "…"
        : button(
            labelOf(model.functions[g.layout.tree.func[node]]),
            () => g.zoom(node),
            { class: "quiet name" },
          );
    refill(
      crumbs,
      shown.flatMap((node, i) => (i > 0 ? [" › ", link(node)] : [link(node)])),
    );
  }

  function draw_table() {
    const g = last();
    if (!listing.open || !g) return fill(table);
    const { tree, first, child, weight } = g.layout;
    const list = [g.base, ...child.subarray(first[g.base], first[g.base + 1])];
    const by_calls = app.state.by === "calls";
    const most = (i) => tree.most(i, model.most);
    const columns = [
      { title: "share %", cell: (i) => app.drawnShare(weight[i], weight[0]) },
      {
        title: tree.inverted ? "self" : "total",
        cell: (i) =>
          by_calls ? count(weight[i]) : app.amount(weight[i], most(i)[1]),
      },
      // an inverted tree has figures of paths only
      ...(tree.inverted
        ? []
        : [
            {
              title: "self",
              cell: (i) => app.amount(tree.self[i], most(i)[0]),
            },
          ]),
      ...counting(
        model,
        (i) => (model.sampled || tree.inverted ? tree.below() : tree.calls)[i],
      ),
      {
        title: "node",
        left: true,
        cell: (i) => [
          i === g.base ? "" : "\u2003",
          ...named(app, model.functions[tree.func[i]]),
        ],
      },
    ];
    const options = {
      caption: tree.inverted
        ? "The node that fills the width, and what calls it"
        : "The node that fills the width, and what it calls",
      choose: (i) => g.zoom(i),
      key: (i) => model.functions[tree.func[i]].title,
    };
    rows.change(columns, options);
    rows.show(list);
    refill(table, rows.element);
  }

  function update() {
    const focused = graphs.findIndex(
      (g) => g.canvas === document.activeElement,
    );
    shape();
    draw_controls();
    refill(colors, graphs.length > 0 && legend(app));
    tools.hidden = graphs.length === 0;
    if (colored !== app.state.color) graphs.forEach((g) => g.resize());
    colored = app.state.color;
    mark();
    draw_crumbs();
    draw_table();
    if (focused >= 0) graphs[focused]?.canvas.focus();
  }

  // redraws the graphs with new figures
  function refresh() {
    // there may be a tree or a chosen function now, or no longer
    if (graphs.length === 0) drawn = undefined;
    else if (graphs.length > 1 && !app.chosen) drawn = undefined;
    else for (const g of graphs) g.refigure();
    update();
  }

  update();
  return {
    update,
    refresh,
    resize: () => {
      refill(colors, graphs.length > 0 && legend(app));
      graphs.forEach((g) => g.resize());
    },
    key: (event) => {
      if (graphs.length > 0 && active().steer(event)) return true;
      if (graphs.length > 0 && event.key === "c") {
        copy();
        return true;
      }
      const g = graphs.find((one) => one.canvas === document.activeElement);
      if (g) return g.key(event);
      if (graphs[0] && event.key.startsWith("Arrow")) {
        graphs[graphs.length - 1].canvas.focus();
        return graphs[graphs.length - 1].key(event);
      }
      return event.key === "Escape" && graphs.some((one) => one.out());
    },
    close: () => {
      zoom.close();
      graphs.forEach((g) => g.close());
    },
  };
}
