// Trace: calls on a time axis, one coroutine at a time.

import { between } from "./axis.js";
import { fill, h } from "./dom.js";
import { count, instant, plural, time } from "./format.js";
import { Icicle } from "./icicle.js";
import { matcher, searched } from "./search.js";
import { fromColumns, timed } from "./tree.js";
import { Zoom } from "./zoom.js";

const axisHeight = 20;

// the time axis above the graph
class Axis {
  constructor(app) {
    this.app = app;
    this.canvas = h("canvas", { class: "axis", "aria-hidden": "true" });
  }

  draw({ x0, x1, width, theme }) {
    const { canvas } = this;
    const ratio = devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = axisHeight * ratio;
    const c = canvas.getContext("2d");
    const { marks, step } = between(x0, x1, Math.max(2, width / 150));
    c.scale(ratio, ratio);
    c.font = "11px " + getComputedStyle(canvas).getPropertyValue("--ui");
    c.fillStyle = theme.dim;
    c.textBaseline = "middle";
    for (const ns of marks) {
      const x = ((ns - x0) / (x1 - x0)) * width;
      c.fillRect(x, axisHeight - 6, 1, 6);
      const text = instant(ns, step);
      const half = c.measureText(text).width / 2;
      const left = Math.max(0, Math.min(width - 2 * half, x - half));
      c.fillText(text, left, axisHeight / 2 - 3);
    }
  }
}

function facts(data) {
  const rows = [
    ["time", time(data.ns)],
    ["calls", count(data.calls)],
    ["shown", count(data.shown)],
  ];
  if (data.least > 0) {
    rows.push(["left out", `calls below ${time(data.least)}`]);
  }
  if (data.open > 0) rows.push(["not ended", count(data.open)]);
  if (data.threads.length > 1) {
    rows.push(["coroutines", count(data.threads.length)]);
  }
  return h(
    "dl",
    { class: "facts" },
    rows.map(([title, text]) =>
      h("div", {}, h("dt", {}, title), h("dd", {}, text)),
    ),
  );
}

export function trace(app, root) {
  const { model } = app;
  const data = model.header.trace;
  const axis = new Axis(app);
  const layouts = new Map();
  const seen = h("span", { class: "aside" });
  const search = searched(app.state.search, (text) =>
    app.set({ search: text || undefined }, true),
  );
  const zoom = new Zoom(app, "call");
  const graph = new Icicle(app, {
    label:
      "Calls in chronological order. Arrow keys go to the caller, to the " +
      "first call inside, and to the call before or after; Enter zooms in.",
    height: () =>
      Math.max(160, innerHeight - graph.element.offsetTop - scrollY - 60),
    detail,
    choose: (node) => {
      const f = model.functions[graph.layout.tree.func[node]];
      app.choose(f.kind === "root" ? undefined : f, zoom.change(graph));
    },
    user: (moved) => zoom.changed(graph, moved),
    painted: (icicle) => {
      axis.draw(icicle);
      const { x0, x1 } = icicle;
      const step = (x1 - x0) / 100;
      seen.textContent =
        `${instant(x0, step)} to ${instant(x1, step)}, ` +
        `${time(x1 - x0)} in all`;
    },
  });

  // the time of a call, and how much of it was in calls that are shown
  function detail(node) {
    const { layout } = graph;
    const { start, weight, first, child } = layout;
    if (node === 0) return [`all: ${time(weight[0])}`];
    let inside = 0;
    for (let i = first[node]; i < first[node + 1]; i++) {
      inside += weight[child[i]];
    }
    const calls = first[node + 1] - first[node];
    return [
      `after ${instant(start[node], Math.max(1, weight[node] / 10))}: ` +
        `took ${time(weight[node])}`,
      calls > 0 &&
        `${time(inside)} in the ${plural(calls, "call")} shown inside`,
    ].filter(Boolean);
  }

  const wanted = () =>
    data.threads.find((t) => String(t.tid) === app.state.thread) ||
    data.threads.reduce((a, b) => (b.n > a.n ? b : a));

  function layoutOf({ tree }) {
    if (!layouts.has(tree)) {
      layouts.set(tree, timed(fromColumns(model.trees[tree])));
    }
    return layouts.get(tree);
  }

  function threads(current) {
    if (data.threads.length < 2) return [];
    const select = h(
      "select",
      {
        "aria-label": "Coroutine",
        onchange: () => app.set({ thread: select.value }),
      },
      data.threads.map(({ tid, n }) =>
        h(
          "option",
          { value: tid, selected: tid === current.tid },
          `coroutine ${tid}, ${plural(n, "call")}`,
        ),
      ),
    );
    return [select];
  }

  let shown;
  function update() {
    const current = wanted();
    fill(
      search.rest,
      ...threads(current),
      h("button", { type: "button", onclick: () => graph.zoom(0) }, "Zoom out"),
      seen,
    );
    if (shown !== current) {
      shown = current;
      graph.show(layoutOf(current));
      zoom.apply(graph, true);
    } else zoom.apply(graph);
    const passes = matcher(app.state.search);
    graph.highlight(
      passes && Uint8Array.from(model.functions, (f) => (passes(f) ? 1 : 0)),
    );
  }

  fill(
    root,
    facts(data),
    search.element,
    axis.canvas,
    graph.element,
    h(
      "p",
      { class: "aside" },
      "Profiler overhead is excluded. " +
        (data.least > 0
          ? `${count(data.calls - data.shown)} calls that took less than ` +
            `${time(data.least)} are left out.`
          : "All calls are shown."),
    ),
  );
  update();
  return {
    update,
    resize: () => graph.resize(),
    key: (event) => {
      if (graph.key(event)) return true;
      if (event.key.startsWith("Arrow")) {
        graph.canvas.focus();
        return graph.key(event);
      }
      return event.key === "Escape" && graph.out();
    },
    close: () => {
      zoom.close();
      graph.close();
    },
  };
}
