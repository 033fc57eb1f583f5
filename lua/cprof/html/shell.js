// What surrounds the views: the head, the tabs, the strip with the chosen
// function, and the keys.

import { callgraph } from "./callgraph.js";
import { calltree } from "./calltree.js";
import { compared, read } from "./compare.js";
import { coverage } from "./coverage.js";
import { diff } from "./diff.js";
import { button, choice, fill, h, refill } from "./dom.js";
import { opener } from "./editor.js";
import { bytes, count, figure, fixed, percent, plural } from "./format.js";
import { added, kinds, removed, terms } from "./filters.js";
import { flame } from "./flame.js";
import { Foreign, recognised } from "./foreign.js";
import { frames } from "./frames.js";
import { functions } from "./functions.js";
import { heatmap } from "./heatmap.js";
import { labelled, labelsOf } from "./labelled.js";
import { overview } from "./overview.js";
import { measures } from "./measures.js";
import { named, ranged } from "./ranged.js";
import { few, interval } from "./samples.js";
import { slowest } from "./slowest.js";
import { source } from "./source.js";
import { at, figureOf } from "./table.js";
import { span } from "./model.js";
import * as state from "./state.js";
import { tasks } from "./tasks.js";
import { timeline } from "./timeline.js";
import { trace } from "./trace.js";

/**
 * @typedef {object} ViewRow
 * @property {string} key  its name in the address
 * @property {string} title
 * @property {(app: any, root: any) => View} make
 * @property {(model: any) => any} [has]  does this profile have it?
 * @property {(model: any) => any} [opens]  is it what this profile was
 *   recorded for, so that the page opens on it?
 * @property {boolean} [timed]  does it show times, whatever measure is chosen
 *   for other views?
 * @property {boolean} [entire]  does it show the whole recording, whatever
 *   range of time is chosen?
 */

/**
 * The views, in the order of their tabs.
 * @type {ViewRow[]}
 */
const views = [
  { key: "overview", title: "Overview", make: overview },
  {
    key: "diff",
    title: "Changes",
    make: diff,
    has: (m) => m.before,
    opens: (m) => m.before,
    timed: true,
  },
  {
    key: "coverage",
    title: "Coverage",
    make: coverage,
    has: (m) => m.header.coverage,
    opens: (m) => m.header.coverage,
    timed: true,
  },
  {
    key: "heatmap",
    title: "Heatmap",
    make: heatmap,
    has: (m) => m.header.axis,
    timed: true,
    entire: true,
  },
  { key: "functions", title: "Functions", make: functions },
  { key: "flame", title: "Flame graph", make: flame },
  { key: "tree", title: "Call tree", make: calltree },
  { key: "callgraph", title: "Call graph", make: callgraph },
  { key: "source", title: "Source", make: source, timed: true },
  {
    key: "labels",
    title: "Labels",
    make: labelled,
    has: (m) => m.functions.some(labelsOf),
  },
  {
    key: "slowest",
    title: "Slowest calls",
    make: slowest,
    has: (m) => m.header.timed,
    timed: true,
    entire: true,
  },
  {
    key: "tasks",
    title: "Tasks",
    make: tasks,
    has: (m) => m.header.tasks,
    opens: (m) => m.header.tasks?.exact,
    timed: true,
  },
  {
    key: "timeline",
    title: "Memory",
    make: timeline,
    has: (m) => m.header.heap,
    opens: (m) => m.memory,
    timed: true,
    entire: true,
  },
  {
    key: "frames",
    title: "Frames",
    make: frames,
    has: (m) => m.frames,
    opens: (m) => m.frames,
    timed: true,
  },
  {
    key: "trace",
    title: "Trace",
    make: trace,
    has: (m) => m.header.trace,
    timed: true,
  },
];

