// Frames: how long each took, which were slow, and which functions took longer
// in these.

import { ticks } from "./axis.js";
import { palette } from "./colors.js";
import { button, choice, fill, h, reveal, sized } from "./dom.js";
import { bytes, count, fixed, plural, time } from "./format.js";
import { span } from "./model.js";
import { written } from "./ranged.js";
import { amount, named, Table } from "./table.js";

const height = 190;
// room for the axis, and for the names and values of lines
const left = 52;
const margin = 108;

// height of the strip below, which shows allocated bytes
const strip = 46;
const gap = 10;

// Bytes allocated in a frame; undefined: not counted.
export function allocatedIn(frame) {
  return frame.bytes?.reduce((sum, n) => sum + n, 0);
}

// A figure of a function in a frame; 0: it did not run there. offset: 1 for
// calls, 2 for self, 3 for total.
export function inFrame(frame, id, offset) {
  const { rows } = frame;
  for (let i = 0; i < rows.length; i += 4) {
    if (rows[i] === id) return rows[i + offset];
  }
  return 0;
}

// The time at the top of the chart, in ns. `cut`: how many frames are taller.
// If the longest frame set the scale, a few very long frames would make all
// others too small to see.
export function scaled(list, budget, p99, whole) {
  let most = Math.max(budget, 1);
  for (const f of list) most = Math.max(most, f.ns);
  const enough = 1.5 * Math.max(budget, p99);
  if (whole || enough <= 0 || most <= 1.5 * enough)
    return { most: most * 1.05, cut: 0 };
  return { most: enough, cut: list.filter((f) => f.ns > enough).length };
}

// The figures of an average frame, by function, from the page's data.
function usually(flat) {
  const sums = new Map();
  for (let i = 0; i < flat.length; i += 3) {
    const row = sums.get(flat[i]) || { calls: 0, self: 0 };
    row.calls += flat[i + 1];
    row.self += flat[i + 2];
    sums.set(flat[i], row);
  }
  return sums;
}

// The mean self time of functions in `frames`, compared with an average frame:
// that in `flat`, or else the mean of `all`. Rows of { id, self, calls, usual,
// more }, sorted by the difference `more`, largest first.
export function compared(frames, all, flat) {
  const add = (list) => {
    const sums = new Map();
    for (const { rows } of list) {
      for (let i = 0; i < rows.length; i += 4) {
        const row = sums.get(rows[i]) || { calls: 0, self: 0 };
        row.calls += rows[i + 1] / list.length;
        row.self += rows[i + 2] / list.length;
        sums.set(rows[i], row);
      }
    }
    return sums;
  };
  const here = add(frames);
  const usual = flat ? usually(flat) : add(all);
  const out = [];
  for (const id of new Set([...here.keys(), ...usual.keys()])) {
    const a = here.get(id) || { calls: 0, self: 0 };
    const b = usual.get(id) || { calls: 0, self: 0 };
    out.push({
      id,
      self: a.self,
      calls: a.calls,
      usual: b.self,
      more: a.self - b.self,
    });
  }
  return out.sort((a, b) => b.more - a.more || b.self - a.self);
}

class Chart {
  constructor(app) {
    this.app = app;
    this.canvas = h("canvas.frames", {
      tabindex: "0",
      role: "img",
      "aria-label":
        "The time of each frame. Arrow keys choose a frame, with Shift several. A table follows.",
    });
    this.tip = h("div.tip", { hidden: true });
    this.element = h("div.iciclebox", this.canvas, this.tip);
    this.listen();
  }

  get data() {
    return this.app.model.loop(this.app.state);
  }

  get list() {
    return this.data.list;
  }

  // the frame at a horizontal position
  at(x) {
    const share = (x - left) / (this.width - left - margin);
    const i = Math.floor(share * this.list.length);
    return this.list[Math.max(0, Math.min(this.list.length - 1, i))];
  }

