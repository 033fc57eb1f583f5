// Tables of figures, which can be sorted and walked by keys. Of long tables,
// only the first rows are shown.

import { bar, button, h, refill } from "./dom.js";
import { count, plural, tail } from "./format.js";

const step = 200;

// On a phone, names come before figures.
export function ordered(columns) {
  if (innerWidth > 480) return columns;
  const first = columns.find((column) => column.left);
  return first ? [first, ...columns.filter((c) => c !== first)] : columns;
}

/**
 * A table for people who cannot see the picture above it; made when opened.
 * @param {(box: HTMLElement) => void} make  fills the box
 */
export function asTable(make) {
  const box = h("div");
  const element = h(
    "details.astable",
    { ontoggle: () => make(box) },
    h("summary", "As a table"),
    box,
  );
  return { element, box, draw: () => element.open && make(box) };
}

export function classOf(column) {
  return [column.left && "left", column.class].filter(Boolean).join(" ");
}

/**
 * @typedef {object} Column
 * @property {string} [key]  its name when the table is sorted by it
 * @property {string} title
 * @property {string} [hint]
 * @property {string} [class]
 * @property {boolean} [left]  is it aligned to the left?
 * @property {(row: any) => any} [value]  a number or a string to sort by;
 *   without it, the column does not sort
 * @property {(row: any) => any} cell  its content
 */

// options: caption; limit: rows at first; none: text of an empty table; sort:
// { key, up }; order(column): sorts by it; row(row): properties of the row's
// element; choose(row); key(row): identifies the row when it is redrawn
export class Table {
  constructor(columns = [], options = {}) {
    this.limit = options.limit || step;
    this.caption = h("caption.hidden");
    this.change(columns, options);
    this.body = h("tbody");
    this.headRow = h("tr");
    this.more = h("button.more", {
      type: "button",
      onclick: () => this.extend(),
    });
    this.element = h(
      "div.tablebox",
      h("table.figures", this.caption, h("thead", this.headRow), this.body),
      this.more,
    );
  }

  // Changes columns and options, for the next show().
  change(columns, options) {
    this.columns = ordered(columns);
    this.options = options;
    this.caption.textContent = options.caption;
  }

  extend() {
    const from = this.limit;
    this.limit += step * 5;
    this.draw();
    this.body.children[from]?.focus();
  }

  head() {
    const { sort, order } = this.options;
    const cells = this.columns.map((column) => {
      const label = column.title;
      const sorted = sort && sort.key === column.key;
      return h(
        "th",
        {
          scope: "col",
          class: classOf(column),
          title: column.hint,
          "aria-sort": sorted ? (sort.up ? "ascending" : "descending") : null,
        },
        order && column.value ? button(label, () => order(column)) : label,
      );
    });
    refill(this.headRow, cells);
  }

  show(rows) {
    this.rows = rows;
    this.draw();
  }

  line(row) {
    const { choose, key } = this.options;
    const given = this.options.row ? this.options.row(row) : {};
    return h(
      "tr",
      {
        key: key && key(row),
        tabindex: choose ? "-1" : null,
        onclick: choose && (() => choose(row)),
        ...given,
      },
      this.columns.map((column) =>
        h("td", { class: classOf(column) }, column.cell(row)),
      ),
    );
  }

  draw() {
    this.head();
    const { rows, limit } = this;
    const lines = rows.slice(0, limit).map((row) => this.line(row));
    if (lines.length === 0) {
      const what = this.options.none || "Nothing.";
      const width = String(this.columns.length);
      lines.push(h("tr", h("td.left", { colspan: width }, what)));
    } else if (this.options.choose) {
      const chosen = lines.find((tr) => tr.getAttribute("aria-selected"));
      (chosen || lines[0]).tabIndex = 0;
    }
    refill(this.body, lines);
    const left = rows.length - limit;
    this.more.hidden = left <= 0;
    this.more.textContent = plural(left, "more row");
  }