const keys = [
  ["1 … 9", "show a view"],
  ["/", "search"],
  ["↑ ↓", "go to the previous or next row, node or line"],
  ["Enter", "choose a row; zoom in on a flame graph node"],
  ["← →", "flame graph: go to a sibling; call graph: go back or forward"],
  [
    "← ↑ ↓ →",
    "drawn call graph: go to a caller, a callee or a function beside",
  ],
  ["→ ←", "call tree: open or close a row, or go into it or out of it"],
  ["e", "call tree: open the hottest path from the row on"],
  ["+ −", "zoom the flame graph"],
  ["w s", "zoom the flame graph or the trace where the pointer is"],
  ["a d", "move the flame graph or the trace to the left or the right"],
  ["c", "flame graph: copy the stack of the chosen node"],
  ["← ↑ ↓ →", "heatmap: go to another cell; with Shift, choose a range"],
  ["b", "heatmap: compare with the range; choose another one"],
  ["← →", "source: scroll long lines sideways"],
  ["n p", "go to the next or previous hot line, or row that was searched for"],
  ["o", "open the line or the function in the editor of --editor"],
  ["Esc", "zoom out, or clear the choice"],
  ["t", "switch between light and dark"],
  ["?", "list these keys"],
];

const theme = {
  get() {
    try {
      return localStorage.getItem("cprof-theme");
    } catch {
      return null;
    }
  },
  set(value) {
    try {
      localStorage.setItem("cprof-theme", value);
    } catch {
      // it is forgotten with the page
    }
  },
};

const dark = matchMedia("(prefers-color-scheme: dark)");

// The kind of a profile. Views are made for one kind.
function kindOf(model) {
  return [model.unit, model.sampled, model.sources.length > 0].join();
}

// Applies the theme of the address, the chosen one, or else the system's.
function dress() {
  const named = state.get().theme;
  const given = ["light", "dark"].includes(named) ? named : theme.get();
  document.documentElement.dataset.theme =
    given || (dark.matches ? "dark" : "light");
}

// at once, before the profile is read
dress();

/**
 * A view of the page, as its `make(app, root)` gives it.
 * @typedef {object} View
 * @property {() => void} update  The state has changed: scope, choice or
 *   measure.
 * @property {() => void} [refresh]  The model has new figures; the state is the
 *   same. Without it, `update` is called.
 * @property {() => void} [resize]  The size of the window or the theme has
 *   changed.
 * @property {(event: KeyboardEvent) => boolean | void} [key]  A key was
 *   pressed; true: it was for the view.
 * @property {() => void} [print]  Printing begins: draws all of the view.
 * @property {() => void} [close]  Another view replaces this one.
 */

export class Shell {
  /** @type {View | undefined} */
  view;
  /** @type {any} the model that `views` was made for */
  made;
  /** @type {any} the row of `views` that is shown */
  shown;
  /** The views that this profile has. */
  views = views;
  /** @type {any} the function that formats times, or instructions */
  time;

  // bar: an optional element of the head, kept when the head is redrawn; past:
  // an optional one below the head
  constructor(root, model, bar, past) {
    this.root = root;
    // all that was recorded, maybe beside a page that it is compared with
    this.own = model;
    // all that was recorded, without a page that it is compared with
    this.alone = model;
    // other tools' profiles, by the names of their files
    this.files = new Map();
    this.bar = bar;
    this.past = past;
    this.prepare();
  }

  // The profile of another tool that the state selects.
  get foreign() {
    return this.files.get(this.state.opened);
  }

  // All of what is shown.
  get all() {
    return this.foreign?.model(this.state.unit) || this.own;
  }

  // What is shown: all, or a range of time; maybe beside another range.
  get model() {
    return ranged(this.all, this.state.range, this.state.against);
  }

  prepare() {
    this.made = this.model;
    this.kind = kindOf(this.model);
    this.time = figure(this.model.unit);
    this.views = this.known();
    document.title = `${this.model.meta.program} · cprof`;
  }

  // The views that the model has something for.
  known() {
    return views.filter((v) => !v.has || v.has(this.model));
  }

  // Draws the model's new figures. The state is the same.
  refresh() {
    const { scrollX, scrollY } = window;
    if (this.kind !== kindOf(this.model)) {
      this.prepare();
      this.shown = undefined;
    } else this.views = this.known();
    if (this.shown && !this.views.includes(this.shown)) this.shown = undefined;
    if (!this.shown) this.update();
    else {
      this.drawHead(this.shown);
      this.drawStrip();
      (this.view?.refresh || this.view?.update)?.();
    }
    if (scrollY !== window.scrollY) scrollTo(scrollX, scrollY);
  }

