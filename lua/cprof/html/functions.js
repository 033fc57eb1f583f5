// All functions, as a table.

import { bound, bounds } from "./bound.js";
import { choice, fill, h, refill, toggle } from "./dom.js";
import { count, figure, plural } from "./format.js";
import { measures } from "./measures.js";
import { matcher, searched } from "./search.js";
import {
  amount,
  counting,
  figureOf,
  named,
  placed,
  Table,
  waiting,
} from "./table.js";
import { levels } from "./tree.js";

const deepest = 1000;

// The rows of a table: functions, files, or functions by level.
export function rowsOf(app, state) {
  const { model, scope } = app;
  const passes = matcher(state.search) || (() => true);
  const rows = [];
  const own = allocated(app, state);
  for (const f of model.functions) {
    const { id } = f;
    const ran =
      (!scope.measure && scope.calls[id] > 0) ||
      scope.self[id] > 0 ||
      scope.total[id] > 0;
    if (!ran || !passes(f) || f.kind === "root") continue;
    const row = {
      f,
      name: f.name,
      calls: scope.calls[id],
      samples: scope.samples?.[id],
    };
    for (const [key, figures] of own) row[key] = figures[id];
    [row.self, row.selfMost] = figureOf(app, f, "self");
    [row.total, row.totalMost] = figureOf(app, f, "total");
    rows.push(row);
  }
  if (state.recursion === "spread" && scope.tree) return spread(rows, app);
  return state.group === "file" ? files(rows, app, own) : rows;
}

// Known figures of functions in other measures than the one shown: a list of
// [measure, figures by function]. CPU time is left out: it is the time minus
// waiting.
function allocated({ model, scope }, state) {
  return model.measures
    .filter((key) => key !== scope.measure && !["cpu", "peak"].includes(key))
    .map((key) => [key, model.allocated(state, key)])
    .filter(([, figures]) => figures);
}

// a row for each level of a recursion
function spread(rows, { scope, model }) {
  const out = [];
  for (const row of rows) {
    const list = row.f.depth > 1 ? levels(scope.tree, row.f.id) : [];
    if (list.length < 2) out.push(row);
    else {
      list.slice(0, deepest).forEach((level, i) => {
        const most = limits(level, model);
        out.push({ ...level, ...most, f: row.f, name: row.name, level: i + 1 });
      });
    }
  }
  return out;
}

// the upper bounds of a row's times, if their overhead is known
function limits({ self, total, cost, totalCost }, model) {
  if (cost === undefined) return {};
  const raw = total + totalCost;
  const at = bounds(self, self + cost, total, raw, model.most);
  return { selfMost: at[0], totalMost: at[1] };
}

// a row for each file; functions without a file have a row for their kind
function files(rows, { scope, model }, own) {
  const out = new Map();
  for (const row of rows) {
    const place =
      row.f.place || (row.f.kind === "C" ? "[C]" : row.f.kind || "(no file)");
    const file = out.get(place) || {
      place,
      name: place,
      self: 0,
      cost: 0,
      calls: 0,
      functions: 0,
      first: row.f,
    };
    file.self += scope.self[row.f.id];
    file.cost += scope.cost?.[row.f.id] ?? 0;
    file.calls += row.calls;
    file.functions++;
    for (const [key] of own) file[key] = (file[key] || 0) + row[key];
    out.set(place, file);
  }
  for (const file of out.values()) {
    file.selfMost = bound(file.self, file.self + file.cost, model.most);
  }
  return [...out.values()];
}

function sorted(rows, key, up) {
  const value = key === "name" ? (r) => r.name.toLowerCase() : valueOf(key);
  const sign = up ? 1 : -1;
  return rows.sort((a, b) => {
    const x = value(a);
    const y = value(b);
    if (x !== y) return x < y ? -sign : sign;
    return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
  });
}

function valueOf(key) {
  if (key === "per") return (r) => (r.calls ? r.total / r.calls : 0);
  if (key === "place") return (r) => r.place || r.f.place + r.f.line / 1e6;
  return (r) => r[key];
}

