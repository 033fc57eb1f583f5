// What changed from one profile to another: a table, and a flame graph whose
// colours show what takes more or less.

import { bounds } from "./bound.js";
import { change, palette } from "./colors.js";
import { choice, fill, h } from "./dom.js";
import { count, fixed, plural, signed } from "./format.js";
import { Icicle } from "./icicle.js";
import { matcher, searched, wantedIn } from "./search.js";
import { uncertain } from "./samples.js";
import { named, placed, Table } from "./table.js";
import { named as rangeName } from "./ranged.js";
import { both, forked, layout } from "./tree.js";

// Two profiles may count different things: calls, or samples.
function sameCounts(model) {
  return model.sampled === model.before.sampled;
}

// A row for each function that is in either profile.
export function rowsOf(model) {
  const { before } = model;
  const out = [];
  for (const f of model.functions) {
    const was = before.has[f.id] === 1;
    const is = !before.gone.includes(f.id);
    if (f.kind === "root" || f.kind === "internal") continue;
    const row = {
      f,
      state: was ? (is ? "" : "removed") : "added",
      was: {
        self: before.self[f.id],
        total: before.total[f.id],
        calls: before.calls[f.id],
        cost: before.cost?.[f.id] ?? 0,
        totalCost: before.totalCost?.[f.id] ?? 0,
      },
      now: {
        self: f.self,
        total: f.total,
        calls: f.calls,
        cost: f.cost,
        totalCost: f.totalCost,
      },
    };
    const keys = sameCounts(model)
      ? ["self", "total", "calls"]
      : ["self", "total"];
    if (keys.some((key) => row.now[key] !== row.was[key])) out.push(row);
  }
  return out;
}

// A bar to the right for more, to the left for less.
function diverging(share) {
  const width = Math.min(1, Math.abs(share)) * 50;
  const style = { width: width.toFixed(1) + "%" };
  style[share < 0 ? "right" : "left"] = "50%";
  return h(
    "span.diverging",
    { "aria-hidden": "true" },
    h("span", { class: share < 0 ? "less" : "more-of", style }),
  );
}

