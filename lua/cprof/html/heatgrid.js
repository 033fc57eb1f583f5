// The cells of a heatmap on a canvas: time goes down a column, and on from
// column to column. Only the columns in view are drawn.

import { palette } from "./colors.js";
import { fill, h, placeTip, sized } from "./dom.js";
import { percent } from "./format.js";
import { named, told } from "./ranged.js";
import { notable } from "./stretches.js";

const second = 1e9;

/**
 * Seconds of a column, and its cells.
 * @type {[number, number][]}
 */
const lengths = [
  ...[0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10].map((s) => [s, 50]),
  ...[30, 60, 300, 600, 1800, 3600, 7200].map((s) => [s, 60]),
  ...[14400, 86400].map((s) => [s, 48]),
].map(([s, rows]) => [s, rows]);

const left = 54;
const top = 20;
const bottom = 4;
const narrowest = 6;
const widest = 40;
const most = 20000;

// A length of time that is a round number.
export function round(ns) {
  return ns < second ? `${Number((ns / 1e6).toPrecision(6))} ms` : told(ns);
}

const columnsIn = ({ begins, wall }, column) =>
  Math.max(1, Math.ceil(wall / column) - Math.floor(begins / column));

// Would a cell have this many samples if the program always computed? A slice
// counts as 20 samples, as many as the shortest cell has.
const enough = (axis, [seconds, rows], samples) =>
  (seconds * second) / rows >=
  samples * (axis.mean > 0 ? axis.mean : (axis.slice * 0.999) / 20);

// The length of a column in ns, and its cells: those that were asked for, in
// seconds, or the shortest that fit into a width.
export function divided(axis, width, wanted) {
  const given = lengths.find(
    ([s]) => s === wanted && choices(axis).includes(s),
  );
  const fits = (length) =>
    enough(axis, length, 20) &&
    columnsIn(axis, length[0] * second) * narrowest <= width - left;
  const found = given || lengths.find(fits) || lengths[lengths.length - 1];
  return { column: found[0] * second, rows: found[1] };
}

// The lengths of columns that a user can choose, in seconds.
export function choices(axis) {
  return [1, 60, 3600, 86400].filter((s) => {
    const length = lengths.find(([n]) => n === s);
    return (
      length &&
      s * second < 2 * axis.wall &&
      columnsIn(axis, s * second) <= most &&
      enough(axis, length, 5)
    );
  });
}

export class Grid {
  /** @type {any} the cells' figures */
  cells;
  /** @type {number[] | undefined} the range that is shown, in ns */
  range;
  /** @type {number[] | undefined} the range it is compared with */
  against;
  /** @type {any} which nodes the search has found */
  of;
  /** @type {any} `of`, when the cells were made */
  counted;
  // ns, and when the first cell begins
  ns = 0;
  column = 0;
  from = 0;
  rows = 1;
  columns = 1;
  // pixels
  width = 0;
  height = 0;
  cellWidth = narrowest;
  cellHeight = 6;
  /** Where the cursor is. */
  cursor = -1;
  /** @type {number | undefined} the cell where a choice by mouse or keys began */
  anchor;
  /** @type {any} */
  waiting;
  /** @type {any} */
  context;

