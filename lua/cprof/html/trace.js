// Trace: calls on a time axis, each coroutine in a lane of its own, and what
// the functions took in the visible time.

import { between } from "./axis.js";
import { byFile, palette } from "./colors.js";
import { bar, button, factList, fill, h, refill, sized } from "./dom.js";
import { count, instant, percent, plural, time } from "./format.js";
import { Icicle } from "./icicle.js";
import { labelOf } from "./labels.js";
import { Overmap } from "./overmap.js";
import { written } from "./ranged.js";
import { searched, wantedIn } from "./search.js";
import { named, placed, Table } from "./table.js";
import { fromColumns, timed, within } from "./tree.js";
import { Zoom } from "./zoom.js";

const axisHeight = 20;
const rowHeight = 19;
// lanes that are shown at most, and rows of each at least
const most = 20;
const rows = 6;

// Functions in whose calls none of their coroutine's code runs, and why.
const waiting = {
  "coroutine.yield": "suspended",
  "coroutine.resume": "another coroutine runs",
  "coroutine.wrap function": "another coroutine runs",
};

// the row of the steps of the garbage collector, which are not calls
const collector = "(garbage collector)";
const stepsOf = (n) => `${plural(n, "step")} of the garbage collector`;
const and = (calls, steps) =>
  [
    (calls > 0 || steps === 0) && plural(calls, "call"),
    steps > 0 && stepsOf(steps),
  ]
    .filter(Boolean)
    .join(" and ");

// the time axis above the graph
class Axis {
  constructor(app) {
    this.app = app;
    this.canvas = h("canvas.axis", { "aria-hidden": "true" });
  }

