// Sources with heat and figures beside each line.

import { bar, button, choice, fill, h, refill, sized, toggle } from "./dom.js";
import { opener } from "./editor.js";
import { allLabels, lacks } from "./facts.js";
import { bytes, count, plural, short } from "./format.js";
import { kinds } from "./filters.js";
import { beside, coverage, hot, hottest } from "./lines.js";
import { cut, highlight } from "./lua.js";
import { measures, ofLines } from "./measures.js";

// lines per block; a block is made when it is about to be scrolled to
const block = 200;
const rowHeight = 20;
// how far a key scrolls long lines sideways
const sideways = 80;

// What makes a line hot: "self" is with that of C functions.
const heatOf = (line, heat) => line[heat === "self" ? "spent" : heat];

// Do lines have this measure?
const inLines = (key) => measures[key]?.lines === key;

// The part of a line's or source's heat that is waiting, 0 to 1.
function waitsOf(of, heat) {
  if (heat === "wait") return 1;
  return heat === "self" && of?.wait > 0 ? of.wait / of.spent : 0;
}

// The field of lines that a heat's shares are about: "spent" is self time
// with that of C functions; else another measure.
const kindOf = (heat) => (measures[heat] ? heat : "spent");

// lines show times, whatever measure is chosen for other views
const amountOf = (app, n, most = n) =>
  (most > n ? "<" : "") + app.time(Math.max(n, most));

// The share of n in the scope, in percent. most: the upper bound of n.
function shareOf(app, kind, n, most) {
  const measure = kind === "spent" ? null : kind;
  const { counted } = app.model.scope({ ...app.state, measure: null });
  const whole = app.model.wholeOf(app.state, measure);
  return app.share(n, whole, counted, measure, most);
}

// The columns beside a source: title, hint, width, cell(line, listing) for
// their text. `spare` columns are shown only if there is room.
const number = { title: "line", hint: "", width: 46 };
const hits = {
  title: "hits",
  hint: "How often the line was reached",
  width: 58,
  cell: (line) => short(line.hits),
};
const share = {
  title: "%",
  hint: "Share of the whole program",
  width: 44,
  class: "percent",
  cell: (line, { app, options }) => {
    const kind = kindOf(options.heat);
    const most = kind === "spent" ? line.spentMost : line[kind];
    return most > 0 ? shareOf(app, kind, line[kind], most) : "";
  },
};
const heat = {
  title: "heat",
  hint: "",
  width: 48,
  cell: (line, listing) => {
    const part = listing.heatOf(line);
    return part > 0 ? bar(part, "heat", listing.waitsOf(line)) : "";
  },
};
const self = {
  title: "self",
  hint: "Time on the line itself",
  width: 68,
  cell: (line, { app }) =>
    line.selfMost > 0 ? amountOf(app, line.self, line.selfMost) : "",
};
const inC = {
  title: "in C",
  hint: "Time in C functions called from the line",
  width: 62,
  cell: (line, { app }) => (line.inC > 0 ? amountOf(app, line.inC) : ""),
};
const called = {
  title: "callees",
  hint: "Time of the calls made from the line, without the line itself",
  width: 68,
  spare: true,
  cell: (line, { app }) =>
    line.totalMost > 0 ? amountOf(app, line.total, line.totalMost) : "",
};
const timed = [
  number,
  hits,
  self,
  inC,
  share,
  heat,
  {
    title: "per hit",
    hint: "Self divided by hits",
    width: 68,
    spare: true,
    cell: ({ hits: n, self: own, selfMost }, { app }) =>
      n > 0 && selfMost > 0 ? amountOf(app, own / n, selfMost / n) : "",
  },
  {
    title: "calls",
    hint: "Calls made from the line",
    width: 56,
    spare: true,
    cell: (line) => (line.calls > 0 ? short(line.calls) : ""),
  },
  called,
];
const counted = [
  number,
  { ...hits, width: 64 },
  {
    ...self,
    title: "instructions",
    hint: "Instructions that ran on the line",
    width: 88,
  },
  share,
  heat,
];
const uncertain = { ...share, width: 84 };
const sampled = [number, self, inC, uncertain, heat, called];
const joined = timed.map((column) => (column === share ? uncertain : column));

