// Memory: the size of the heap over time, what was allocated, and the
// collector.

import { falls, nearest, peaks, ticks } from "./axis.js";
import { palette } from "./colors.js";
import { bar, factList, fill, h, placeTip, refill, sized } from "./dom.js";
import { bytes, count, percent, instant, plural, time } from "./format.js";
import { measures } from "./measures.js";
import { named as rangeName, parsed, written } from "./ranged.js";
import { sure } from "./samples.js";
import { asTable, named, placed, Table } from "./table.js";

const height = 260;
const left = 70;
const bottom = 24;
const top = 18;

// the smallest fall of the heap that is marked, as a share of the peak
const least = 0.05;

class Chart {
  /** @type {number[] | undefined} a range of time, while it is chosen */
  dragged;
  /** @type {number[]} when each point is, in ns */
  ns = [];
  /** @type {number[]} */
  sizes = [];
  /** @type {any[]} where the size shrinks much, and by how much */
  falls = [];
  // the points with the largest size, and with the cursor; -1: there is none
  peak = 0;
  cursor = -1;

  constructor(app) {
    this.app = app;
    // the time axis, if ranges of time can be chosen
    this.axis = app.all.header.axis;
    this.canvas = h("canvas.heap", { tabindex: "0", role: "img" });
    this.load();
    this.tip = h("div.tip", { hidden: true });
    this.element = h("div.iciclebox", this.canvas, this.tip);
    this.listen();
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.element);
  }

  // Takes the points from the model, which may have got new ones.
  load() {
    const { ns, bytes: sizes, seen } = this.app.all.header.heap;
    // the point that the cursor is at is found again
    const at = this.cursor >= 0 ? this.ns[this.cursor] : undefined;
    this.ns = ns;
    this.sizes = sizes;
    this.peak = sizes.reduce((best, n, i) => (n > sizes[best] ? i : best), 0);
    this.falls = falls(sizes, sizes[this.peak] * least);
    this.cursor = at === undefined ? -1 : nearest(ns, at);
    this.canvas.setAttribute(
      "aria-label",
      `${seen ? "Memory in use" : "The size of the heap"} over ` +
        `${time(ns[ns.length - 1])}: ` +
        `${bytes(sizes[0])} at first, ` +
        `${bytes(sizes[sizes.length - 1])} at the end, at most ` +
        `${bytes(sizes[this.peak])} after ${time(ns[this.peak])}. ` +
        "Arrow keys go from point to point, Home and End to the first and " +
        "the last. A table follows.",
    );
  }

  x(ns) {
    const room = this.width - left - 12;
    return left + (ns / this.ns[this.ns.length - 1]) * room;
  }

  y(n) {
    const most = this.sizes[this.peak] || 1;
    return top + (1 - n / most) * (height - top - bottom);
  }

  draw() {
    const width = this.element.clientWidth;
    if (width === 0) return;
    const { canvas, app } = this;
    this.width = width;
    canvas.style.setProperty("height", height + "px");
    const c = sized(canvas, width, height);
    const style = getComputedStyle(canvas);
    c.font = "11px " + style.getPropertyValue("--ui");
    this.axes(c, palette(app.isDark()), style);
    this.shade(c, style);
    this.line(c, style);
    this.marks(c, style);
  }

  axes(c, theme, style) {
    const last = this.ns[this.ns.length - 1];
    c.textBaseline = "middle";
    c.textAlign = "right";
    for (const n of ticks(this.sizes[this.peak], 4, true)) {
      const y = Math.round(this.y(n));
      c.fillStyle = style.getPropertyValue("--rule");
      c.fillRect(left, y, this.width - left - 12, 1);
      c.fillStyle = theme.dim;
      c.fillText(bytes(n), left - 8, y);
    }
    c.textBaseline = "top";
    const marks = ticks(last, Math.max(2, Math.floor(this.width / 160)));
    for (const ns of marks) {
      const x = this.x(ns);
      c.fillStyle = theme.dim;
      c.fillRect(x, height - bottom, 1, 4);
      c.textAlign = x > this.width - 40 ? "right" : "center";
      c.fillText(instant(ns, marks[1]), x, height - bottom + 7);
    }
  }

  // the range of time that is chosen
  shade(c, style) {
    const range = this.dragged || parsed(this.app.state.range, this.axis);
    if (!range) return;
    const [from, to] = range.map((ns) => this.x(ns));
    c.fillStyle = style.getPropertyValue("--accent");
    c.globalAlpha = 0.16;
    c.fillRect(from, top, to - from, height - top - bottom);
    c.globalAlpha = 1;
    c.fillRect(from - 1, top, 2, height - top - bottom);
    c.fillRect(to - 1, top, 2, height - top - bottom);
  }

  line(c, style) {
    const { ns, sizes } = this;
    const ink = style.getPropertyValue("--accent");
    c.beginPath();
    ns.forEach((at, i) => c.lineTo(this.x(at), this.y(sizes[i])));
    c.strokeStyle = ink;
    c.lineWidth = 1.5;
    c.stroke();
    c.lineTo(this.x(ns[ns.length - 1]), this.y(0));
    c.lineTo(this.x(ns[0]), this.y(0));
    c.fillStyle = ink;
    c.globalAlpha = 0.14;
    c.fill();
    c.globalAlpha = 1;
  }

  marks(c, style) {
    const { ns, sizes, peak, cursor } = this;
    c.fillStyle = style.getPropertyValue("--soft");
    for (const { at } of this.falls) {
      const x = this.x(ns[at]);
      c.beginPath();
      c.moveTo(x - 4, height - bottom - 7);
      c.lineTo(x + 4, height - bottom - 7);
      c.lineTo(x, height - bottom - 1);
      c.fill();
    }
    c.fillStyle = style.getPropertyValue("--hot");
    this.dot(c, peak);
    const x = this.x(ns[peak]);
    c.fillStyle = style.getPropertyValue("--ink");
    c.textBaseline = "alphabetic";
    c.textAlign = x > this.width - 120 ? "right" : "left";
    const aside = c.textAlign === "right" ? -8 : 8;
    c.fillText(
      `peak ${bytes(sizes[peak])}`,
      x + aside,
      this.y(sizes[peak]) - 5,
    );
    if (cursor < 0) return;
    c.fillStyle = style.getPropertyValue("--ink");
    c.fillRect(this.x(ns[cursor]), top, 1, height - top - bottom);
    this.dot(c, cursor);
  }

  dot(c, i) {
    c.beginPath();
    c.arc(this.x(this.ns[i]), this.y(this.sizes[i]), 3.5, 0, 2 * Math.PI);
    c.fill();
  }

  // A point in words.
  said(i) {
    const fall = this.falls.find(({ at }) => at === i);
    const fell = fall ? `, ${bytes(fall.by)} less than before` : "";
    const peak = i === this.peak ? ", the peak" : "";
    return `${bytes(this.sizes[i])} after ${time(this.ns[i])}${peak}${fell}`;
  }

  point(i, aloud) {
    this.cursor = i;
    this.draw();
    this.tip.hidden = i < 0;
    if (i < 0) return;
    fill(this.tip, this.said(i));
    const [x, y] = [this.x(this.ns[i]), this.y(this.sizes[i])];
    placeTip(this.tip, x + 12, y + 10, this.width, 24);
    if (aloud) this.app.say(this.said(i));
  }

  listen() {
    const { canvas } = this;
    const at = (event) => {
      const room = this.width - left - 12;
      const last = this.ns[this.ns.length - 1];
      return ((event.offsetX - left) / room) * last;
    };
    /** @type {number | undefined} */
    let from;
    canvas.addEventListener("pointerdown", (event) => {
      if (!this.axis || event.button !== 0) return;
      from = at(event);
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (from !== undefined) {
        const { begins, wall } = this.axis;
        const within = (ns) => Math.max(begins, Math.min(ns, wall));
        const to = at(event);
        this.dragged = [within(Math.min(from, to)), within(Math.max(from, to))];
      }
      this.point(nearest(this.ns, at(event)));
    });
    canvas.addEventListener("pointerup", () => {
      const range = this.dragged;
      from = this.dragged = undefined;
      if (!range || range[1] - range[0] < 1e3) return;
      this.app.set({ range: written(range, this.axis) });
    });
    canvas.addEventListener("pointercancel", () => {
      from = this.dragged = undefined;
    });
    canvas.addEventListener("pointerleave", () => this.point(-1));
    canvas.addEventListener("blur", () => this.point(-1));
  }

  key(event) {
    if (document.activeElement !== this.canvas) return false;
    const last = this.ns.length - 1;
    const now = this.cursor < 0 ? this.peak : this.cursor;
    const to = {
      ArrowLeft: this.cursor < 0 ? now : Math.max(0, now - 1),
      ArrowRight: this.cursor < 0 ? now : Math.min(last, now + 1),
      Home: 0,
      End: last,
    }[event.key];
    if (to === undefined) return false;
    this.point(to, true);
    return true;
  }
}