  get state() {
    return state.get();
  }

  get scope() {
    const { row, state: current } = this;
    if (row.timed) return this.model.scope({ ...current, measure: undefined });
    return this.model.scope(current);
  }

  // The row of `views` that the state selects.
  get row() {
    const { views: list, all } = this;
    return (
      list.find((v) => v.key === this.state.view) ||
      // a live page stays where it is when it gets more views
      (this.bar && list.find((v) => v === this.shown)) ||
      list.find((v) => v.opens?.(all)) ||
      list[0]
    );
  }

  // The measure that replaces time, if any.
  get measure() {
    return measures[this.scope.measure];
  }

  // The function that formats figures of the measure.
  get figure() {
    return this.measure ? figure(this.measure.unit) : this.time;
  }

  // The sources with the figures of the scope.
  get sources() {
    return this.model.sourcesOf(this.state);
  }

  get chosen() {
    return this.model.chosen(this.state);
  }

  set(change, replace) {
    state.set(change, replace);
  }

  link(change) {
    return state.link(change);
  }

  // The change that leads to a view. Sources that are opened from Memory are
  // coloured by memory, unless another measure or heat was chosen.
  to(view) {
    const { measure, heat } = this.state;
    const first = ["live", "bytes"].find((m) =>
      this.model.measures.includes(m),
    );
    const away = this.row.key === "timeline" && view.key === "source";
    return {
      view: view.key,
      ...(away && !measure && !heat && { heat: first }),
    };
  }

  // Chooses a function, for all views.
  choose(f, more) {
    this.set({ function: f && f.title, line: undefined, ...more });
  }

  start() {
    dark.addEventListener("change", () => {
      dress();
      this.redraw();
    });
    this.header = h("header.head");
    this.strip = h("div.strip");
    this.main = h("main", { id: "main", tabindex: "-1" });
    this.status = h("p.aside", { role: "status" });
    this.wrong = h("p.refused", { role: "alert", hidden: true });
    this.file = h("input", {
      type: "file",
      hidden: true,
      "aria-label": "A page of cprof, or a profile of another tool",
      onchange: () => this.open(this.file.files[0]),
    });
    this.help = this.makeHelp();
    fill(
      this.root,
      this.header,
      this.past,
      this.strip,
      this.wrong,
      this.main,
      this.status,
      this.file,
      this.help,
    );
    const observer = new ResizeObserver(() => this.fit());
    observer.observe(this.header);
    observer.observe(this.strip);
    this.takeFiles();
    state.listen(() => this.update());
    state.start();
    addEventListener("keydown", (event) => this.keydown(event));
    addEventListener("resize", () => this.view?.resize?.());
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
    const { opened } = this.state;
    if (opened) {
      this.refuse(`${opened} has to be opened again: pages keep no files.`);
      this.set({ ...this.forgotten(), view: this.state.view }, true);
    }
    this.update();
  }

  // Files can be dropped on the page.
  takeFiles() {
    if (this.bar) return;
    const files = (event) => event.dataTransfer?.types.includes("Files");
    addEventListener("dragover", (event) => {
      if (!files(event)) return;
      event.preventDefault();
      document.body.classList.add("dropping");
    });
    addEventListener("dragleave", (event) => {
      if (!event.relatedTarget) document.body.classList.remove("dropping");
    });
    addEventListener("drop", (event) => {
      if (!files(event)) return;
      event.preventDefault();
      document.body.classList.remove("dropping");
      this.open(event.dataTransfer?.files[0]);
    });
  }

  // Lets the user choose a file of these types; "": of any.
  pick(types) {
    this.file.accept = types;
    this.file.click();
  }

  refuse(text) {
    this.wrong.hidden = false;
    this.wrong.textContent = text;
  }

  // The change of the state that forgets what belongs to a profile.
  forgotten() {
    const keys = Object.keys(this.state).filter((key) => key !== "theme");
    return Object.fromEntries(keys.map((key) => [key, undefined]));
  }