  draw() {
    const { canvas, list, app } = this;
    const { budget, percentiles } = this.data;
    this.allocated = list.map(allocatedIn);
    this.sized = this.allocated.some((n) => n !== undefined);
    const width = this.element.clientWidth;
    if (width === 0) return;
    this.width = width;
    const full = this.sized ? height + gap + strip : height;
    canvas.style.setProperty("height", full + "px");
    const c = sized(canvas, width, full);
    const theme = palette(app.isDark());
    const style = getComputedStyle(canvas);
    const { most, cut } = scaled(list, budget, percentiles.p99, app.state.tall);
    this.cut = cut;
    const y = (ns) => height - Math.min(1, ns / most) * height;
    const each = (width - left - margin) / list.length;
    const [from, to] = app.state.frames ? span(app.state.frames) : [1, 0];
    const chosen = app.chosen;
    list.forEach((f, i) => {
      const on = f.n >= from && f.n <= to;
      const slow = budget > 0 && f.ns > budget;
      const x = left + i * each;
      const w = Math.max(0.6, each - (each > 3 ? 1 : 0));
      c.fillStyle = on
        ? style.getPropertyValue("--accent")
        : slow
          ? style.getPropertyValue("--hot")
          : style.getPropertyValue("--cool");
      c.globalAlpha = chosen ? 0.4 : 1;
      c.fillRect(x, y(f.ns), w, height - y(f.ns));
      c.globalAlpha = 1;
      if (chosen) {
        const part = inFrame(f, chosen.id, 3);
        c.fillRect(x, y(part), w, height - y(part));
      }
      if (f.ns > most) {
        // it is taller than the chart
        c.fillStyle = style.getPropertyValue("--worse");
        c.fillRect(x - 1, 0, Math.max(3, w + 1), 4);
      }
    });
    c.font = "11px " + style.getPropertyValue("--ui");
    c.textBaseline = "middle";
    this.axis(c, most, y, theme);
    const lines = [
      ["median", percentiles.p50],
      ["p90", percentiles.p90],
      ["p99", percentiles.p99],
    ];
    if (budget > 0) lines.push(["budget", budget]);
    let last = height + 7;
    for (const [text, ns] of lines.sort((a, b) => a[1] - b[1])) {
      c.fillStyle =
        text === "budget" ? style.getPropertyValue("--worse") : theme.dim;
      c.fillRect(left, Math.round(y(ns)), width - left - margin + 4, 1);
      const at = Math.max(7, Math.min(y(ns), last - 13));
      c.fillText(`${text} ${time(ns)}`, width - margin + 8, at);
      last = at;
    }
    if (this.sized) this.sizes(c, each, theme, style);
  }

  // draws round times at the left
  axis(c, most, y, theme) {
    c.fillStyle = theme.dim;
    c.textAlign = "right";
    for (const ns of ticks(most, 4)) {
      const at = Math.min(height - 6, Math.max(6, y(ns)));
      c.fillRect(left - 5, Math.min(height - 1, Math.round(y(ns))), 5, 1);
      c.fillText(ns === 0 ? "0" : time(ns), left - 8, at);
    }
    c.textAlign = "left";
  }

  // draws the bytes allocated in each frame, below its time
  sizes(c, each, theme, style) {
    const most = Math.max(1, ...this.allocated.map((n) => n || 0));
    c.fillStyle = style.getPropertyValue("--soft");
    c.globalAlpha = 0.6;
    this.allocated.forEach((n, i) => {
      const high = ((n || 0) / most) * strip;
      const wide = Math.max(0.6, each - (each > 3 ? 1 : 0));
      c.fillRect(left + i * each, height + gap + strip - high, wide, high);
    });
    c.globalAlpha = 1;
    c.fillStyle = theme.dim;
    const x = this.width - margin + 8;
    c.fillText("alloc", x, height + gap + strip - 20);
    c.fillText(`≤ ${bytes(most)}`, x, height + gap + strip - 6);
  }

  choose(n, other) {
    const range =
      other === undefined || other === n ? String(n) : `${other}-${n}`;
    this.app.set({ frames: range }, other !== undefined);
  }

  listen() {
    const { canvas, tip } = this;
    let from;
    canvas.addEventListener("pointerdown", (event) => {
      from = this.at(event.offsetX).n;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const f = this.at(event.offsetX);
      if (from !== undefined && event.buttons & 1 && f.n !== from) {
        this.choose(f.n, from);
      }
      fill(tip, this.said(f));
      tip.hidden = false;
      const x = Math.min(event.offsetX + 14, this.width - tip.offsetWidth - 4);
      tip.style.setProperty("left", x + "px");
      tip.style.setProperty("top", event.offsetY + 14 + "px");
    });
    canvas.addEventListener("pointerleave", () => (tip.hidden = true));
    canvas.addEventListener("pointerup", (event) => {
      const f = this.at(event.offsetX);
      if (f.n === from) {
        this.choose(f.n, event.shiftKey ? this.anchor : undefined);
        this.anchor = f.n;
      }
      from = undefined;
    });
  }