// The column for another measure than wall time, which lines have.
function other(key) {
  const { column: title, line: hint, unit } = measures[key];
  return {
    key,
    title,
    hint,
    width: unit === "count" ? 56 : 68,
    spare: unit === "count",
    cell: (line, { app }) => {
      const n = line[key];
      if (!(n > 0)) return "";
      if (unit === "ns") return amountOf(app, n);
      return unit === "bytes" ? bytes(n) : short(n);
    },
  };
}

function timesOf(model) {
  if (model.sampled) return sampled;
  if (model.samples) return joined;
  return model.unit === "ns" ? timed : counted;
}

// The columns for a kind of heat; its share and bar follow its figure.
function columnsOf(model, kind) {
  const own = timesOf(model);
  // CPU time has no column of its own: it is the time minus waiting
  const more = model.measures
    .filter((key) => inLines(key) && key !== "cpu")
    .map(other);
  if (kind === "spent") return [...own, ...more];
  const before = own.filter((c) => !c.spare && c !== heat && c.title !== "%");
  const shown = { ...other(kind), spare: false };
  // samples tell what is in use also where times are exact
  const percent =
    kind === "live" ? uncertain : own.find((c) => c.title === "%");
  const rest = more.filter((c) => c.key !== kind);
  return [...before, shown, percent, heat, ...rest];
}

// On a phone, the source has the room: only these stand beside it.
const brief = (column) => column === number || column.title === "%";
const room = (column) =>
  [column.spare && "spare", brief(column) ? "" : "extra"]
    .filter(Boolean)
    .join(" ");

const widths = (list) => list.map((column) => column.width + "px").join(" ");

/**
 * The hint of a part of a line, and the part's heat.
 * @returns {[string, number]}
 */
function toldPart(app, part, most) {
  if (app.model.sampled) {
    const share = shareOf(app, "spent", part.count);
    const text = `${app.time(part.count)}, ${share} %`;
    return [text, Math.sqrt(part.count / most)];
  }
  return [
    part.count === 0 ? "never ran" : `ran ${plural(part.count, "time")}`,
    Math.log1p(part.count) / Math.log1p(most),
  ];
}

function tags(list, app, expressions, columns) {
  return list.map(([kind, s, at]) => {
    const part = columns?.find((e) => at >= e.from && at < e.to);
    if (!part) return kind ? h("span", { class: kind }, s) : s;
    const [title, heat] = toldPart(app, part, expressions.most || 1);
    const classes = [kind, part.count === 0 ? "never" : "part"].join(" ");
    return h(
      "span",
      { class: classes, title, style: { "--heat": heat.toFixed(2) } },
      s,
    );
  });
}

function expressionsOf(source) {
  const out = new Map();
  const list = source.expressions || [];
  let most = 0;
  for (let i = 0; i < list.length; i += 5) {
    const [line, column, last_line, last_column, n] = list.slice(i, i + 5);
    const to = last_line > line ? Infinity : last_column;
    const own = out.get(line) || [];
    own.push({ from: column - 1, to, count: n });
    out.set(line, own);
    if (n > most) most = n;
  }
  return { of: out, most };
}

// by line: the ways of its branches that never happened
function branchesOf(source) {
  const out = new Map();
  for (const [line, , kind, x, xs, y, ys] of source.branches || []) {
    if (xs > 0 && ys > 0) continue;
    const never =
      xs === 0 && ys === 0 ? "never evaluated" : `never ${xs === 0 ? x : y}`;
    const own = out.get(line) || [];
    own.push(`${kind}: ${never}`);
    out.set(line, own);
  }
  return out;
}

// What heat is relative to: its value in the address, its title, what it means.
const scales = [
  [undefined, "Project", "Relative to the hottest line of all files"],
  ["file", "File", "Relative to the hottest line of the file"],
];

// Is a file installed for several programs, so that it is not part of this one?
const installed =
  /(^|[\\/])(share|lib)[\\/]lua[\\/]\d|[\\/]?(\.luarocks|lua_modules|luarocks)[\\/]/;

// A figure of a line in the unit of a heat.
function figureOfHeat(app, heat, n) {
  const { unit } = measures[heat] || {};
  if (heat === "hits" || unit === "count") return count(n);
  return unit === "bytes" ? bytes(n) : app.time(n);
}