function columnsOf(app, state) {
  const grouped = state.group === "file" && state.recursion !== "spread";
  const value = (key) => valueOf(key);
  const figures = (key, hint) =>
    amount(app, {
      key,
      title: key,
      hint,
      get: (row) => [row[key], row[key + "Most"]],
      waits: (row) => (key === "self" ? waiting(app, row.wait, row.self) : 0),
    });
  const out = figures("self", "In the function itself, without its callees");
  if (!grouped) {
    out.push(...figures("total", "With its callees; recursion counted once"));
  }
  const { sampled, counted } = app.model;
  const single = !grouped && state.recursion !== "spread";
  out.push(
    ...counting(app.model, (row) => row.calls, {
      key: "calls",
      value: value("calls"),
    }),
  );
  if (sampled && counted && single) {
    out.push({
      key: "samples",
      title: "with callees",
      hint: "Samples of the function and of its callees",
      value: value("samples"),
      cell: (row) => count(row.samples),
    });
  } else if (!sampled && !grouped) {
    out.push({
      key: "per",
      title: "per call",
      class: "spare",
      hint: "Total divided by calls",
      value: value("per"),
      cell: (row) =>
        row.calls
          ? app.amount(
              row.total / row.calls,
              (row.totalMost ?? row.total) / row.calls,
            )
          : "",
    });
  }
  if (single || grouped) {
    for (const [key] of allocated(app, state)) {
      const { column, hint, unit } = measures[key];
      const text = figure(unit);
      out.push({
        key,
        title: column,
        class: key === "bytes" ? undefined : "spare",
        hint: `${hint}; in the function itself, without its callees`,
        value: value(key),
        cell: (row) => (row[key] > 0 ? text(row[key]) : ""),
      });
    }
  }
  out.push(
    grouped
      ? {
          key: "name",
          title: "file",
          left: true,
          value: value("name"),
          cell: (row) => [
            h("span.name", row.place),
            h("span.aside", " " + plural(row.functions, "function")),
          ],
        }
      : {
          key: "name",
          title: "function",
          left: true,
          value: value("name"),
          cell: (row) => [
            ...named(app, row.f),
            row.level && h("span.aside", ` level ${row.level}`),
            !row.level &&
              row.f.depth > 1 &&
              h(
                "span.aside",
                { title: "Deepest recursion" },
                ` ×${count(row.f.depth)}`,
              ),
          ],
        },
  );
  if (!grouped) {
    out.push({
      key: "place",
      title: "defined",
      left: true,
      class: "extra",
      value: value("place"),
      cell: (row) => placed(row.f, app.model.measures.length > 0),
    });
  }
  return out;
}

export function functions(app, root) {
  const box = h("div");
  const said = h("span.aside", { role: "status" });
  const search = searched(app);
  const table = new Table();
  fill(root, search.element, box);

  function draw() {
    const { state } = app;
    const by = state.sort || "self";
    const up = state.up === "1";
    search.show(state.search);
    refill(
      search.rest,
      choice(
        "Group by",
        [
          [undefined, "Functions"],
          ["file", "Files"],
        ],
        state.group,
        (group) => app.set({ group, recursion: undefined, sort: undefined }),
      ),
      app.scope.tree &&
        toggle(
          "Spread recursion",
          state.recursion === "spread",
          (on) =>
            app.set({ recursion: on ? "spread" : undefined, group: undefined }),
          "One row for each level of recursion",
        ),
      said,
      state.search && app.scope.tree && app.filters(state.search, "these"),
    );
    const columns = columnsOf(app, state);
    const options = {
      caption: "Functions and their figures",
      sort: { key: by, up },
      none: "No function matches.",
      order: (column) =>
        app.set({
          sort: column.key,
          up: by === column.key ? (up ? undefined : "1") : column.left && "1",
        }),
      row: (row) => ({ "aria-selected": row.f && row.f === app.chosen }),
      choose: (row) =>
        row.f
          ? app.choose(row.f)
          : app.set({ group: undefined, search: row.place }),
      key: (row) => (row.f ? `${row.f.title}\n${row.level || ""}` : row.place),
    };
    table.change(columns, options);
    const rows = sorted(rowsOf(app, state), by, up);
    const matched = new Set(rows.map((row) => row.f));
    const self = [...matched].reduce(
      (sum, f) => sum + (f ? app.scope.self[f.id] : 0),
      0,
    );
    const spreads = state.recursion === "spread";
    const unit = spreads ? "row" : state.group === "file" ? "file" : "function";
    const number = plural(rows.length, unit);
    said.textContent = state.search
      ? `${number}, ${app.share(self)} % self`
      : number;
    table.show(rows);
    refill(box, table.element);
  }

  draw();
  return {
    refresh: draw,
    update: () => {
      const inside = box.contains(document.activeElement);
      draw();
      if (inside) box.querySelector("tr[tabindex='0']")?.focus();
    },
    key: (event) => table.key(event),
  };
}