  draw({ x0, x1, width, theme }) {
    const { canvas } = this;
    const c = sized(canvas, width, axisHeight);
    const { marks, step } = between(x0, x1, Math.max(2, width / 150));
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
  if (data.steps > 0) rows.push(["collector steps", count(data.steps)]);
  if (data.threads.length > 1) {
    rows.push(["coroutines", count(data.threads.length)]);
  }
  return factList(rows);
}

// A pattern for time in which a coroutine's own code does not run.
function hatched(ground, line) {
  const size = 6;
  const canvas = h("canvas", { width: size, height: size });
  const c = canvas.getContext("2d");
  c.fillStyle = ground;
  c.fillRect(0, 0, size, size);
  c.strokeStyle = line;
  c.lineWidth = 1.5;
  for (const x of [-size, 0, size]) {
    c.moveTo(x, size);
    c.lineTo(x + size, 0);
  }
  c.stroke();
  return c.createPattern(canvas, "repeat");
}

// The time in which a coroutine waits, and that in which Lua collects garbage.
const patterns = (theme) => ({
  waits: hatched(theme.pale, theme.rest),
  collects: hatched(theme.heat(0.2), theme.heat(0.8)),
});

// What the patterns mean.
function legend(app, data) {
  const { waits, collects } = patterns(palette(app.isDark()));
  const swatch = (pattern, what) => {
    const canvas = h("canvas.swatch", { width: 12, height: 12 });
    const c = canvas.getContext("2d");
    c.fillStyle = pattern;
    c.fillRect(0, 0, 12, 12);
    return h("span.swatched", canvas, what);
  };
  return [
    data.threads.length > 1 &&
      swatch(waits, "the coroutine is suspended, or another one runs"),
    data.steps > 0 && swatch(collects, "a step of the garbage collector"),
  ];
}

export function trace(app, root) {
  const { model } = app;
  const data = model.header.trace;
  const axis = new Axis(app);
  const layouts = new Map();
  const seen = h("span.aside");
  const said = h("span.aside", { role: "status" });
  const search = searched(app);
  const zoom = new Zoom(app, "call", ({ tid }) => ({
    lane: tid === lanes[0].tid ? undefined : String(tid),
  }));
  const box = h("div.lanes");
  const summary = h("p.aside", { role: "status" });
  const table = new Table();
  const waits = model.functions.map((f) =>
    f.kind === "C" ? waiting[f.name] : undefined,
  );
  const collects = model.functions.findIndex((f) => f.name === collector);
  const shownSteps = data.threads.reduce((sum, t) => sum + t.steps, 0);
  const colors = h("p.aside.legend");
  /** @type {any[]} */
  let lanes = [];
  /** @type {any} the lane that was used last */
  let used;
  /** @type {any} */
  let pending;

  // the time of a call, and how much of it was in calls that are shown
  function detail(lane, node) {
    const { start, weight, first, child, tree } = lane.layout;
    if (node === 0) {
      const { tid, n, steps } = lane.thread;
      return [`coroutine ${tid}: ${and(n, steps)}`];
    }
    let inside = 0;
    let steps = 0;
    for (let i = first[node]; i < first[node + 1]; i++) {
      inside += weight[child[i]];
      if (tree.func[child[i]] === collects) steps++;
    }
    const all = first[node + 1] - first[node];
    return [
      `after ${instant(start[node], Math.max(1, weight[node] / 10))}: ` +
        `took ${time(weight[node])}`,
      waits[tree.func[node]],
      all > 0 &&
        `${time(inside)} in the ${and(all - steps, steps)} shown inside`,
    ].filter(Boolean);
  }

  // the threads that a state asks for, in the order of their lanes
  function wanted() {
    const one = data.threads.find((t) => String(t.tid) === app.state.thread);
    if (one) return [one];
    if (data.threads.length <= most) return data.threads;
    const least = data.threads.map((t) => t.n).sort((a, b) => b - a)[most - 1];
    return data.threads.filter((t) => t.n >= least).slice(0, most);
  }

  function layoutOf({ tree }) {
    if (!layouts.has(tree)) {
      layouts.set(tree, timed(fromColumns(model.trees[tree])));
    }
    return layouts.get(tree);
  }

  // the height of each lane at most
  function room() {
    const top = box.getBoundingClientRect().top + scrollY;
    const free = Math.max(160, innerHeight - top - 60);
    return Math.max(rows * rowHeight, free / lanes.length);
  }

  function lane(thread) {
    const several = data.threads.length > 1;
    const name = `Coroutine ${thread.tid}`;
    const made = Object.assign(
      new Icicle(app, {
        label:
          `${several ? `${name}: calls` : "Calls"} in chronological order. ` +
          "Arrow keys go to the caller, to the first call inside, and to " +
          "the call before or after; Enter zooms in; w, s, a and d zoom and " +
          "move.",
        height: room,
        low: lanes.length > 1,
        detail: (node) => detail(made, node),
        name: (node) => {
          const f = model.functions[made.layout.tree.func[node]];
          if (node > 0 || !several) return labelOf(f);
          return `${name.toLowerCase()}, ${plural(thread.n, "call")}`;
        },
        color: (theme) => {
          const colors = byFile(model.functions, theme, model.hues);
          const hatches = patterns(theme);
          const { func } = made.layout.tree;
          return (node) =>
            waits[func[node]]
              ? hatches.waits
              : func[node] === collects
                ? hatches.collects
                : colors[func[node]];
        },
        choose: (node) => {
          const f = model.functions[made.layout.tree.func[node]];
          app.choose(f.kind === "root" ? undefined : f, zoom.change(made));
        },
        zoomed: () => spread(made),
        user: (moved) => {
          spread(made);
          zoom.changed(made, moved);
        },
        painted: () => made === lanes[0] && painted(made),
      }),
      { tid: thread.tid, thread },
    );
    return made;
  }

  // Makes all lanes show the time that lane `from` shows.
  function spread(from) {
    used = from;
    for (const other of lanes) {
      if (other === from) continue;
      other.base = 0;
      other.move(...from.goal);
    }
    clearTimeout(pending);
    pending = setTimeout(count_up, 100);
  }

  function painted(first) {
    axis.draw(first);
    first.map.draw();
    const { x0, x1 } = first;
    const step = (x1 - x0) / 100;
    seen.textContent =
      `${instant(x0, step)} to ${instant(x1, step)}, ` +
      `${time(x1 - x0)} in all`;
  }

  // What each function took in the visible time.
  function count_up() {
    const [x0, x1] = lanes[0].goal;
    const found = within(
      lanes.map((one) => one.layout),
      x0,
      x1,
      model.functions.length,
    );
    const list = model.functions.filter((f) => found.calls[f.id] > 0);
    const own = (f) => (waits[f.id] ? 0 : found.self[f.id]);
    list.sort(
      (a, b) => own(b) - own(a) || found.total[b.id] - found.total[a.id],
    );
    const span = x1 - x0;
    table.change(
      [
        {
          title: "self",
          hint: "Time in which a call ran, without its callees",
          cell: (f) => (waits[f.id] ? waits[f.id] : time(found.self[f.id])),
        },
        {
          title: "%",
          class: "percent",
          hint: "Share of the visible time",
          cell: (f) => (waits[f.id] ? "" : percent(found.self[f.id], span)),
        },
        {
          title: "",
          class: "bars",
          cell: (f) => (own(f) > 0 ? bar(own(f) / span, "self") : ""),
        },
        {
          title: "total",
          hint: "With callees, and with the time in which it waited",
          cell: (f) => time(found.total[f.id]),
        },
        {
          title: "longest",
          hint: "The longest call, with its part outside the visible time",
          class: "extra",
          cell: (f) => time(found.longest[f.id]),
        },
        {
          title: "calls",
          cell: (f) =>
            f.id === collects
              ? plural(found.calls[f.id], "step")
              : count(found.calls[f.id]),
        },
        { title: "function", left: true, cell: (f) => named(app, f) },
        {
          title: "defined",
          left: true,
          class: "extra",
          cell: (f) => placed(f),
        },
      ],
      {
        caption: "Functions in the visible time",
        limit: 20,
        none: "No call is visible.",
        key: (f) => f.title,
        choose: (f) => app.choose(f),
        row: (f) => ({ "aria-selected": app.chosen === f }),
      },
    );
    table.show(list);
    const all = found.calls.reduce((a, b) => a + b, 0);
    const steps = found.calls[collects] || 0;
    const functions = list.length - (steps > 0 ? 1 : 0);
    const step = span / 100;
    summary.textContent =
      `From ${instant(x0, step)} to ${instant(x1, step)}: ` +
      `${plural(all - steps, "call")} of ${plural(functions, "function")}` +
      (steps > 0 ? `, ${stepsOf(steps)}` : "") +
      (data.least > 0 ? `, without calls below ${time(data.least)}.` : ".");
  }

  function threads() {
    if (data.threads.length < 2) return [];
    const one = data.threads.find((t) => String(t.tid) === app.state.thread);
    const select = h(
      "select",
      {
        "aria-label": "Coroutines",
        onchange: () =>
          app.set({
            thread: select.value || undefined,
            call: undefined,
            lane: undefined,
          }),
      },
      h(
        "option",
        { value: "", selected: !one },
        data.threads.length > most
          ? `the ${most} coroutines with the most calls`
          : `all ${data.threads.length} coroutines`,
      ),
      data.threads.map(({ tid, n }) =>
        h(
          "option",
          { value: tid, selected: tid === one?.tid },
          `coroutine ${tid}, ${plural(n, "call")}`,
        ),
      ),
    );
    return [select];
  }

  // Marks what is searched. n and p go from match to match.
  function mark() {
    const found = wantedIn(model.functions, app.state.search);
    for (const one of lanes) one.highlight(found);
    const list = found ? matching() : [];
    const steps = list.filter(
      ({ one, i }) => one.layout.tree.func[i] === collects,
    ).length;
    said.textContent = found
      ? `${and(list.length - steps, steps)} ` +
        (list.length === 1 ? "matches" : "match") +
        (list.length > 0 ? "; n and p go to the next and the previous one" : "")
      : "";
  }

  // the calls that match, in the order of time
  function matching() {
    const out = [];
    for (const one of lanes) {
      const { tree, start } = one.layout;
      for (let i = 1; i < tree.n; i++) {
        if (one.wanted?.[tree.func[i]]) out.push({ one, i, at: start[i] });
      }
    }
    return out.sort((a, b) => a.at - b.at || a.i - b.i);
  }

  function step(by) {
    const list = matching();
    if (list.length === 0) return;
    const { layout, cursor } = used;
    const now = list.findIndex(({ one, i }) => one === used && i === cursor);
    const at = layout.start[cursor];
    const after = list.findIndex((e) => e.at >= at);
    const from = now >= 0 ? now : by > 0 ? after - 1 : after;
    const next = (from + by + list.length) % list.length;
    const { one, i } = list[after < 0 && now < 0 ? 0 : next];
    one.canvas.focus();
    one.zoom(i);
    app.say(one.lines(i).join("; "));
  }

  // A way to limit all views to what is seen, if that is known of the others.
  function ranged() {
    const { axis: known } = app.all.header;
    if (!known) return [];
    const limit = () => app.set({ range: written(lanes[0].goal, known) }, true);
    return [button("Limit all views to this time", limit)];
  }

  let shown;
  function update() {
    const list = wanted();
    const key = list.map((t) => t.tid).join();
    const fresh = shown !== key;
    if (fresh) {
      shown = key;
      for (const one of lanes) one.close();
      lanes = list.map(() => undefined);
      lanes = list.map(lane);
      used = lanes[0];
      lanes[0].map = new Overmap(lanes[0]);
      fill(box, lanes[0].map.canvas, axis.canvas);
      box.append(...lanes.map((one) => one.element));
      lanes.forEach((one, i) => one.show(layoutOf(list[i])));
    }
    fill(
      search.rest,
      ...threads(),
      button("Zoom out", () => lanes[0].zoom(0)),
      ...ranged(),
      seen,
      said,
    );
    const zoomed =
      lanes.find((one) => String(one.tid) === app.state.lane) || lanes[0];
    zoom.apply(zoomed, fresh);
    refill(colors, ...legend(app, data));
    if (fresh) spread(zoomed);
    mark();
  }

  fill(
    root,
    facts(data),
    search.element,
    box,
    colors,
    h("h2", "In the visible time"),
    summary,
    table.element,
    h(
      "p.aside",
      "Profiler overhead is excluded. " +
        (data.least > 0
          ? `${and(data.calls - data.shown, data.steps - shownSteps)} that ` +
            `took less than ${time(data.least)} are left out.`
          : "All calls are shown."),
    ),
  );
  update();
  count_up();

  function key(event) {
    if (used.steer(event)) return true;
    if (app.state.search && (event.key === "n" || event.key === "p")) {
      step(event.key === "n" ? 1 : -1);
      return true;
    }
    if (table.body.contains(document.activeElement)) return table.key(event);
    const at = lanes.findIndex((one) => one.canvas === document.activeElement);
    const graph = lanes[at];
    if (!graph) {
      if (event.key.startsWith("Arrow")) {
        used.canvas.focus();
        return used.key(event);
      }
      return event.key === "Escape" && used.out();
    }
    used = graph;
    if (event.key === "ArrowUp" && graph.cursor === 0 && at > 0) {
      lanes[at - 1].canvas.focus();
      return true;
    }
    return graph.key(event);
  }

  return {
    update,
    resize: () => {
      refill(colors, ...legend(app, data));
      lanes.forEach((one) => one.resize());
      count_up();
    },
    key,
    close: () => {
      clearTimeout(pending);
      zoom.close();
      lanes.forEach((one) => one.close());
    },
  };
}