  // Handles a key; true: the key was for the table.
  key(event) {
    const active = document.activeElement;
    /** @type {any} */
    let row = active && this.body.contains(active) && active.closest("tr");
    if (event.key === "ArrowDown") {
      row = row
        ? row.nextElementSibling
        : this.body.querySelector("[tabindex='0']");
    } else if (event.key === "ArrowUp" && row) {
      row = row.previousElementSibling;
    } else if (event.key === "Enter" && row && active === row) {
      row.click();
      return true;
    } else return false;
    if (!row || !row.hasAttribute("tabindex")) return event.key !== "ArrowUp";
    for (const tr of this.body.querySelectorAll("[tabindex='0']")) {
      tr.tabIndex = -1;
    }
    row.tabIndex = 0;
    row.focus();
    return true;
  }
}

// The column of calls or samples, if the profile has them. What runs in a range
// of time may have been called before.
/** @returns {Column[]} */
export function counting(model, get, more = {}) {
  if (!model.counted) return [];
  const before = model.range && !model.sampled;
  const cell = (row) => {
    const n = get(row);
    if (n === 0 && before) {
      const title = "The call began before the range, and went on in it";
      return h("span", { title }, "earlier");
    }
    return n === undefined ? "" : count(n);
  };
  return [{ title: model.counted, cell, ...more }];
}

// The columns of a figure: the figure, its share, and a bar. `get` returns a
// row's [figure, upper bound], or undefined. `of`: the figure that is 100 %;
// `samples`: the number of samples behind that; `waits`: which part of a row's
// figure is waiting, see bar().
/** @returns {Column[]} */
export function amount(app, options) {
  const { key, title, hint, of, samples, get, bar: kind } = options;
  const value = key && ((row) => (get(row) || [0])[0]);
  const whole = of === undefined ? app.scope.whole : of;
  return [
    {
      key,
      title,
      hint,
      value,
      cell: (row) => {
        const [n, most] = get(row) || [];
        return n === undefined ? "" : app.amount(n, most);
      },
    },
    {
      title: "%",
      class: "percent",
      cell: (row) => {
        const [n, most] = get(row) || [];
        return n === undefined
          ? ""
          : app.share(n, whole, samples, undefined, most);
      },
    },
    {
      title: "",
      class: "bars",
      cell: (row) => {
        const [n] = get(row) || [];
        const waits = options.waits?.(row) || 0;
        return n === undefined ? "" : bar(n / whole, kind || key, waits);
      },
    },
  ];
}

// Which part of a figure is waiting, from 0 to 1. `wait`: how long, if known.
export function waiting({ scope }, wait, n) {
  if (scope.measure) return scope.measure === "wait" ? 1 : 0;
  return wait > 0 && n > 0 ? wait / n : 0;
}

// A figure of a function in the scope, and its upper bound.
export function figureOf(app, f, key) {
  const { scope } = app;
  return [scope[key][f.id], scope[key + "Most"]?.[f.id]];
}

// A function's name in a table: a link that chooses it.
export function named(app, f, view) {
  const change = { function: f.title, line: undefined };
  if (view) change.view = view;
  return [
    h(
      "a",
      {
        class: "name kind-" + f.kind,
        title: f.title,
        href: app.link(change),
        tabindex: "-1",
        onclick: (event) => event.stopPropagation(),
      },
      f.name,
    ),
  ];
}

// A file and, if it is known, a line.
export const at = (place, line) => (line ? `${place}:${line}` : place);

// Where a function is defined; brief: without the folder.
export function placed(f, brief) {
  if (f.place) {
    const place = brief ? f.place.slice(f.place.lastIndexOf("/") + 1) : f.place;
    return h(
      "span.place",
      { title: at(f.place, f.line) },
      at(tail(place, brief ? 24 : 48), f.line),
    );
  }
  return h("span.place", f.kind === "C" ? "[C]" : f.kind);
}