  // Compares with the page in a file, which has the earlier profile; or shows
  // the profile of another tool. What is shown stays if the file is neither.
  async open(file) {
    if (!file) return;
    this.wrong.hidden = true;
    this.file.value = "";
    let verb = "opened";
    try {
      const { page, profile } = await recognised(file);
      if (page) verb = "compared";
      if (page) await this.compare(page, file.name);
      else this.show(profile, file.name);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.refuse(
        `${file.name} cannot be ${verb}: ${why}.` +
          (verb === "opened"
            ? " The page opens pages of cprof, to compare with, and folded " +
              "stacks, pprof and .cpuprofile files."
            : ""),
      );
    }
  }

  async compare(page, name) {
    this.own = compared(this.alone, await read(page), name);
    const forgets = this.foreign ? this.forgotten() : {};
    const range = { range: undefined, against: undefined };
    this.set({ ...forgets, ...range, view: "diff" });
    this.update();
  }

  // Shows the profile of another tool in place of the page's own.
  show(profile, name) {
    const from = this.foreign?.from || this.link({});
    this.files.set(name, new Foreign(profile, name, from));
    this.set({ ...this.forgotten(), opened: name });
    this.update();
  }

  // Has a screen reader say something.
  say(text) {
    this.status.textContent = text;
  }

  isDark() {
    return document.documentElement.dataset.theme === "dark";
  }

  switchTheme() {
    const to = this.isDark() ? "light" : "dark";
    theme.set(to);
    this.set({ theme: to }, true);
    dress();
    this.redraw();
  }

  // Prints in the light theme.
  print(begins) {
    const { dataset } = document.documentElement;
    this.printing = begins;
    if (begins) {
      this.worn = dataset.theme;
      dataset.theme = "light";
    } else if (this.worn) dataset.theme = this.worn;
    else delete dataset.theme;
    this.redraw();
    if (begins) this.view?.print?.();
  }

  redraw() {
    this.view?.resize?.();
  }

  update() {
    const other = this.made !== this.model;
    if (other) this.prepare();
    const { row } = this;
    const worn = this.isDark();
    if (!this.printing) dress();
    this.drawHead(row);
    this.drawStrip();
    const same = this.shown === row;
    if (same && (!other || row.entire) && this.view?.update) {
      this.view.update();
      if (worn !== this.isDark()) this.redraw();
      return;
    }
    this.view?.close?.();
    this.shown = row;
    this.main.className = "view-" + row.key;
    fill(this.main);
    if (!same) scrollTo(0, 0);
    this.view = row.make(this, this.main) || {};
  }

  drawHead(row) {
    const { program } = this.model.meta;
    const tabs = this.views.map((v, i) =>
      h(
        "a",
        {
          href: this.link(this.to(v)),
          "aria-current": v === row ? "page" : null,
          title: `${v.title} (${i + 1})`,
          data: { name: v.title },
        },
        v.title,
      ),
    );
    refill(
      this.header,
      h(
        "div.what",
        h("strong.mark", "cprof"),
        h("span.program", { title: program }, program),
        h("span.space"),
        !this.bar &&
          button("Compare", () => this.pick(".html,text/html"), {
            class: "quiet",
            title:
              "Compare with an earlier profile: choose its page, or drop " +
              "it on this one",
          }),
        !this.bar &&
          button("Open", () => this.pick(""), {
            class: "quiet",
            title:
              "Show a profile of another tool here: choose folded stacks, " +
              "a pprof or .cpuprofile file, or drop it on the page",
          }),
        button("Theme", () => this.switchTheme(), {
          class: "quiet",
          title: "Switch between light and dark (t)",
        }),
        button("Keys", () => this.help.showModal(), {
          class: "quiet",
          title: "Keys (?)",
        }),
      ),
      this.bar,
      h(
        "div.tabs",
        h("nav", { "aria-label": "Views" }, tabs),
        this.measured(row),
      ),
    );
  }

  // a choice between time and other measures
  measured(row) {
    const { model } = this;
    const { units, unit: own } = model.foreign || {};
    if (units && !row.timed) {
      return choice(
        "Unit",
        units.map((unit) => [unit, unit, "The file does not tell its unit"]),
        own,
        (unit) => this.set({ unit }),
      );
    }
    if (model.measures.length === 0 || row.timed || this.scope.frames)
      return [];
    const options = [
      [undefined, model.title, "What self and total measure"],
      ...model.measures.map((key) => [
        key,
        measures[key].title,
        measures[key].hint,
      ]),
    ];
    return choice("Measure", options, this.scope.measure, (measure) =>
      this.set({ measure }),
    );
  }