  said(f) {
    const { app } = this;
    const { budget } = this.data;
    const over =
      budget > 0 && f.ns > budget ? `, ${time(f.ns - budget)} over budget` : "";
    const more = [];
    if (f.bytes) more.push(`${bytes(allocatedIn(f))} allocated`);
    if (f.steps > 0) {
      const steps = plural(f.steps, "step");
      more.push(`${steps} of the garbage collector, ${time(f.collected)}`);
    }
    const memory = more.length > 0 ? `; ${more.join(", ")}` : "";
    const out = `Frame ${count(f.n)}: ${time(f.ns)}${over}${memory}`;
    if (!app.chosen || f.rows.length === 0) return out;
    return `${out}; ${app.chosen.name}: ${time(inFrame(f, app.chosen.id, 3))}`;
  }

  key(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return false;
    const [from, to] = this.app.state.frames ? span(this.app.state.frames) : [];
    const last = this.moving === from ? from : to;
    const i = this.list.findIndex((f) => f.n === last);
    const next = this.list[i < 0 ? this.list.length - 1 : i + by];
    if (!next) return true;
    if (event.shiftKey && from !== undefined) {
      const fixed = this.anchor ?? from;
      this.moving = next.n;
      this.app.set({ frames: `${fixed}-${next.n}` }, true);
    } else {
      this.anchor = next.n;
      this.moving = next.n;
      this.app.set({ frames: String(next.n) }, true);
    }
    this.app.say(this.said(next));
    return true;
  }
}

