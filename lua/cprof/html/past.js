// The past of a live page, as a strip above the views: how busy the program was
// in each look. Choosing looks there limits all views to them.

import { between, nearest } from "./axis.js";
import { fill, h, refill, sized } from "./dom.js";
import { instant, percent, time } from "./format.js";
import { named } from "./ranged.js";

const height = 40;
// a drag over fewer pixels is a click
const least = 3;
const step = 1e7;

// A range whose ends are written in full in addresses and labels.
export const rounded = (range) =>
  range.map((ns) => Math.round(ns / step) * step);

export class Past {
  /** @type {any[]} what Recording.looks() returns */
  looks = [];
  /** @type {number[] | undefined} the range that is shown, in ns */
  range;
  /** @type {number[] | undefined} the looks from one to another, while they are
   *   chosen */
  chosen;
  /** @type {number} the look that the pointer or the keys are at; -1: none */
  cursor = -1;
  /** @type {number | undefined} the look where a choice began */
  anchor;
  /** What bars are of: CPU, where waiting is known; else the program's time, or
   *  instructions. */
  what = "CPU";
  width = 0;

  // does: choose(range), in ns; undefined: all. say(text), to a screen reader
  constructor(does) {
    this.does = does;
    this.canvas = h("canvas", {
      tabindex: "0",
      role: "img",
      "aria-label":
        "How busy the program was in the last minutes. Arrow keys go from " +
        "bar to bar, with Shift they choose a range, Enter chooses a bar, " +
        "Escape shows all figures again.",
    });
    this.marks = h("div.marks", { "aria-hidden": "true" });
    this.about = h("p.aside");
    this.element = h(
      "section.past",
      { "aria-label": "The past" },
      this.canvas,
      this.marks,
      this.about,
    );
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.element);
    new MutationObserver(() => this.draw()).observe(document.documentElement, {
      attributeFilter: ["data-theme"],
    });
  }

  // Shows looks, and the range of time that the views have.
  show(looks, range, what) {
    // looks are joined with time: the one that was pointed at is found again
    const at = this.looks[this.cursor]?.from;
    Object.assign(this, { looks, range, what });
    if (at !== undefined) {
      this.cursor = nearest(
        looks.map(({ from }) => from),
        at,
      );
    }
    const last = looks.length - 1;
    this.cursor = Math.min(this.cursor, last);
    this.anchor = this.anchor && Math.min(this.anchor, last);
    this.chosen = this.chosen?.map((i) => Math.min(i, last));
    this.canvas.dataset.looks = String(looks.length);
    this.draw();
  }

  get ends() {
    const { looks } = this;
    return [looks[0].from, looks[looks.length - 1].to];
  }

  x(ns) {
    const [from, to] = this.ends;
    return ((ns - from) / Math.max(to - from, 1)) * this.width;
  }

  // The look at a place of the canvas.
  at(x) {
    const [from, to] = this.ends;
    const ns = from + (x / Math.max(this.width, 1)) * (to - from);
    const i = this.looks.findIndex((look) => ns < look.to);
    return i < 0 ? this.looks.length - 1 : i;
  }

  draw() {
    const width = this.canvas.clientWidth;
    // its place is there from the beginning, so that nothing moves later
    if (this.looks.length === 0)
      this.about.textContent =
        "No past yet: it begins when this page is opened.";
    if (width === 0 || this.looks.length === 0) return;
    const { canvas } = this;
    this.width = width;
    const c = sized(canvas, width, height);
    const style = getComputedStyle(canvas);
    const color = (name) => style.getPropertyValue(name);
    for (const { from, to, cpu, waiting } of this.looks) {
      const x = this.x(from);
      const w = this.x(to) - x;
      c.fillStyle = color("--hot");
      c.fillRect(x, height * (1 - cpu), w, height * cpu);
      c.fillStyle = color("--cool");
      c.fillRect(x, height * (1 - cpu - waiting), w, height * waiting);
    }
    this.shade(c, color("--accent"));
    this.mark();
    this.tell();
  }

  // shades the chosen range, or the one that is being chosen
  shade(c, color) {
    const box = (from, to, alpha) => {
      const [x, end] = [this.x(from), this.x(to)];
      c.globalAlpha = alpha;
      c.fillRect(x, 0, end - x, height);
      c.globalAlpha = 1;
      c.fillRect(x - 1, 0, 2, height);
      c.fillRect(end - 1, 0, 2, height);
    };
    c.fillStyle = color;
    const range = this.chosen ? this.of(this.chosen) : this.range;
    if (range) box(range[0], range[1], 0.3);
    const look = this.looks[this.cursor];
    if (look && !this.chosen) box(look.from, look.to, 0.15);
  }

  // the marks of the axis
  mark() {
    const [from, to] = this.ends;
    const { marks, step: apart } = between(from, to, this.width / 80);
    fill(
      this.marks,
      marks
        .filter((ns) => this.x(ns) < this.width - 30)
        .map((ns) =>
          h(
            "span",
            { style: { left: `${this.x(ns).toFixed(1)}px` } },
            instant(ns, apart),
          ),
        ),
    );
  }

  // The range of some looks.
  of(chosen) {
    const { looks } = this;
    const [from, to] = chosen;
    return [looks[from].from, looks[to].to];
  }

  // A look in words.
  said(i) {
    const { from, to, cpu, waiting } = this.looks[i];
    const share = (part) => `${percent(part, 1)} %`;
    const told =
      this.what === "instructions"
        ? `${share(cpu)} of the most instructions`
        : `${this.what} ${share(cpu)}`;
    const waits = waiting > 0 ? `, waiting ${share(waiting)}` : "";
    return `${named(rounded([from, to]))}: ${told}${waits}`;
  }

  tell() {
    const { looks, cursor } = this;
    const [from, to] = this.ends;
    const length = (look) => look.to - look.from;
    const [first, last] = [looks[0], looks[looks.length - 1]].map(length);
    const swatch = (kind, text) =>
      h("span.key", h("span", { class: `swatch ${kind}` }), text);
    refill(
      this.about,
      swatch("program", this.what),
      this.what === "CPU" && swatch("waiting", "waiting"),
      h(
        "span.told",
        cursor >= 0
          ? this.said(cursor)
          : `The last ${time(to - from)}, of what this page has seen since it ` +
              "was opened. A bar is the time between two refreshes" +
              (first > 2 * last
                ? `; older ones are joined, up to ${time(Math.max(...looks.map(length)))}`
                : "") +
              ". A click or a drag chooses the time that all figures are of.",
      ),
    );
  }

  choose(looks) {
    if (this.looks.length === 0) return;
    this.does.choose(looks && rounded(this.of(looks)));
  }

  point(i) {
    this.cursor = i;
    this.draw();
  }

  // the looks from the one where a choice began to another one
  span(i) {
    const from = this.anchor ?? i;
    return [Math.min(from, i), Math.max(from, i)];
  }

  listen() {
    const { canvas } = this;
    /** @type {number[] | undefined} where dragging began, in pixels and ns */
    let begun;
    const dragged = (event) => {
      if (this.looks.length === 0) return;
      const i = this.at(event.offsetX);
      if (!begun) return this.point(i);
      // looks may have come, or been joined, meanwhile
      const [x, ns] = begun;
      this.anchor = this.at(this.x(ns));
      const drags = Math.abs(event.offsetX - x) >= least;
      this.chosen = drags ? this.span(i) : [this.anchor, this.anchor];
      this.point(i);
    };
    const ended = () => {
      begun = this.anchor = this.chosen = undefined;
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || this.looks.length === 0) return;
      const i = this.at(event.offsetX);
      const { from, to } = this.looks[i];
      begun = [event.offsetX, (from + to) / 2];
      canvas.setPointerCapture(event.pointerId);
      dragged(event);
    });
    canvas.addEventListener("pointermove", dragged);
    canvas.addEventListener("pointerup", (event) => {
      if (!begun) return;
      dragged(event);
      const { chosen } = this;
      ended();
      this.choose(chosen);
    });
    canvas.addEventListener("pointercancel", () => {
      ended();
      this.point(-1);
    });
    for (const type of ["pointerleave", "blur"]) {
      canvas.addEventListener(type, () => !begun && this.point(-1));
    }
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (this.looks.length === 0) return;
    const last = this.looks.length - 1;
    const now = this.cursor < 0 ? last + 1 : this.cursor;
    const to = {
      ArrowLeft: Math.max(0, now - 1),
      ArrowRight: Math.min(last, now + 1),
      Home: 0,
      End: last,
    }[event.key];
    if (to !== undefined) {
      if (!event.shiftKey) this.anchor = undefined;
      else this.anchor ??= Math.min(now, last);
      this.point(to);
      this.does.say(this.said(to));
      if (event.shiftKey) this.choose(this.span(to));
    } else if (event.key === "Enter" && this.cursor >= 0) {
      this.choose([this.cursor, this.cursor]);
    } else if (event.key === "Escape" && this.range) this.choose(undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
