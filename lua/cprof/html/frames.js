// Frames: how long each took, which were slow, and which functions took longer
// in these.

import { palette } from "./colors.js";
import { fill, h } from "./dom.js";
import { bytes, count, fixed, plural, time } from "./format.js";
import { span } from "./model.js";
import { amount, named, Table } from "./table.js";

const height = 190;
const margin = 62;

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

// The mean self time of functions in `frames` and in `all`: rows of
// { id, self, calls, usual, more }, sorted by the difference `more`, largest
// first.
export function compared(frames, all) {
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
  const usual = add(all);
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
    this.canvas = h("canvas", {
      class: "frames",
      tabindex: "0",
      role: "img",
      "aria-label":
        "The time of each frame. Arrow keys choose a frame, with Shift several. A table follows.",
    });
    this.tip = h("div", { class: "tip", hidden: true });
    this.element = h("div", { class: "iciclebox" }, this.canvas, this.tip);
    this.allocated = this.list.map(allocatedIn);
    this.sized = this.allocated.some((n) => n !== undefined);
    this.listen();
  }

  get list() {
    return this.app.model.frames.list;
  }

  // the frame at a horizontal position
  at(x) {
    const i = Math.floor((x / (this.width - margin)) * this.list.length);
    return this.list[Math.max(0, Math.min(this.list.length - 1, i))];
  }

  draw() {
    const { canvas, list, app } = this;
    const { budget, percentiles } = app.model.frames;
    const width = this.element.clientWidth;
    if (width === 0) return;
    const ratio = devicePixelRatio || 1;
    this.width = width;
    canvas.width = width * ratio;
    const full = this.sized ? height + gap + strip : height;
    canvas.height = full * ratio;
    canvas.style.setProperty("height", full + "px");
    const c = canvas.getContext("2d");
    const theme = palette(app.isDark());
    const style = getComputedStyle(canvas);
    const most = Math.max(budget, ...list.map((f) => f.ns)) * 1.05 || 1;
    const y = (ns) => height - (ns / most) * height;
    const each = (width - margin) / list.length;
    const [from, to] = app.state.frames ? span(app.state.frames) : [1, 0];
    const chosen = app.chosen;
    c.scale(ratio, ratio);
    list.forEach((f, i) => {
      const on = f.n >= from && f.n <= to;
      const slow = budget > 0 && f.ns > budget;
      const x = i * each;
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
    });
    c.font = "11px " + style.getPropertyValue("--ui");
    c.textBaseline = "middle";
    const lines = [
      ["median", percentiles.p50],
      ["p90", percentiles.p90],
      ["p99", percentiles.p99],
    ];
    if (budget > 0) lines.push(["budget", budget]);
    let last = Infinity;
    for (const [text, ns] of lines.sort((a, b) => a[1] - b[1])) {
      c.fillStyle =
        text === "budget" ? style.getPropertyValue("--worse") : theme.dim;
      c.fillRect(0, Math.round(y(ns)), width - margin + 4, 1);
      const at = Math.max(7, Math.min(y(ns), last - 13));
      c.fillText(text, width - margin + 8, at);
      last = at;
    }
    if (this.sized) this.sizes(c, each, theme, style);
  }

  // draws the bytes allocated in each frame, below its time
  sizes(c, each, theme, style) {
    const most = Math.max(1, ...this.allocated.map((n) => n || 0));
    c.fillStyle = style.getPropertyValue("--soft");
    c.globalAlpha = 0.6;
    this.allocated.forEach((n, i) => {
      const high = ((n || 0) / most) * strip;
      const wide = Math.max(0.6, each - (each > 3 ? 1 : 0));
      c.fillRect(i * each, height + gap + strip - high, wide, high);
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
      const left = Math.min(
        event.offsetX + 14,
        this.width - tip.offsetWidth - 4,
      );
      tip.style.setProperty("left", left + "px");
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
    const { budget } = app.model.frames;
    const over =
      budget > 0 && f.ns > budget ? `, ${time(f.ns - budget)} over budget` : "";
    const more = [];
    if (f.bytes) more.push(`${bytes(allocatedIn(f))} allocated`);
    if (f.steps > 0) {
      const steps = plural(f.steps, "step");
      more.push(`${steps} of the collector, ${time(f.collected)}`);
    }
    const memory = more.length > 0 ? `; ${more.join(", ")}` : "";
    const out = `Frame ${count(f.n)}: ${time(f.ns)}${over}${memory}`;
    if (!app.chosen) return out;
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
  const data = model.frames;
  const chart = new Chart(app);
  const top = h("dl", { class: "facts" });
  const hint = h("p", { class: "aside" });
  const below = h("div", { class: "columns" });
  let slow;

  fill(root, top, chart.element, hint, below);

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
      rows.map(([title, text]) =>
        h("div", {}, h("dt", {}, title), h("dd", {}, text)),
      ),
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
        }).filter((column) => column.title !== "%"),
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
          title: "most self time",
          left: true,
          cell: (f) => {
            let best = -1;
            for (let i = 0; i < f.rows.length; i += 4) {
              const kind = model.functions[f.rows[i]].kind;
              if (
                kind !== "root" &&
                (best < 0 || f.rows[i + 2] > f.rows[best + 2])
              )
                best = i;
            }
            return best < 0 ? "" : named(app, model.functions[f.rows[best]]);
          },
        },
      ].filter(Boolean),
      {
        caption: title,
        limit: 20,
        row: (f) => ({
          "aria-selected": f.n >= from && f.n <= to ? "true" : null,
        }),
        choose: (f) => app.set({ frames: String(f.n) }),
      },
    );
    slow.show(list);
    return h("section", {}, h("h2", {}, title), slow.element);
  }

  function draw_compared() {
    const chosen = app.scope.frames;
    const list =
      chosen || data.list.filter((f) => data.budget > 0 && f.ns > data.budget);
    const title = chosen
      ? list.length === 1
        ? `Frame ${count(list[0].n)} and the average frame`
        : `${plural(list.length, "frame")} and the average frame`
      : list.length > 0
        ? "Frames over budget and the average frame"
        : "The average frame";
    const some = list.length > 0 ? list : data.list;
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
          "aria-selected":
            app.chosen && row.id === app.chosen.id ? "true" : null,
        }),
        choose: (row) => app.choose(model.functions[row.id]),
      },
    );
    table.show(compared(some, data.list));
    return h("section", {}, h("h2", {}, title), table.element);
  }

  function update() {
    facts();
    chart.draw();
    const share = app.chosen && app.scope.whole > 0;
    fill(
      hint,
      app.scope.frames
        ? "The other views show only the chosen frames. "
        : "Click a frame, or drag over several, to limit the other views to them. ",
      share &&
        `The dark part of each bar is ${app.chosen.name}, ` +
          `${app.share(app.scope.total[app.chosen.id])} % of the time.`,
    );
    fill(below, draw_slow(), draw_compared());
  }

  update();
  return {
    update,
    resize: () => chart.draw(),
    key: (event) => chart.key(event) || slow.key(event),
  };
}