function facts(app) {
  const { all: model } = app;
  const { memory, collector } = model.header;
  const rows = [
    ["allocated", bytes(memory.bytes)],
    ["allocations", count(memory.allocs)],
  ];
  if (memory.live !== undefined) {
    const told = (n) => bytes(n) + sure(n, memory.live_interval);
    rows.push(
      [
        "in use",
        told(memory.live),
        memory.garbage > 0
          ? "Allocated while recording and not freed, without garbage"
          : "Allocated while recording and not freed yet",
      ],
      ["at the peak", told(memory.peak), "Most memory in use at one time"],
    );
  }
  if (memory.garbage > 0) {
    rows.push([
      "garbage",
      `≈ ${bytes(memory.garbage)}`,
      "Not freed yet, but probably garbage: older memory from the same calls was. Not counted as in use",
    ]);
  }
  if (collector) {
    const share = percent(collector.ns, model.whole);
    rows.push(
      ["collector", `${time(collector.ns)}, ${share} %`],
      ["collections", count(collector.cycles)],
      ["steps", count(collector.steps)],
    );
    if (collector.longest !== undefined) {
      rows.push(["longest step", time(collector.longest)]);
    }
  }
  return factList(rows);
}

function kinds({ all: model }) {
  const { memory } = model.header;
  const table = new Table(
    [
      { title: "alloc", cell: ([, n]) => bytes(n) },
      {
        title: "%",
        class: "percent",
        cell: ([, n]) => percent(n, memory.bytes),
      },
      {
        title: "",
        class: "bars",
        cell: ([, n]) => bar(n / memory.bytes, "self"),
      },
      { title: "allocs", cell: ([, , n]) => count(n) },
      { title: "kind", left: true, cell: ([kind]) => kind },
    ],
    { caption: "Bytes and allocations by kind" },
  );
  table.show(memory.kinds);
  return h("section", h("h2", "Kinds"), table.element);
}