export function diff(app, root) {
  const { model } = app;
  const { before } = model;
  const text = app.figure;
  // a time of a row, or its upper bound
  const amount = ({ self, total, cost, totalCost }, key, limit) => {
    const raw = [self + cost, total + totalCost];
    const most = bounds(self, raw[0], total, raw[1], limit);
    return key === "self"
      ? app.amount(self, most[0])
      : app.amount(total, most[1]);
  };
  // Ranges of time differ in length, so their shares are compared.
  const shares = before.range !== undefined;
  const part = (n, { whole }) => (shares ? n / Math.max(whole, 1) : n);
  const changed = (was, now) => part(now, model) - part(was, before);
  const points = (n) => fixed(100 * n, 1);
  const told = shares ? points : text;
  const all = rowsOf(model);
  const tree = both(model.recorded(before.tree), model.tree);
  const box = h("div");
  const graphBox = h("div");
  const search = searched(app);
  let graph;
  let table;
  let drawn;

  // the margin of error of a change; 0 if neither profile has samples
  const far = (was, now) =>
    uncertain(
      [part(was, before), shares ? 1 : before.whole, before.samples],
      shares
        ? [part(now, model), 1, model.samples.sure]
        : [now, model.whole, model.samples?.sure],
    );

  function off(was, now) {
    const n = far(was, now);
    return n > 0 ? ` ±${told(n)}` : "";
  }

  // the colour of a change; none if it is within the margin of error
  function judged(was, now, counts) {
    const by = counts ? now - was : changed(was, now);
    if (by === 0 || (!counts && Math.abs(by) <= far(was, now))) return "";
    return by > 0 ? "worse" : "better";
  }

  function facts() {
    const now = model.whole;
    const was = before.whole;
    const put = (title, value, kind) =>
      h("div", h("dt", title), h("dd", { class: kind }, value));
    const by =
      was > 0
        ? `, ${signed(((now - was) / was) * 100, (n) => fixed(n, 1))} %`
        : "";
    return h(
      "dl.facts",
      put(shares ? rangeName(before.range) : "before", text(was)),
      put(
        model.range
          ? rangeName(model.range)
          : shares
            ? "whole recording"
            : "after",
        text(now),
      ),
      !shares &&
        put(
          "change",
          signed(now - was, text) + by,
          now > was ? "worse" : "better",
        ),
      put("added", count(all.filter((row) => row.state === "added").length)),
      put(
        "removed",
        count(all.filter((row) => row.state === "removed").length),
      ),
    );
  }

  function notes() {
    const same = before.program === model.meta.program;
    const list = same ? [] : [`before: ${before.program}`];
    list.push(...before.notes);
    if (list.length === 0) return undefined;
    return h(
      "ul.notes",
      list.map((note) => h("li", { title: note }, note)),
    );
  }

  function draw_graph() {
    const by = app.state.by === "before" ? "before" : "after";
    if (drawn === by) return;
    drawn = by;
    graph?.close();
    const was = tree.before || tree;
    const delta = (node) => changed(was.total[node], tree.total[node]);
    const whole = shares ? 1 : Math.max(model.whole, before.whole);
    graph = new Icicle(app, {
      label: "Differential flame graph. The table below has the same functions",
      height: () => 380,
      fit: true,
      color: (theme) => (node) => change(theme, delta(node) / whole),
      name: (node) => {
        const name = model.functions[tree.func[node]].name;
        const d = delta(node) / whole;
        return Math.abs(d) < 0.0005 ? name : (d > 0 ? "▲ " : "▼ ") + name;
      },
      detail: (node) => {
        const old = was.most(node, before.most);
        const now = tree.most(node, model.most);
        return [
          `total ${app.amount(was.total[node], old[1])} → ` +
            `${app.amount(tree.total[node], now[1])}, ` +
            signed(delta(node), told) +
            (shares ? " points" : "") +
            off(was.total[node], tree.total[node]),
          `self ${app.amount(was.self[node], old[0])} → ` +
            app.amount(tree.self[node], now[0]),
          sameCounts(model)
            ? `${model.counted} ${count(was.calls[node])} → ${count(tree.calls[node])}`
            : "",
        ];
      },
      choose: (node) => {
        const f = model.functions[tree.func[node]];
        app.choose(f.kind === "root" ? undefined : f);
      },
    });
    fill(graphBox, graph.element);
    const l = layout(tree, by === "before" ? was.self : tree.self);
    graph.show(l);
    const from = forked(l);
    if (from > 0) graph.zoom(from, true);
  }

  function legend() {
    const theme = palette(app.isDark());
    const swatch = (color, what) => [
      h("span.swatch", { style: { background: color } }),
      what,
    ];
    return h(
      "span.aside.legend",
      swatch(theme.less(0.7), "▼ less"),
      swatch(theme.same, "unchanged"),
      swatch(theme.more(0.7), "▲ more"),
    );
  }

  function draw_table() {
    const { state } = app;
    const passes = matcher(state.search) || (() => true);
    const counts = sameCounts(model) && !shares;
    const keys = counts ? ["total", "calls"] : ["total"];
    const key = keys.includes(state.sort) ? state.sort : "self";
    const delta = (row) =>
      key === "calls"
        ? row.now[key] - row.was[key]
        : changed(row.was[key], row.now[key]);
    const rows = all.filter(
      (row) => passes(row.f) && (delta(row) !== 0 || row.state),
    );
    rows.sort((a, b) => Math.abs(delta(b)) - Math.abs(delta(a)));
    const most = rows.length > 0 ? Math.abs(delta(rows[0])) || 1 : 1;
    const show = key === "calls" ? count : told;
    const figure = (row, side, limit) =>
      key === "calls" ? count(row[side].calls) : amount(row[side], key, limit);
    table = new Table(
      [
        {
          title: `${key === "calls" ? model.counted : key} before`,
          cell: (row) =>
            row.state === "added" ? "–" : figure(row, "was", before.most),
        },
        {
          title: "after",
          cell: (row) =>
            row.state === "removed" ? "–" : figure(row, "now", model.most),
        },
        {
          title: shares ? "points" : "change",
          hint: shares
            ? "Percentage points: the share after minus the share before"
            : undefined,
          cell: (row) =>
            h(
              "span",
              { class: judged(row.was[key], row.now[key], key === "calls") },
              signed(delta(row), show),
              key === "calls" ? "" : off(row.was[key], row.now[key]),
            ),
        },
        {
          title: "",
          class: "bars",
          cell: (row) => diverging(delta(row) / most),
        },
        sameCounts(model) &&
          key !== "calls" && {
            title: model.counted,
            cell: (row) =>
              row.was.calls === row.now.calls
                ? count(row.now.calls)
                : `${count(row.was.calls)} → ${count(row.now.calls)}`,
          },
        {
          title: "function",
          left: true,
          cell: (row) => [
            ...named(app, row.f),
            row.state && h("span", { class: "tag " + row.state }, row.state),
            before.was[row.f.id] &&
              h("span.aside", ` was ${before.was[row.f.id]}`),
          ],
        },
        { title: "defined", left: true, cell: (row) => placed(row.f) },
      ].filter(Boolean),
      {
        caption: "Functions that changed",
        none: "Nothing changed.",
        row: (row) => ({ "aria-selected": row.f === app.chosen }),
        choose: (row) => app.choose(row.f),
      },
    );
    table.show(rows);
    fill(
      search.rest,
      choice(
        "Sort by",
        [
          ["self", "Self"],
          ["total", "Total"],
          counts && ["calls", model.sampled ? "Samples" : "Calls"],
        ].filter(Boolean),
        key,
        (sort) => app.set({ sort }),
      ),
      h("span.aside", { role: "status" }, plural(rows.length, "function")),
    );
    fill(box, table.element);
  }

  fill(
    root,
    facts(),
    notes() || "",
    h(
      "div.controls",
      choice(
        "Width",
        [
          ["after", "Width: after"],
          ["before", "before"],
        ],
        app.state.by === "before" ? "before" : "after",
        (by) => app.set({ by: by === "before" ? by : undefined }),
      ),
      legend(),
    ),
    graphBox,
    h("h2.apart", "Functions"),
    search.element,
    box,
  );

  function update() {
    for (const b of root.querySelectorAll("[aria-label=Width] button")) {
      const own = b.textContent === "before" ? "before" : "after";
      const on = own === (app.state.by === "before" ? "before" : "after");
      b.setAttribute("aria-pressed", String(on));
    }
    draw_graph();
    graph.highlight(wantedIn(model.functions, app.state.search));
    draw_table();
  }

  update();
  return {
    update,
    resize: () => graph.resize(),
    key: (event) => graph.key(event) || table.key(event),
    close: () => graph.close(),
  };
}