// pixels beside the text of a line
const padding = 18;

class Listing {
  /** @type {number | undefined} characters of the longest line */
  longest;
  /** @type {any} figures of parts of lines; undefined: none are shown */
  expressions;
  /** @type {any[]} blocks of lines: all elements of a block are made at once */
  blocks = [];
  /** @type {any} by line: texts about its branches */
  branches = new Map();
  /** @type {any} the observer that makes blocks near the visible part */
  observer;
  /** @type {any} */
  element;

  constructor(app, source, options) {
    this.app = app;
    this.source = source;
    this.options = options;
    this.columns = columnsOf(app.model, kindOf(options.heat));
    this.pieces = highlight(source.text);
    this.height = Math.max(source.text.length, source.active.length);
    this.figure();
    this.build();
  }

  // reads the source's figures of lines, their parts and branches
  figure() {
    const { source, options } = this;
    this.expressions =
      options.parts && source.expressions ? expressionsOf(source) : undefined;
    this.branches = branchesOf(source);
    this.measure();
  }

  // Shows new figures for the same text.
  refresh(source) {
    this.source = source;
    this.figure();
    this.element.classList.toggle("parts", this.expressions !== undefined);
    for (const b of this.blocks) {
      if (!b.made) continue;
      for (let n = b.from + 1; n <= b.to; n++) this.redraw(b, n);
    }
  }

  // everything that is shown of a line, to see whether it has changed
  shown(n) {
    const { app, source } = this;
    const line = source.byLine.get(n);
    const parts = this.expressions?.of.get(n);
    if (!line && !parts) return source.active[n - 1];
    const { hits, self, calls, total, selfMost, totalMost, inC, spent } =
      line || {};
    return JSON.stringify([
      [hits, self, calls, total, selfMost, totalMost, inC],
      this.heatOf(line).toFixed(3),
      this.waitsOf(line).toFixed(3),
      spent && shareOf(app, "spent", spent),
      parts && [parts, this.expressions.most],
      this.branches.get(n),
    ]);
  }

  redraw(b, n) {
    const at = n - 1 - b.from;
    const shown = this.shown(n);
    if (b.shown[at] === shown) return;
    b.shown[at] = shown;
    const old = [b.gauges.children[at], b.codes.children[at]];
    this.line(n).forEach((now, i) => {
      for (const mark of ["at", "within"]) {
        if (old[i].classList.contains(mark)) now.classList.add(mark);
      }
      if (old[i].contains(document.activeElement)) {
        refill(old[i], ...now.childNodes);
      } else old[i].replaceWith(now);
    });
  }

  measure() {
    const { heat, relative } = this.options;
    const list = relative === "file" ? [this.source] : this.app.sources;
    this.most = 0;
    for (const source of list) {
      for (const line of source.lines) {
        this.most = Math.max(this.most, heatOf(line, heat));
      }
    }
  }

  heatOf(line) {
    return line && this.most ? heatOf(line, this.options.heat) / this.most : 0;
  }

  waitsOf(line) {
    return waitsOf(line, this.options.heat);
  }