  // options: chosen(range, second): a range was chosen, as the second one if
  // Shift was held; scale(): the length of a column that is asked for
  constructor(app, moments, options) {
    this.app = app;
    this.moments = moments;
    this.axis = moments.axis;
    this.options = options;
    this.canvas = h("canvas.heat", {
      tabindex: "0",
      role: "img",
      "aria-label":
        "CPU time over time. Arrow keys go from cell to cell, with Shift they " +
        "choose a range, Enter chooses a cell, b compares with the range. " +
        "What stands out is in a table below.",
    });
    this.wide = h("div.heatwide", this.canvas);
    this.scroller = h("div.heatscroll", this.wide);
    this.tip = h("div.tip", { hidden: true });
    this.element = h("div.iciclebox", this.scroller, this.tip);
    this.listen();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.element);
  }

  close() {
    this.observer.disconnect();
    cancelAnimationFrame(this.waiting);
  }

  // {====================================================
  // Time and cells
  // =====================================================

  // Divides time into cells again, for another width, scale or search.
  measure() {
    const width = this.element.clientWidth;
    if (width === 0) return false;
    const { axis } = this;
    const { column, rows } = divided(axis, width, this.options.scale());
    const from = Math.floor(axis.begins / column) * column;
    const columns = columnsIn(axis, column);
    const ns = column / rows;
    if (
      !this.cells ||
      this.ns !== ns ||
      this.rows !== rows ||
      this.counted !== this.of
    ) {
      this.cells = this.moments.cells(from, ns, columns * rows, this.of);
      this.counted = this.of;
      if (this.ns !== ns) this.cursor = -1;
    }
    Object.assign(this, { width, column, rows, from, columns, ns });
    const room = (width - left) / columns;
    this.cellWidth = Math.max(narrowest, Math.min(widest, Math.floor(room)));
    this.cellHeight = width < 500 ? 5 : 6;
    this.height = top + rows * this.cellHeight + bottom;
    return true;
  }

  // The range of cells, in ns, as far as there is a recording.
  rangeOf(a, b = a) {
    const { from, ns, axis } = this;
    return [
      Math.max(from + Math.min(a, b) * ns, axis.begins),
      Math.min(from + (Math.max(a, b) + 1) * ns, axis.wall),
    ];
  }

  // the first and the last cell of a range
  cellsOf(range) {
    const [from, to] = range;
    const at = (ns) => (ns - this.from) / this.ns;
    return [
      Math.max(0, Math.floor(at(from) + 1e-6)),
      Math.min(this.count - 1, Math.ceil(at(to) - 1e-6) - 1),
    ];
  }

  get count() {
    return this.columns * this.rows;
  }

  // The ns of a cell without pauses, and in how much of them others had the
  // processor; the share that is shown; and was anything recorded?
  cell(i) {
    const [from, to] = this.rangeOf(i);
    const { run, wait, paused, lost } = this.cells;
    const there = Math.max(0, to - from - paused[i]);
    const took = this.of ? run[i] + wait[i] : run[i];
    const share = there > 0 ? Math.min(took / there, 1) : 0;
    return { there, lost: lost[i], share, recorded: there > lost[i] };
  }

  // The share that is shown of a range, and in which share of it others had the
  // processor.
  sums(range) {
    const [a, b] = this.cellsOf(range);
    let [all, took, lost] = [0, 0, 0];
    for (let i = a; i <= b; i++) {
      const cell = this.cell(i);
      all += cell.there;
      took += cell.there * cell.share;
      lost += cell.lost;
    }
    return all > 0 ? [took / all, Math.min(lost / all, 1)] : [0, 0];
  }

  // The cell at a place of the canvas.
  at(x, y) {
    const { cellWidth, cellHeight, rows, columns } = this;
    const clamp = (n, to) => Math.max(0, Math.min(n, to - 1));
    const offset = x - left + this.scroller.scrollLeft;
    const column = clamp(Math.floor(offset / cellWidth), columns);
    const row = clamp(Math.floor((y - top) / cellHeight), rows);
    return column * rows + row;
  }

  // A range in words.
  said(range) {
    const what = this.of ? "found" : "CPU";
    const [share, lost] = this.sums(range);
    return (
      `${named(range)}: ${what} ${percent(share, 1)} %` +
      (lost >= notable ? `, preempted ${percent(lost, 1)} %` : "")
    );
  }

  // }====================================================

  // {====================================================
  // Drawing
  // =====================================================

  resize() {
    if (!this.measure()) return;
    const { canvas, width, height } = this;
    const all = left + this.columns * this.cellWidth + 1;
    this.context = sized(canvas, width, height);
    canvas.style.setProperty("width", width + "px");
    canvas.style.setProperty("height", height + "px");
    this.wide.style.setProperty("width", Math.max(all, width) + "px");
    this.paint();
  }

  draw() {
    cancelAnimationFrame(this.waiting);
    if (this.app.printing) return this.paint();
    this.waiting = requestAnimationFrame(() => this.paint());
  }

  // where a column is on the canvas
  x(column) {
    return left + column * this.cellWidth - this.scroller.scrollLeft;
  }

  paint() {
    const { context: c, rows, columns, cellWidth, cellHeight } = this;
    if (!this.cells || !c) return;
    const theme = palette(this.app.isDark());
    const color = this.of ? theme.lit : theme.cell;
    const shades = Array.from({ length: 9 }, (_, i) => color(i / 8));
    c.clearRect(0, 0, this.width, this.height);
    c.save();
    c.beginPath();
    c.rect(left - 2, 0, this.width, this.height);
    c.clip();
    const scrolled = this.scroller.scrollLeft / cellWidth;
    const first = Math.max(0, Math.floor(scrolled));
    const last = Math.min(
      columns,
      Math.ceil(scrolled + (this.width - left) / cellWidth),
    );
    for (let i = first * rows; i < last * rows; i++) {
      const { recorded, share } = this.cell(i);
      if (!recorded) continue;
      const x = this.x(Math.floor(i / rows));
      c.fillStyle = shades[Math.ceil(share * 8 - 1e-9)];
      c.fillRect(
        x,
        top + (i % rows) * cellHeight,
        cellWidth - 1,
        cellHeight - 1,
      );
    }
    this.outline(c, this.against, theme.dim, true);
    this.outline(c, this.range, theme.mark, false);
    if (this.cursor >= 0) {
      c.strokeStyle = theme.text;
      c.lineWidth = 2;
      c.strokeRect(
        this.x(Math.floor(this.cursor / rows)) - 1,
        top + (this.cursor % rows) * cellHeight - 1,
        cellWidth + 1,
        cellHeight + 1,
      );
    }
    this.times(c, theme, first, last);
    c.restore();
    this.offsets(c, theme);
  }

  // the outline of the cells of a range
  outline(c, range, color, dashed) {
    if (!range) return;
    const { rows, cellHeight, cellWidth } = this;
    const [a, b] = this.cellsOf(range);
    const y = (row) => top + row * cellHeight - 0.5;
    const [c0, c1] = [Math.floor(a / rows), Math.floor(b / rows)];
    const [r0, r1] = [a % rows, (b % rows) + 1];
    const [x0, x1] = [this.x(c0) - 0.5, this.x(c1) - 0.5];
    const path =
      c0 === c1
        ? [
            [x0, y(r0)],
            [x0 + cellWidth, y(r0)],
            [x0 + cellWidth, y(r1)],
            [x0, y(r1)],
          ]
        : [
            [x0, y(r0)],
            [x0 + cellWidth, y(r0)],
            [x0 + cellWidth, y(0)],
            [x1 + cellWidth, y(0)],
            [x1 + cellWidth, y(r1)],
            [x1, y(r1)],
            [x1, y(rows)],
            [x0, y(rows)],
          ];
    c.beginPath();
    for (const [x, at] of path) c.lineTo(x, at);
    c.closePath();
    c.globalAlpha = dashed ? 0 : 0.16;
    c.fillStyle = color;
    c.fill();
    c.globalAlpha = 1;
    c.strokeStyle = color;
    c.lineWidth = 2;
    c.setLineDash(dashed ? [4, 3] : []);
    c.stroke();
    c.setLineDash([]);
  }

  // the time at which columns begin
  times(c, theme, first, last) {
    const { from, column, cellWidth } = this;
    c.font = "11px " + getComputedStyle(this.canvas).getPropertyValue("--ui");
    c.textBaseline = "middle";
    c.textAlign = "left";
    c.fillStyle = theme.dim;
    const every =
      [1, 2, 5, 10, 20, 30, 60, 100].find((n) => n * cellWidth >= 64) || 100;
    for (let i = Math.ceil(first / every) * every; i < last; i += every) {
      const text = told(from + i * column);
      if (this.x(i) + c.measureText(text).width > this.width) break;
      c.fillText(text, this.x(i), top / 2);
    }
  }

  // the time of rows since their column began
  offsets(c, theme) {
    c.fillStyle = theme.dim;
    c.textAlign = "right";
    for (let row = 0; row < this.rows; row += this.rows / 5) {
      const y = top + (row + 0.5) * this.cellHeight;
      c.fillText(row === 0 ? "0" : round(row * this.ns), left - 8, y);
    }
  }

  // }====================================================

  // {====================================================
  // Mouse and keys
  // =====================================================

  // Shows what is at a cell, or about a range.
  tell(i, range) {
    this.tip.hidden = i < 0;
    if (i < 0) return;
    fill(this.tip, this.said(range));
    const x = this.x(Math.floor(i / this.rows)) + this.cellWidth + 10;
    const y = top + (i % this.rows) * this.cellHeight + 12;
    placeTip(this.tip, x, y, this.width, this.cellWidth + 24);
  }

  listen() {
    const { canvas } = this;
    /** @type {any} */
    let drag;
    const cellOf = (event) => this.at(event.offsetX, event.offsetY);
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      drag = { from: cellOf(event), second: event.shiftKey };
      drag.before = [this.range, this.against];
      canvas.setPointerCapture(event.pointerId);
      this.cursor = -1;
      this.show(drag, cellOf(event));
    });
    canvas.addEventListener("pointermove", (event) => {
      const i = cellOf(event);
      if (drag) this.show(drag, i);
      this.tell(i, this.rangeOf(drag ? drag.from : i, i));
    });
    canvas.addEventListener("pointerup", (event) => {
      if (!drag) return;
      const range = this.rangeOf(drag.from, cellOf(event));
      const { second: other } = drag;
      drag = undefined;
      this.options.chosen(range, other);
    });
    canvas.addEventListener("pointercancel", () => {
      if (drag) [this.range, this.against] = drag.before;
      drag = undefined;
      this.draw();
    });
    canvas.addEventListener("pointerleave", () => this.tell(-1));
    canvas.addEventListener("blur", () => {
      this.cursor = -1;
      this.anchor = undefined;
      this.tell(-1);
      this.draw();
    });
    this.scroller.addEventListener("scroll", () => this.draw());
  }

  // Shows a range while it is chosen.
  show({ from, second: other }, to) {
    this[other ? "against" : "range"] = this.rangeOf(from, to);
    this.draw();
  }

  // Scrolls to a cell.
  reveal(i) {
    const { scroller, cellWidth } = this;
    const x = Math.floor(i / this.rows) * cellWidth;
    const room = this.width - left - cellWidth;
    if (x < scroller.scrollLeft) scroller.scrollLeft = x;
    else if (x > scroller.scrollLeft + room) scroller.scrollLeft = x - room;
  }

  key(event) {
    if (document.activeElement !== this.canvas || !this.cells) return false;
    const { rows, count } = this;
    const [begin] = this.range ? this.cellsOf(this.range) : [0];
    const now = this.cursor < 0 ? begin : this.cursor;
    const by = {
      ArrowUp: -1,
      ArrowDown: 1,
      ArrowLeft: -rows,
      ArrowRight: rows,
    }[event.key];
    const ends = { Home: 0, End: this.cellsOf([0, this.axis.wall])[1] };
    const to = ends[event.key];
    if (by === undefined && to === undefined) {
      if (event.key !== "Enter" && event.key !== " ") return false;
      this.options.chosen(this.rangeOf(now), false);
      return true;
    }
    const first = this.cursor < 0 && to === undefined && !event.shiftKey;
    const next = first ? now : (to ?? now + by);
    if (
      next < 0 ||
      next >= count ||
      this.rangeOf(next)[1] <= this.rangeOf(next)[0]
    )
      return true;
    this.cursor = next;
    this.reveal(next);
    if (event.shiftKey) {
      this.anchor ??= now;
      this.options.chosen(this.rangeOf(this.anchor ?? next, next), false, true);
    } else this.anchor = undefined;
    const range = this.rangeOf(this.anchor ?? next, next);
    this.tell(next, range);
    this.app.say(this.said(range));
    this.draw();
    return true;
  }

  // }====================================================
}