  // labels for the limits of the scope, each with a link that removes it
  limits() {
    const { scope } = this;
    const out = [];
    if (this.model.range) {
      out.push([named(this.model.range), { range: undefined }]);
    }
    const against = this.model.before?.range;
    if (against) {
      out.push([`Compared with ${named(against)}`, { against: undefined }]);
    }
    if (scope.frames) {
      const [from, to] = span(this.state.frames);
      const name = from === to ? `Frame ${from}` : `Frames ${from} to ${to}`;
      out.push([name, { frames: undefined }]);
    }
    for (const { key, title } of kinds) {
      if (!scope.filters?.[key]) continue;
      for (const term of terms(this.state, key)) {
        const name = this.model.byTitle.get(term)?.name || term;
        out.push([`${title} ${name}`, removed(this.state, key, term)]);
      }
    }
    const labels = out.map(([text, change]) =>
      h(
        "span.limit",
        text,
        h("a", { href: this.link(change), "aria-label": `Undo ${text}` }, "×"),
      ),
    );
    if (this.foreign) {
      const { program } = this.alone.meta;
      labels.push(
        h(
          "span.limit.opened",
          `Opened from ${this.foreign.name}`,
          h("a.back", { href: this.foreign.from }, `Back to ${program}`),
        ),
      );
    }
    const { dropped } = this.all.before || {};
    if (dropped) {
      const text = `Compared with ${dropped}`;
      const undo = () => {
        this.own = this.alone;
        this.update();
      };
      labels.push(
        h(
          "span.limit",
          text,
          button("×", undo, { "aria-label": `Undo ${text}` }),
        ),
      );
    }
    return labels;
  }

  // Formats a figure, or "<" and its upper bound if only that is known.
  amount(n, most = n) {
    return (most > n ? "<" : "") + this.figure(Math.max(n, most));
  }

  // A share in percent, with its margin of error if it comes from samples; or
  // "<" and that of the upper bound if only that is known. The whole is 100 %,
  // even if only its bound is known.
  share(
    n,
    whole = this.scope.whole,
    samples = this.scope.counted,
    measure = this.scope.measure,
    most = n,
  ) {
    const { model } = this;
    if (most > n && n < whole)
      // not "<0.0": no share is less than 0
      return (
        "<" + percent(Math.max(Math.min(most, whole), whole / 1000), whole)
      );
    const text = percent(n, whole);
    const taken = measure ? model.taken[measure] : model.samples?.sure;
    if (!taken) return text;
    // the number of samples is only known for times; for other measures, it
    // follows from the part of all that `whole` is
    const all = measure ? model.wholeOf({}, measure) : model.whole;
    const known =
      model.sampled && !measure
        ? (samples * taken) / model.samples.n
        : (taken * whole) / Math.max(all, 1);
    if (taken < few) return "–";
    const off = interval(n / Math.max(whole, 1), known);
    return `${text} ±${fixed(100 * off, 1)}`;
  }

  // A share of a graph's width in percent; exact if calls are the width.
  drawnShare(n, whole, samples) {
    const exact = this.state.by === "calls" && !this.model.sampled;
    return exact ? percent(n, whole) : this.share(n, whole, samples);
  }

  // A number of calls, or of samples without and with callees, in words.
  countsInWords(own, all) {
    if (!this.model.sampled) {
      return own === 0 && this.model.range
        ? "called earlier"
        : plural(own, "call");
    }
    return `${plural(own, "sample")}, ${count(all)} with callees`;
  }

  // The figures of a function, in words.
  inWords(f) {
    const { scope } = this;
    const out = ["self", "total"].map((key) => {
      const [n, most] = figureOf(this, f, key);
      const share = this.share(
        n,
        scope.whole,
        scope.counted,
        scope.measure,
        most,
      );
      return `${key} ${this.amount(n, most)} (${share} %)`;
    });
    const here = !this.model.range || scope.total[f.id] > 0;
    if (this.model.counted && here) {
      out.push(this.countsInWords(scope.calls[f.id], scope.samples?.[f.id]));
    }
    if (!scope.measure && this.model.memory) {
      const own = this.model.allocated(this.state, "bytes");
      if (own?.[f.id] > 0) out.push(`self allocated ${bytes(own[f.id])}`);
    }
    return out;
  }