  build() {
    const { source, columns, options } = this;
    const scale = scales.find(([key]) => key === options.relative) || scales[0];
    const header = (column) =>
      h(
        "span",
        {
          role: "columnheader",
          title: column === heat ? scale[2] : column.hint,
          class: room(column),
        },
        column.title,
      );
    this.element = h("div", {
      // with parts, these are shaded instead of lines
      class: "listing" + (this.expressions ? " parts" : ""),
      role: "table",
      "aria-label": source.place,
      "aria-rowcount": this.height,
      style: {
        "--columns": widths(columns),
        "--narrow": widths(columns.filter((column) => !column.spare)),
        "--phone": widths(columns.filter(brief)),
      },
    });
    this.element.append(
      h(
        "div.heading",
        { role: "row" },
        h("div.line", { role: "presentation" }, columns.map(header)),
        h("span.code", { role: "columnheader" }, "source"),
      ),
    );
    // the heading stays in place when lines scroll up, and the figures of a
    // block when long lines scroll sideways
    this.sheet = h("div.wide", { role: "presentation" });
    this.scroller = h(
      "div.lines",
      { role: "rowgroup", tabindex: "-1" },
      this.sheet,
    );
    this.element.append(this.scroller, this.rail());
    this.blocks = [];
    const observer = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          if (entry.isIntersecting)
            this.make(Number(entry.target.getAttribute("data-block")));
        }
      },
      { rootMargin: "600px" },
    );
    for (let from = 0; from < this.height; from += block) {
      const lines = Math.min(block, this.height - from);
      const gauges = h("div.gauges", { role: "presentation" });
      const codes = h("div.codes", { role: "presentation" });
      const element = h(
        "div.block",
        {
          role: "presentation",
          data: { block: this.blocks.length },
          style: { height: lines * rowHeight + "px" },
        },
        gauges,
        codes,
      );
      const to = from + lines;
      this.blocks.push({ element, gauges, codes, from, to, shown: [] });
      this.sheet.append(element);
      observer.observe(element);
    }
    this.observer = observer;
    if (this.height <= block * 10) this.all();
  }

  // A bar that scrolls long lines sideways, at the lower end of the window: that
  // of the lines themselves is below the last one.
  rail() {
    const { scroller, sheet } = this;
    const length = h("div");
    const bar = h(
      "div.rail",
      { tabindex: "-1", "aria-hidden": "true" },
      length,
    );
    const fit = () => {
      this.spare();
      const { scrollWidth, clientWidth } = scroller;
      length.style.setProperty("width", scrollWidth + "px");
      bar.hidden = scrollWidth <= clientWidth;
    };
    // where the bar was put, which is not a choice of the user
    let put = 0;
    bar.addEventListener("scroll", () => {
      if (bar.scrollLeft !== put) scroller.scrollLeft = bar.scrollLeft;
    });
    scroller.addEventListener("scroll", () => {
      bar.scrollLeft = scroller.scrollLeft;
      put = bar.scrollLeft;
    });
    const observer = new ResizeObserver(fit);
    observer.observe(scroller);
    observer.observe(sheet);
    return bar;
  }

  // Leaves out columns that can be spared where lines would be cut.
  spare() {
    const { element, source, columns } = this;
    /** @type {any} */
    const c = document.createElement("canvas").getContext("2d");
    const code = element.querySelector(".block .code") || element;
    c.font = getComputedStyle(code).font;
    const longest = (this.longest ??= source.text.reduce((most, text) => {
      return Math.max(most, text.replaceAll("\t", " ".repeat(8)).length);
    }, 0));
    const beside = columns.reduce((sum, { width }) => sum + width, 0);
    const text = longest * c.measureText("0").width + padding;
    element.classList.toggle("tight", beside + text > element.clientWidth);
  }

  all() {
    this.blocks.forEach((_, i) => this.make(i));
  }

  make(index) {
    const b = this.blocks[index];
    if (b.made) return;
    b.made = true;
    this.observer.unobserve(b.element);
    for (let n = b.from + 1; n <= b.to; n++) {
      const [gauge, code] = this.line(n);
      b.shown.push(this.shown(n));
      b.gauges.append(gauge);
      b.codes.append(code);
    }
    b.element.style.setProperty("height", "auto");
  }

  // The elements of a line; makes its block if necessary.
  find(n) {
    const index = Math.floor((n - 1) / block);
    const b = this.blocks[index];
    if (!b) return [];
    this.make(index);
    const at = (n - 1) % block;
    return [b.gauges.children[at], b.codes.children[at]].filter(Boolean);
  }

  code(n) {
    const pieces = this.pieces[n - 1] || [];
    const parts = this.expressions?.of.get(n);
    if (!parts) return tags(pieces.map(([k, s]) => [k, s, 0]));
    const columns = parts.flatMap((e) => [e.from, e.to]);
    columns.sort((a, b) => a - b);
    return tags(cut(pieces, columns), this.app, this.expressions, parts);
  }

  line(n) {
    const { app, source } = this;
    const line = source.byLine.get(n);
    const active = source.active[n - 1] === "1";
    // a line may have run although it has no samples
    const ran = app.model.sources[source.id].byLine.has(n);
    const never = active && !ran && !app.model.sampled;
    const cells = this.columns.map((column) => {
      const own = [column.class, room(column)].filter(Boolean).join(" ");
      const properties = { role: "cell", class: own };
      if (column === number) {
        const href = app.link({ file: source.place, line: n });
        const link = { ...properties, class: "n", tabindex: "-1", href };
        return h("a", link, String(n));
      }
      const empty = never && column.title === "hits" ? "–" : "";
      return h("span", properties, line ? column.cell(line, this) : empty);
    });
    const notes = this.branches.get(n);
    const kind = never ? " never" : "";
    const code = h(
      "div",
      {
        role: "cell",
        class: "code" + kind,
        id: "code-" + n,
        style: {
          "--heat": Math.sqrt(this.heatOf(line)).toFixed(3),
          "--waits": (100 * Math.min(this.waitsOf(line), 1)).toFixed(1) + "%",
        },
      },
      this.code(n),
      notes && h("span.branch", notes.join(", ")),
    );
    const gauge = h(
      "div",
      {
        class: "line" + kind,
        role: "row",
        "aria-owns": code.id,
        "aria-rowindex": n,
        id: "line-" + n,
      },
      cells,
    );
    return [gauge, code];
  }
}

