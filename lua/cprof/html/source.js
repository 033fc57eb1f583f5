// Sources with heat and figures beside each line.

import { bar, choice, fill, h, toggle } from "./dom.js";
import { count, percent, plural, short } from "./format.js";
import { beside, coverage, hot, hottest } from "./lines.js";
import { cut, highlight } from "./lua.js";

// lines that are made at once; others when they are scrolled to
const block = 200;
const rowHeight = 20;

const heats = {
  self: (l) => l.self,
  hits: (l) => l.hits,
  total: (l) => l.total,
};

function tags(list, counts, columns) {
  return list.map(([kind, s, at]) => {
    const part = counts && columns.find((e) => at >= e.from && at < e.to);
    if (!part) return kind ? h("span", { class: kind }, s) : s;
    const title =
      part.count === 0 ? "never ran" : `ran ${count(part.count)} times`;
    const classes = [kind, part.count === 0 ? "never" : "part"].join(" ");
    const heat = counts > 0 ? Math.log1p(part.count) / Math.log1p(counts) : 0;
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

// by line: what of its branches never happened
function branchesOf(source) {
  const out = new Map();
  for (const [line, , kind, x, xs, y, ys] of source.branches || []) {
    if (xs > 0 && ys > 0) continue;
    const never =
      xs === 0 && ys === 0 ? "never decided" : `never ${xs === 0 ? x : y}`;
    const own = out.get(line) || [];
    own.push(`${kind}: ${never}`);
    out.set(line, own);
  }
  return out;
}

class Listing {
  constructor(app, source, options) {
    this.app = app;
    this.source = source;
    this.options = options;
    this.counts = app.model.unit !== "ns";
    this.pieces = highlight(source.text);
    this.expressions = options.parts ? expressionsOf(source) : undefined;
    this.branches = branchesOf(source);
    this.height = Math.max(source.text.length, source.active.length);
    this.measure();
    this.build();
  }

  measure() {
    const { heat, relative } = this.options;
    const value = heats[heat];
    const list =
      relative === "project" ? this.app.model.sources : [this.source];
    this.most = 0;
    for (const source of list) {
      for (const line of source.lines) {
        this.most = Math.max(this.most, value(line));
      }
    }
  }

  heatOf(line) {
    return line && this.most ? heats[this.options.heat](line) / this.most : 0;
  }

  build() {
    const { source } = this;
    const head = [
      ["line", ""],
      ["hits", "Times that the line was reached"],
      this.counts
        ? ["instructions", "Instructions that ran on it"]
        : ["self", "Time on the line itself"],
      ["%", "Share of the whole program"],
      ["", ""],
    ];
    if (!this.counts) {
      head.push(["per hit", "Self divided by hits"]);
      head.push(
        ["calls", "Calls made from it"],
        ["total", "Time of these calls"],
      );
    }
    head.push(["source", ""]);
    this.element = h("div", {
      class: "listing" + (this.counts ? " counts" : ""),
      role: "table",
      "aria-label": source.place,
      "aria-rowcount": this.height,
    });
    this.element.append(
      h(
        "div",
        { class: "line heading", role: "row" },
        head.map(([title, hint]) =>
          h("span", { role: "columnheader", title: hint }, title),
        ),
      ),
    );
    // columns stay named while lines go by, and long lines are scrolled to
    this.scroller = h("div", { class: "lines", role: "rowgroup" });
    this.element.append(this.scroller);
    this.blocks = [];
    const observer = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          if (entry.isIntersecting)
            this.make(Number(entry.target.dataset.block));
        }
      },
      { rootMargin: "600px" },
    );
    for (let from = 0; from < this.height; from += block) {
      const lines = Math.min(block, this.height - from);
      const element = h("div", {
        role: "presentation",
        class: "block",
        data: { block: this.blocks.length },
        style: { height: lines * rowHeight + "px" },
      });
      this.blocks.push({ element, from, to: from + lines });
      this.scroller.append(element);
      observer.observe(element);
    }
    this.observer = observer;
    if (this.height <= block * 10) this.all();
  }

  all() {
    this.blocks.forEach((_, i) => this.make(i));
  }

  make(index) {
    const b = this.blocks[index];
    if (b.made) return;
    b.made = true;
    this.observer.unobserve(b.element);
    for (let n = b.from + 1; n <= b.to; n++) b.element.append(this.line(n));
    b.element.style.setProperty("height", "auto");
  }

  // The element of a line, which is made if it is not there.
  find(n) {
    const index = Math.floor((n - 1) / block);
    if (!this.blocks[index]) return undefined;
    this.make(index);
    return this.blocks[index].element.children[(n - 1) % block];
  }

  code(n) {
    const pieces = this.pieces[n - 1] || [];
    const parts = this.expressions?.of.get(n);
    if (!parts) return tags(pieces.map(([k, s]) => [k, s, 0]));
    const columns = parts.flatMap((e) => [e.from, e.to]);
    columns.sort((a, b) => a - b);
    return tags(cut(pieces, columns), this.expressions.most, parts);
  }

  line(n) {
    const { app, source, counts } = this;
    const line = source.byLine.get(n);
    const active = source.active[n - 1] === "1";
    const never = active && !line;
    const heat = this.heatOf(line);
    const most = line && line.most;
    const self = line ? most || line.self : 0;
    const cell = (content, kind) =>
      h("span", { role: "cell", class: kind }, content);
    const cells = [
      h(
        "a",
        {
          role: "cell",
          class: "n",
          tabindex: "-1",
          href: app.link({ file: source.place, line: n }),
        },
        String(n),
      ),
      cell(line ? short(line.hits) : never ? "–" : ""),
      cell(self > 0 ? (most ? "<" : "") + app.figure(self) : ""),
      cell(self > 0 ? percent(self, app.model.whole) : "", "percent"),
      cell(heat > 0 ? bar(heat, "heat") : ""),
    ];
    if (!counts) {
      cells.push(
        cell(
          line && line.hits > 0 && line.self > 0
            ? app.figure(line.self / line.hits)
            : "",
        ),
        cell(line && line.calls > 0 ? short(line.calls) : ""),
        cell(line && line.calls > 0 ? app.figure(line.total) : ""),
      );
    }
    const notes = this.branches.get(n);
    cells.push(
      h(
        "span",
        { role: "cell", class: "code" },
        this.code(n),
        notes && h("span", { class: "branch" }, notes.join(", ")),
      ),
    );
    return h(
      "div",
      {
        class: "line" + (never ? " never" : ""),
        role: "row",
        "aria-rowindex": n,
        id: "line-" + n,
        style: { "--heat": Math.sqrt(heat).toFixed(3) },
      },
      cells,
    );
  }
}