// the functions with the most of a measure; a click on one shows it in the
// call graph
function most(app, measure) {
  const table = new Table();
  const text = measure === "allocs" ? count : bytes;
  const element = h("section");
  function draw() {
    const { model } = app;
    const { self } = model.scope({ measure });
    const list = model.functions.filter((f) => self[f.id] > 0);
    list.sort((a, b) => self[b.id] - self[a.id]);
    const whole = model.wholeOf({}, measure);
    table.change(
      [
        { title: measures[measure].column, cell: (f) => text(self[f.id]) },
        {
          title: "%",
          class: "percent",
          cell: (f) => app.share(self[f.id], whole, undefined, measure),
        },
        {
          title: "",
          class: "bars",
          cell: (f) => bar(self[f.id] / whole, "self"),
        },
        { title: "function", left: true, cell: (f) => named(app, f) },
        { title: "defined", left: true, cell: (f) => placed(f, true) },
      ],
      {
        caption: `Functions, ${measures[measure].title.toLowerCase()}`,
        key: (f) => f.title,
        row: (f) => ({ "aria-selected": f === app.chosen }),
        choose: (f) => app.choose(f, { measure, view: "callgraph" }),
      },
    );
    table.show(list.slice(0, 15));
    refill(
      element,
      h("h2", measures[measure].heading),
      table.element,
      h(
        "p.aside",
        h(
          "a",
          { href: app.link({ view: "flame", measure, by: undefined }) },
          "As a flame graph",
        ),
        app.model.sources.length > 0 && [
          " · ",
          h(
            "a",
            { href: app.link({ view: "source", heat: measure }) },
            "In sources",
          ),
        ],
      ),
    );
  }
  return { table, element, draw };
}