// A small picture of the whole file, with a frame around the visible part.
function minimap(listing, go) {
  const canvas = h("canvas", { "aria-hidden": "true" });
  const seen = h("div.seen");
  const element = h("div.minimap", canvas, seen);
  const follow = () => {
    const { top, bottom } = listing.scroller.getBoundingClientRect();
    const line = (y) => ((y - top) / (bottom - top)) * listing.height;
    const from = Math.max(0, line(0)) * canvas.step;
    const to = Math.min(listing.height, line(innerHeight)) * canvas.step;
    seen.style.setProperty("top", from + "px");
    seen.style.setProperty("height", Math.max(0, to - from) + "px");
  };
  const draw = () => {
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    if (width === 0 || height === 0) return;
    const c = sized(canvas, width, height);
    const style = getComputedStyle(canvas);
    const ink = style.getPropertyValue("--faint");
    const hotInk = style.getPropertyValue("--hot");
    const coolInk = style.getPropertyValue("--cool");
    const step = Math.min(3, height / Math.max(1, listing.height));
    canvas.step = step;
    listing.source.text.forEach((s, i) => {
      const indent = s.match(/^\s*/)[0].length;
      c.globalAlpha = 1;
      c.fillStyle = ink;
      const long = Math.min(width - 10, (s.length - indent) * 0.7);
      if (long > 0)
        c.fillRect(8 + indent * 0.7, i * step, long, Math.max(0.6, step * 0.6));
      const line = listing.source.byLine.get(i + 1);
      const heat = listing.heatOf(line);
      if (heat > 0.01) {
        c.fillStyle = listing.waitsOf(line) > 0.5 ? coolInk : hotInk;
        c.globalAlpha = Math.max(0.25, Math.sqrt(heat));
        c.fillRect(0, i * step, Math.max(2, 6 * heat), Math.max(1.5, step));
        c.globalAlpha *= 0.35;
        c.fillRect(6, i * step, width - 6, Math.max(1, step));
      }
    });
    canvas.onclick = (event) =>
      go(
        Math.max(1, Math.min(listing.height, Math.round(event.offsetY / step))),
      );
  };
  return { element, draw, follow };
}

function sameText(a, b) {
  return (
    a.text === b.text ||
    (a.text.length === b.text.length &&
      a.active.length === b.active.length &&
      a.text.every((line, i) => line === b.text[i]))
  );
}

function nothing(app, root) {
  if (app.model.foreign) {
    fill(root, h("p.lead", `${lacks(app.model)} source text.`));
    return;
  }
  if (app.model.meta.labels) {
    fill(root, h("p.lead", allLabels));
    return;
  }
  const counted = app.model.unit !== "ns";
  fill(
    root,
    h(
      "p.lead",
      "No lines were recorded. To record them, use ",
      h("code", counted ? "cprof run --count" : "cprof run --lines"),
      " or ",
      h("code", 'start { mode = "line" }'),
      ".",
    ),
  );
}