  // Tells the style how much of the window the head takes, and how much it
  // takes with the strip, if that stays in sight.
  fit() {
    const { root, header, strip } = this;
    const head = header.offsetHeight;
    const stays = getComputedStyle(strip).position === "sticky";
    const top = head + (stays ? strip.offsetHeight : 0);
    root.style.setProperty("--head", `${head}px`);
    root.style.setProperty("--top", `${top}px`);
  }

  drawStrip() {
    const f = this.chosen;
    const limits = this.limits();
    this.strip.hidden = !f && limits.length === 0;
    if (f) this.drawChosen(f, limits);
    else refill(this.strip, limits);
    this.fit();
  }

  // Fills the strip with a function and the limits of the scope.
  drawChosen(f, limits) {
    const go = (view, text) =>
      h(
        "a",
        {
          href: this.link({ view, line: undefined }),
          "aria-current": this.row.key === view,
        },
        text,
      );
    refill(
      this.strip,
      h("span.name", { title: f.title }, f.name),
      h(
        "span.place",
        f.place ? at(f.place, f.line) : f.kind === "C" ? "[C]" : f.kind,
      ),
      this.inWords(f).map((text) => h("span.told", text)),
      h("span.space"),
      h(
        "span.links",
        go("flame", "Flame"),
        go("callgraph", "Callers and callees"),
        f.source >= 0 && go("source", "Source"),
        f.place && opener(this, f.place, f.line),
        this.scope.tree && this.filters(f.title, "this"),
        h(
          "a",
          {
            href: this.link({ function: undefined }),
            "aria-label": "Clear the choice",
            title: "Clear the choice (Esc)",
          },
          "×",
        ),
      ),
      limits,
    );
  }

  // links that add a term to the filters
  filters(term, what) {
    const rows = [
      ["focus", `Only ${what}`, "and what is called from there"],
      ["hide", `Without ${what}`, "and what is called from there"],
      ["ignore", "Into callers", "Adds these figures to those of the callers"],
      [
        "collapse",
        "As one box",
        "One box for each call from elsewhere, with the figures of all",
      ],
    ];
    if (what === "this") rows.pop();
    return rows.map(([key, text, title]) =>
      h(
        "a",
        {
          href: this.link({
            ...added(this.state, key, term),
            ...(what === "this" ? {} : { search: undefined }),
          }),
          title,
        },
        text,
      ),
    );
  }

  makeHelp() {
    const list = keys.map(([key, what]) => [
      h("dt", h("kbd", key)),
      h("dd", what),
    ]);
    const close = h("button", { type: "button" }, "Close");
    const dialog = h(
      "dialog",
      { "aria-label": "Keys" },
      h("h2", "Keys"),
      h("dl", list.flat()),
      h(
        "p.aside",
        "In the flame graph, the wheel zooms, the wheel with Shift scrolls, " +
          "and dragging moves the graph.",
      ),
      close,
    );
    close.addEventListener("click", () => dialog.close());
    return dialog;
  }

  keydown(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.help.open) {
      return;
    }
    const typing = event.target.matches("input, select, textarea");
    if (typing) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (this.view?.key?.(event)) {
      event.preventDefault();
      return;
    }
    const number = Number(event.key);
    if (number >= 1 && number <= this.views.length) {
      this.set(this.to(this.views[number - 1]));
    } else if (event.key === "?") this.help.showModal();
    else if (event.key === "t") this.switchTheme();
    else if (event.key === "o") {
      /** @type {any} */
      const link =
        this.main.querySelector("a.editor") ||
        this.strip.querySelector("a.editor");
      if (!link) return;
      link.click();
    } else if (event.key === "/") {
      const search = this.main.querySelector("input[type=search]");
      if (search) search.focus();
      else this.set({ view: "functions" });
    } else if (event.key === "Escape" && this.chosen) {
      this.set({ function: undefined });
    } else return;
    event.preventDefault();
  }
}