// the points as a table, for people who cannot see the chart
function listed(chart) {
  return asTable((box) => {
    const { seen } = chart.app.all.header.heap;
    const table = new Table(
      [
        { title: "after", cell: (i) => time(chart.ns[i]) },
        { title: seen ? "in use" : "heap", cell: (i) => bytes(chart.sizes[i]) },
      ],
      { caption: seen ? "Memory in use" : "The size of the heap", limit: 60 },
    );
    table.show(peaks(chart.sizes, 60));
    fill(box, table.element);
  });
}

// What a live page says where the recording goes on: the heap over time is not
// in its file yet.
const later =
  "The size of the heap over time is written when the recording ends, and " +
  "is shown here then.";

export function timeline(app, root) {
  /** @type {any} the chart and its table; undefined: there are too few points */
  let drawn;
  let tables = [];
  const known = new Map();

  // Takes new points, once there are two.
  function load() {
    if (drawn) return drawn.chart.load();
    if (app.all.header.heap.ns.length < 2) return;
    const chart = new Chart(app);
    drawn = { chart, table: listed(chart) };
  }

  function tableOf(measure) {
    if (!known.has(measure)) known.set(measure, most(app, measure));
    return known.get(measure);
  }

  // what is above the functions: the chart, and what it tells
  function over(range) {
    const { heap } = app.all.header;
    const aside = (text) => h("p.aside", text);
    if (!drawn) return aside(later);
    const shrank = drawn.chart.falls.length;
    const what = heap.seen ? "Memory in use" : "The heap";
    return [
      h("h2", heap.seen ? "Memory in use over time" : "The heap over time"),
      drawn.chart.element,
      aside(
        shrank > 0
          ? `${what} shrank ${plural(shrank, "time")} by ${100 * least} % of the peak or more; the marks below the line show when.`
          : `${what} never shrank by ${100 * least} % of the peak or more.`,
      ),
      heap.seen && aside(`As seen at each refresh of this page. ${later}`),
      range &&
        app.all !== app.model &&
        aside(
          `Which functions allocated in ${rangeName(range)} alone is not known.`,
        ),
      drawn.table.element,
    ];
  }

  function draw() {
    const { range } = app.model;
    const wanted = ["live", "bytes"].filter((m) =>
      app.model.measures.includes(m),
    );
    tables = wanted.map(tableOf);
    for (const table of tables) table.draw();
    load();
    refill(
      root,
      facts(app),
      over(range),
      h(
        "div.columns.apart",
        tables.map((t) => t.element),
      ),
      kinds(app),
    );
    drawn?.chart.draw();
    drawn?.table.draw();
  }

  draw();
  return {
    update: draw,
    resize: () => drawn?.chart.draw(),
    print: () => drawn?.chart.draw(),
    key: (event) => {
      if (drawn?.chart.key(event)) return true;
      const inside = ({ table }) => table.body.contains(document.activeElement);
      const at = tables.find(inside) || tables[0];
      return at ? at.table.key(event) : false;
    },
    close: () => drawn?.chart.observer.disconnect(),
  };
}