export function source(app, root) {
  const { model } = app;
  if (model.sources.length === 0) {
    nothing(app, root);
    return { update: () => {} };
  }
  const sorted = () => {
    const kind = kindOf(options().heat);
    return [...app.sources].sort((a, b) => b[kind] - a[kind]);
  };
  let order = sorted();
  const files = h("div.files", { role: "group", "aria-label": "Files" });
  const hotList = h("div.hotlines");
  const filesTitle = h("h2");
  const hotTitle = h("h2");
  const head = h("div.controls");
  const about = h("div.about");
  const stuck = h("div.stuck", head);
  const body = h("div.body");
  fill(
    root,
    h("aside", filesTitle, files, hotTitle, hotList),
    h("div.sheet", stuck, body, about),
  );
  // lines scroll to below the controls, which stay in place
  const fit = () => {
    root.style.setProperty("--stuck", stuck.offsetHeight + "px");
    root.style.setProperty("--about", about.offsetHeight + "px");
  };
  const observer = new ResizeObserver(fit);
  observer.observe(stuck);
  observer.observe(about);
  let listing;
  let map;
  let key;

  // the source to show: the state's file or function, or the hottest source
  function wanted() {
    const { state } = app;
    const f = app.chosen;
    return (
      order.find(
        (s) =>
          s.place === state.file && (!f || f.source === s.id || state.line),
      ) ||
      (f && app.sources[f.source]) ||
      order.find((s) => s.place === state.file) ||
      hottest(order, 1, kindOf(options().heat))[0]?.source ||
      order[0]
    );
  }

  function options() {
    const { state } = app;
    const first = ofLines(model.measure(state)) || "self";
    const own = ["self", "hits", "total"].includes(state.heat);
    const known = own || model.measures.filter(inLines).includes(state.heat);
    return {
      heat: known ? state.heat : first,
      relative: state.relative,
      parts: state.parts !== "0",
    };
  }

  // a share in percent without its margin of error, where room is scarce
  function briefly(kind, of) {
    const most = kind === "spent" ? of.spentMost : undefined;
    return shareOf(app, kind, of[kind], most).replace(/ ±.*/, "");
  }

  // what the shares of files and lines are of
  function measured() {
    const kind = kindOf(options().heat);
    if (model.unit !== "ns" && kind === "spent") return "% of instructions";
    return `% ${kind === "spent" ? "self and in C" : measures[kind].of}`;
  }

  function draw_file(s, current, kind, whole) {
    const slash = s.place.lastIndexOf("/");
    return h(
      "a",
      {
        key: s.place,
        href: app.link({
          file: s.place,
          line: undefined,
          function: undefined,
        }),
        "aria-current": s === current,
        title: s.place,
      },
      h("span.name", s.place.slice(slash + 1)),
      h("span.percent", briefly(kind, s)),
      bar(s[kind] / whole, "heat", waitsOf(s, options().heat)),
    );
  }

  function draw_files(current, scroll) {
    const kind = kindOf(options().heat);
    const measure = kind === "spent" ? null : kind;
    const whole = model.wholeOf(app.state, measure);
    const library = (s) => installed.test(s.place);
    const [theirs, own] = [true, false].map((is) =>
      order.filter((s) => library(s) === is),
    );
    const both = theirs.length > 0 && own.length > 0;
    const list = (all) => all.map((s) => draw_file(s, current, kind, whole));
    refill(
      files,
      list(own),
      both && h("p.aside", { key: "\n" }, "Libraries"),
      list(theirs),
    );
    fill(filesTitle, "Files", h("span.aside", measured()));
    if (!scroll) return;
    files.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }

  function draw_hot(current) {
    const kind = kindOf(options().heat);
    fill(hotTitle, "Hottest lines", h("span.aside", measured()));
    refill(
      hotList,
      hottest([current], 12, kind).map(({ line }) =>
        h(
          "a",
          {
            key: `${current.place}:${line.n}`,
            href: app.link({ file: current.place, line: line.n }),
            "aria-current": String(line.n) === app.state.line,
          },
          h("span.n", String(line.n)),
          h("span.code", (current.text[line.n - 1] || "").trim()),
          h("span.percent", briefly(kind, line)),
        ),
      ),
    );
  }

  function draw_head(current) {
    const set = options();
    const kind = kindOf(set.heat);
    const [ran, could] = coverage(model.sources[current.id]);
    const counts = model.unit !== "ns";
    // frames do not have all measures
    const known = (key) =>
      !app.state.frames || !model.frames || model.allocated(app.state, key);
    const covered = model.sampled
      ? ""
      : `, ${count(ran)} of ${plural(could, "line")} ran`;
    fill(
      head,
      h("span.name", { title: current.place }, current.place),
      h(
        "span.aside",
        `${shareOf(app, kind, current[kind])} % ` +
          (kind === "spent"
            ? "self" + (current.spent > current.self ? " and in C" : "")
            : measures[kind].of) +
          covered,
      ),
      opener(
        app,
        current.place,
        Number(app.state.line) ||
          (app.chosen?.source === current.id ? app.chosen.line : 1),
      ),
      h("span.space"),
      h("span.legend"),
      h(
        "span.choice",
        { role: "group", "aria-label": "Hot lines" },
        step("‹", "Previous hot line (p)", false),
        step("›", "Next hot line (n)", true),
      ),
      choice(
        "Heat",
        [
          counts
            ? ["self", "Instructions", "Instructions that ran on the line"]
            : ["self", "Self", "Time on the line and in C functions it calls"],
          !model.sampled && ["hits", "Hits", hits.hint],
          !counts && ["total", "Callees", called.hint],
          ...model.measures
            .filter((key) => inLines(key) && known(key))
            .map((key) => [key, measures[key].title, measures[key].line]),
        ].filter(Boolean),
        set.heat,
        (heat) => app.set({ heat }),
      ),
      choice("Relative to", scales, set.relative, (relative) =>
        app.set({ relative }),
      ),
      current.expressions &&
        toggle("Expressions", set.parts, (on) =>
          app.set({ parts: on ? undefined : "0" }),
        ),
    );
  }

  // a button that goes to another hot line
  function step(label, title, forward) {
    return button(label, () => next(forward), { title, "aria-label": title });
  }

  function next(forward) {
    const at = Number(app.state.line) || 0;
    const kind = kindOf(options().heat);
    const to = beside(hot(listing.source, 0.01, kind), at, forward);
    if (to) go(to);
  }

  // what shades mean
  function draw_legend() {
    const { heat } = options();
    const most = figureOfHeat(app, heat, listing.most);
    const what = {
      self: model.unit === "ns" ? "self and in C" : "instructions",
      hits: "hits",
      total: "callees",
    }[heat];
    refill(
      head.querySelector(".legend"),
      h("span.scale", { "aria-hidden": "true" }),
      `${what || measures[heat].title.toLowerCase()}, up to ${most}`,
      listing.source.lines.some((line) => listing.waitsOf(line) > 0) && [
        h("span.scale.waits", { "aria-hidden": "true" }),
        "waiting",
      ],
    );
  }

  // the function of a line, the one that ran there most
  function functionAt(source, n) {
    const list = source.rows.filter((row) => row.n === n && row.f >= 0);
    list.sort((a, b) => b.hits - a.hits || b.self - a.self);
    return list[0] && model.functions[list[0].f];
  }

  // some calls: links with their figures
  function calls(what, rows, link) {
    const few = rows.slice(0, 4);
    if (few.length === 0) return [];
    const told = ({ calls: n, total, totalMost }) =>
      [
        !model.sampled && plural(n, "call"),
        model.unit === "ns" && amountOf(app, total, totalMost),
        model.unit !== "ns" && plural(total, "instruction"),
      ]
        .filter(Boolean)
        .join(", ");
    return h(
      "p",
      what,
      few.flatMap((row) => [" ", link(row), " ", h("span.aside", told(row))]),
      rows.length > few.length && ` and ${rows.length - few.length} more`,
    );
  }

  // what the chosen line calls, and what calls its function
  function draw_about(current) {
    const n = Number(app.state.line);
    const f = n && functionAt(model.sources[current.id], n);
    const found = n && model.around(app.state, current, n, f);
    if (!found || found.callees.length + found.callers.length === 0) {
      fill(about);
      return;
    }
    const name = (to, change) =>
      h("a.name", { title: to.title, href: app.link(change) }, to.name);
    fill(
      about,
      calls(`Line ${n} calls`, found.callees, ({ callee }) =>
        name(callee, {
          function: callee.title,
          line: undefined,
          view: callee.source >= 0 ? "source" : "callgraph",
        }),
      ),
      f &&
        calls(`${f.name} is called by`, found.callers, ({ from, n: at }) =>
          name(
            { ...from, name: `${from.name}:${at}` },
            from.source >= 0
              ? { file: from.place, line: at, function: undefined }
              : { function: from.title, view: "callgraph", line: undefined },
          ),
        ),
    );
  }

  function note(current) {
    const said = [current.note, current.unmapped].filter(Boolean);
    if (current.part) {
      said.push(
        "figures of lines are scaled to the part of their function's time " +
          "that is shown; expressions are not broken down by caller",
      );
    }
    return said.length > 0 && h("p.aside.note", said.join("; "));
  }

  function mark(scroll) {
    const { state } = app;
    for (const e of body.querySelectorAll(".at, .within")) {
      e.classList.remove("at", "within");
    }
    const f = app.chosen;
    if (f && f.source === listing.source.id && f.kind !== "main") {
      for (let n = f.line; n <= f.last; n++) {
        for (const e of listing.find(n)) e.classList.add("within");
      }
    }
    const at =
      Number(state.line) || (f && f.source === listing.source.id && f.line);
    const row = at ? listing.find(at) : [];
    if (row.length === 0) return;
    if (state.line) for (const e of row) e.classList.add("at");
    if (scroll) {
      row[0].scrollIntoView({ block: state.line ? "center" : "start" });
    }
  }

  // shows the hottest line of a file that was opened for no other
  function reveal(current) {
    const f = app.chosen;
    if (app.state.line || (f && f.source === current.id)) return;
    const [first] = hottest([current], 1, kindOf(options().heat));
    if (first)
      listing.find(first.line.n)[0]?.scrollIntoView({ block: "center" });
  }

  function go(n) {
    app.set({ file: listing.source.place, line: n }, true);
  }

  function keyOf(source) {
    const set = options();
    const own = [source.id, set.heat, set.relative, set.parts];
    const filters = kinds.map((kind) => app.state[kind.key]);
    return [...own, app.state.frames, ...filters].join("\n");
  }

  function open(current) {
    key = keyOf(current);
    listing = new Listing(app, current, options());
    map = minimap(listing, go);
    fill(body, note(current), h("div.paper", listing.element, map.element));
  }

  function draw_around(current, scroll) {
    draw_files(current, scroll);
    draw_hot(current);
    draw_head(current);
    draw_about(current);
  }

  function update() {
    order = sorted();
    const current = wanted();
    const other = listing?.source.id !== current.id;
    draw_around(current, true);
    if (keyOf(current) !== key) {
      open(current);
      map.draw();
    }
    draw_legend();
    fit();
    mark(true);
    if (other) reveal(current);
    map.follow();
  }

  // Shows new figures. The shown file may have been edited.
  function refresh() {
    order = sorted();
    const { source: old, scroller } = listing;
    const current = order.find((s) => s.place === old.place) || wanted();
    draw_around(current, false);
    if (sameText(current, old)) {
      key = keyOf(current);
      listing.refresh(current);
    } else {
      const left = scroller.scrollLeft;
      open(current);
      listing.all();
      listing.scroller.scrollLeft = left;
    }
    draw_legend();
    map.draw();
    mark(false);
    map.follow();
  }

  const follow = () => map.follow();
  update();
  addEventListener("scroll", follow, { passive: true });
  return {
    update,
    refresh,
    resize: () => {
      map.draw();
      map.follow();
    },
    close: () => {
      removeEventListener("scroll", follow);
      observer.disconnect();
    },
    print: () => listing.all(),
    key: (event) => {
      if (event.key === "n" || event.key === "p") {
        next(event.key === "n");
        return true;
      }
      const left = event.key === "ArrowLeft";
      if (left || event.key === "ArrowRight") {
        listing.scroller.scrollLeft += left ? -sideways : sideways;
        return true;
      }
      const down = event.key === "ArrowDown";
      if ((down || event.key === "ArrowUp") && app.state.line) {
        const n = Number(app.state.line) + (down ? 1 : -1);
        if (n >= 1 && n <= listing.height) go(n);
        return true;
      }
      return false;
    },
  };
}