export function frames(app, root) {
  const { model } = app;
  let data = model.loop(app.state);
  const chart = new Chart(app);
  const names = h("div.controls");
  const top = h("dl.facts");
  const hint = h("p.aside");
  const below = h("div.columns");
  let slow;
  // the frames that were chosen last; and do keys choose others?
  let shown = app.state.frames;
  let moving = false;

  fill(root, names, top, chart.element, hint, below);

  // a choice between the names of frames
  function draw_names() {
    const options = model.loops.map(({ name }) => [name, name || "(no name)"]);
    fill(
      names,
      options.length > 1 &&
        choice("Frames of", options, data.name, (loop) =>
          app.set({ loop, frames: undefined }),
        ),
      (chart.cut > 0 || app.state.tall) &&
        button(
          chart.cut > 0
            ? `Show ${plural(chart.cut, "taller frame")} in full`
            : "All frames in full",
          () => app.set({ tall: app.state.tall ? undefined : "1" }, true),
          { "aria-pressed": String(Boolean(app.state.tall)) },
        ),
    );
    names.hidden = names.childElementCount === 0;
  }

  // A link to the time of the chosen frames: to their calls in the trace, or to
  // the samples of that time.
  function moment() {
    if (!app.state.frames) return [];
    const [from, to] = span(app.state.frames);
    const list = data.list.filter((f) => f.n >= from && f.n <= to);
    if (list.length === 0 || list[0].start === undefined) return [];
    const last = list[list.length - 1];
    const begins = list[0].start;
    const ends = last.start + last.ns;
    const { axis, trace } = app.all.header;
    const link = (text, change) => [button(text, () => app.set(change)), " "];
    if (trace && trace.threads.length > 0) {
      const thread = trace.threads.reduce((a, b) => (b.n > a.n ? b : a));
      const tree = model.recorded(thread.tree);
      const part = (ns) => Math.min(1, ns / tree.self[0]).toFixed(6);
      return link("Show these calls in the trace", {
        view: "trace",
        thread: String(thread.tid),
        call: `0/${tree.n}/${part(begins)}-${part(ends)}`,
      });
    }
    if (!axis) return [];
    return link("Limit all views to this time", {
      view: "flame",
      frames: undefined,
      range: written([begins, ends], axis),
    });
  }

  function facts() {
    const p = data.percentiles;
    const rows = [
      ["frames", count(data.ended)],
      ["shown", count(data.list.length)],
      ["median", time(p.p50)],
      ["p90", time(p.p90)],
      ["p99", time(p.p99)],
      ["longest", time(p.max)],
    ];
    if (data.budget > 0) {
      rows.push(
        ["budget", time(data.budget)],
        ["over budget", count(data.slow)],
      );
    }
    fill(
      top,
      rows.map(([title, text]) => h("div", h("dt", title), h("dd", text))),
    );
  }

  function draw_slow() {
    const over = data.list.filter((f) => data.budget > 0 && f.ns > data.budget);
    const list = over.length > 0 ? over : [...data.list];
    list.sort((a, b) => b.ns - a.ns);
    const title = over.length > 0 ? "Frames over budget" : "Slowest frames";
    const [from, to] = app.state.frames ? span(app.state.frames) : [1, 0];
    const most = list.length > 0 ? list[0].ns : 1;
    slow = new Table(
      [
        { title: "frame", cell: (f) => count(f.n) },
        ...amount(app, {
          title: "time",
          of: most,
          bar: "self",
          get: (f) => [f.ns],
        })
          .filter((column) => column.title !== "%")
          .map((column) => ({
            ...column,
            title: column.title || "of longest",
          })),
        {
          title: data.budget > 0 ? "of budget" : "of median",
          cell: (f) => {
            const n = data.budget > 0 ? data.budget : data.percentiles.p50;
            return n > 0 ? "×" + fixed(f.ns / n, 1) : "";
          },
        },
        data.list.some((f) => f.bytes) && {
          title: "alloc",
          hint: "Bytes allocated in the frame",
          cell: (f) => (f.bytes ? bytes(allocatedIn(f)) : ""),
        },
        data.list.some((f) => f.steps !== undefined) && {
          title: "collector",
          hint: "Time in the garbage collector, and the number of its steps",
          cell: (f) =>
            f.steps > 0 ? `${time(f.collected)} ×${count(f.steps)}` : "",
        },
        {
          title: "more than usual, self time",
          left: true,
          cell: (f) => f.more || "",
        },
      ].filter(Boolean),
      {
        caption: title,
        limit: 20,
        row: (f) => ({ "aria-selected": f.n >= from && f.n <= to }),
        choose: (f) => app.set({ frames: String(f.n) }),
      },
    );
    slow.show(list);
    return h("section", h("h2", title), slow.element);
  }

  function draw_compared() {
    const chosen = app.scope.frames;
    const list =
      chosen ||
      data.list.filter(
        (f) => data.budget > 0 && f.ns > data.budget && f.rows.length > 0,
      );
    const title = chosen
      ? list.length === 1
        ? `Frame ${count(list[0].n)} and the average frame`
        : `${plural(list.length, "frame")} and the average frame`
      : list.length > 0
        ? "Frames over budget and the average frame"
        : "The average frame";
    const known = data.list.filter((f) => f.rows.length > 0);
    const some = list.length > 0 ? list : known;
    const table = new Table(
      [
        { title: "self", cell: (row) => time(row.self) },
        { title: "average", cell: (row) => time(row.usual) },
        {
          title: "more",
          cell: (row) => (row.more < 0 ? "−" : "+") + time(Math.abs(row.more)),
        },
        {
          title: "calls",
          cell: (row) =>
            row.calls < 9.95 ? +row.calls.toFixed(1) : count(row.calls),
        },
        {
          title: "function",
          left: true,
          cell: (row) => named(app, model.functions[row.id]),
        },
      ],
      {
        caption: title,
        limit: 25,
        row: (row) => ({
          "aria-selected": app.chosen && row.id === app.chosen.id,
        }),
        choose: (row) => app.choose(model.functions[row.id]),
      },
    );
    const usual = known.length < data.list.length ? data.usual : undefined;
    table.show(compared(some, known, usual));
    return h("section", h("h2.result", title), table.element);
  }

  function update() {
    data = model.loop(app.state);
    facts();
    chart.draw();
    draw_names();
    const share = app.chosen && app.scope.whole > 0;
    fill(
      hint,
      moment(),
      app.scope.frames
        ? "The other views show only the chosen frames. "
        : app.state.frames
          ? data.list.some((f) => f.rows.length > 0)
            ? "Functions of the chosen frames were not kept: only the slowest frames have them. "
            : "Only the times of these frames were kept, not their functions. "
          : "Click a frame, or drag over several, to limit the other views to them. ",
      share &&
        `The dark part of each bar is ${app.chosen.name}, ` +
          `${app.share(app.scope.total[app.chosen.id])} % of the time.`,
    );
    const compares = data.list.some((f) => f.rows.length > 0);
    fill(below, draw_slow(), compares && draw_compared());
    const { frames: chosen } = app.state;
    if (chosen && chosen !== shown && !moving) {
      reveal(below.querySelector(".result"));
    }
    shown = chosen;
  }

  update();
  return {
    update,
    resize: () => chart.draw(),
    key: (event) => {
      moving = true;
      const used = chart.key(event);
      moving = false;
      return used || slow.key(event);
    },
  };
}