// The whole file, a row of pixels for some lines; a frame for what is seen.
function minimap(listing, go) {
  const canvas = h("canvas", { "aria-hidden": "true" });
  const seen = h("div", { class: "seen" });
  const element = h("div", { class: "minimap" }, canvas, seen);
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
    const ratio = devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const c = canvas.getContext("2d");
    const style = getComputedStyle(canvas);
    const ink = style.getPropertyValue("--faint");
    const hotInk = style.getPropertyValue("--hot");
    c.scale(ratio, ratio);
    const step = Math.min(3, height / Math.max(1, listing.height));
    canvas.step = step;
    listing.source.text.forEach((s, i) => {
      const indent = s.match(/^\s*/)[0].length;
      c.globalAlpha = 1;
      c.fillStyle = ink;
      const long = Math.min(width - 10, (s.length - indent) * 0.7);
      if (long > 0)
        c.fillRect(8 + indent * 0.7, i * step, long, Math.max(0.6, step * 0.6));
      const heat = listing.heatOf(listing.source.byLine.get(i + 1));
      if (heat > 0.01) {
        c.fillStyle = hotInk;
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

function nothing(app, root) {
  const counted = app.model.unit !== "ns";
  fill(
    root,
    h(
      "p",
      { class: "lead" },
      "No lines were recorded. To have them: ",
      h("code", {}, counted ? "cprof run --count" : "cprof run --lines"),
      ", or ",
      h("code", {}, 'start { mode = "line" }'),
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
  const order = [...model.sources].sort((a, b) => b.self - a.self);
  const files = h("div", {
    class: "files",
    role: "group",
    "aria-label": "Files",
  });
  const hotList = h("div", { class: "hotlines" });
  const head = h("div", { class: "controls" });
  const body = h("div", { class: "body" });
  fill(
    root,
    h(
      "aside",
      {},
      h("h2", {}, "Files"),
      files,
      h("h2", {}, "Hottest lines"),
      hotList,
    ),
    h("div", { class: "sheet" }, head, body),
  );
  let listing;
  let map;
  let key;

  // the source of a state: that of the file, the function, or the hottest
  function wanted() {
    const { state } = app;
    const f = app.chosen;
    return (
      order.find(
        (s) =>
          s.place === state.file && (!f || f.source === s.id || state.line),
      ) ||
      (f && model.sources[f.source]) ||
      order.find((s) => s.place === state.file) ||
      order[0]
    );
  }

  function options() {
    const { state } = app;
    return {
      heat: heats[state.heat] ? state.heat : "self",
      relative: state.relative,
      parts: state.parts !== "0",
    };
  }

  function draw_files(current) {
    const most = order[0].self || 1;
    fill(
      files,
      order.map((s) => {
        const slash = s.place.lastIndexOf("/");
        return h(
          "a",
          {
            href: app.link({
              file: s.place,
              line: undefined,
              function: undefined,
            }),
            "aria-current": s === current ? "true" : null,
            title: s.place,
          },
          h("span", { class: "name" }, s.place.slice(slash + 1)),
          h("span", { class: "percent" }, percent(s.self, model.whole)),
          bar(s.self / most, "heat"),
        );
      }),
    );
    files.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }

  function draw_hot(current) {
    fill(
      hotList,
      hottest(model, 12, current).map(({ line }) =>
        h(
          "a",
          {
            href: app.link({ file: current.place, line: line.n }),
            "aria-current": String(line.n) === app.state.line ? "true" : null,
          },
          h("span", { class: "n" }, String(line.n)),
          h("span", { class: "code" }, (current.text[line.n - 1] || "").trim()),
          h("span", { class: "percent" }, percent(line.self, model.whole)),
        ),
      ),
    );
  }

  function draw_head(current) {
    const set = options();
    const [ran, could] = coverage(current);
    const counts = model.unit !== "ns";
    fill(
      head,
      h("span", { class: "name", title: current.place }, current.place),
      h(
        "span",
        { class: "aside" },
        `${percent(current.self, model.whole)} % self, ` +
          `${count(ran)} of ${plural(could, "line")} ran`,
      ),
      h("span", { class: "space" }),
      choice(
        "Heat",
        [
          ["self", counts ? "Instructions" : "Self", "What shades a line"],
          ["hits", "Hits", "What shades a line"],
          !counts && ["total", "Calls", "Time of the calls made from it"],
        ].filter(Boolean),
        set.heat,
        (heat) => app.set({ heat }),
      ),
      choice(
        "Relative to",
        [
          [undefined, "File", "Relative to the hottest line of the file"],
          ["project", "Project", "Relative to the hottest line of all"],
        ],
        set.relative,
        (relative) => app.set({ relative }),
      ),
      current.expressions &&
        toggle("Expressions", set.parts, (on) =>
          app.set({ parts: on ? undefined : "0" }),
        ),
    );
  }

  function note(current) {
    const said = [current.note, current.unmapped].filter(Boolean);
    if (app.state.frames || app.state.focus || app.state.hide) {
      said.push("lines are those of the whole recording");
    }
    return said.length > 0 && h("p", { class: "aside note" }, said.join("; "));
  }

  function mark(scroll) {
    const { state } = app;
    for (const e of body.querySelectorAll(".line.at, .line.within")) {
      e.classList.remove("at", "within");
    }
    const f = app.chosen;
    if (f && model.sources[f.source] === listing.source && f.kind !== "main") {
      for (let n = f.line; n <= f.last; n++)
        listing.find(n)?.classList.add("within");
    }
    const at =
      Number(state.line) || (f && f.source === listing.source.id && f.line);
    const row = at && listing.find(at);
    if (!row) return;
    if (state.line) row.classList.add("at");
    if (scroll) row.scrollIntoView({ block: state.line ? "center" : "start" });
  }

  function go(n) {
    app.set({ file: listing.source.place, line: n }, true);
  }

  function update() {
    const current = wanted();
    const set = options();
    const now = [current.id, set.heat, set.relative, set.parts].join();
    draw_files(current);
    draw_hot(current);
    draw_head(current);
    if (now !== key) {
      key = now;
      listing = new Listing(app, current, set);
      map = minimap(listing, go);
      fill(
        body,
        note(current),
        h("div", { class: "paper" }, listing.element, map.element),
      );
      map.draw();
    }
    mark(true);
    map.follow();
  }

  const follow = () => map.follow();
  update();
  addEventListener("scroll", follow, { passive: true });
  return {
    update,
    resize: () => {
      map.draw();
      map.follow();
    },
    close: () => removeEventListener("scroll", follow),
    print: () => listing.all(),
    key: (event) => {
      if (event.key === "n" || event.key === "p") {
        const at = Number(app.state.line) || 0;
        const to = beside(hot(listing.source, 0.01), at, event.key === "n");
        if (to) go(to);
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
