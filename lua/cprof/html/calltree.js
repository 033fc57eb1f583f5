// The call tree as a table, top-down or inverted. Only the rows in sight are
// drawn, however many there are.

import {
  flatten,
  Inverted,
  openHottest,
  read,
  renumbered,
  TopDown,
  written,
} from "./branches.js";
import { button, choice, fill, h, refill, toggle } from "./dom.js";
import { notKept } from "./facts.js";
import { plural } from "./format.js";
import { searched, wantedIn } from "./search.js";
import { amount, classOf, counting, named, ordered, placed } from "./table.js";
import { kindOf, merged, only } from "./tree.js";

const rowHeight = 24;
const headHeight = 28;
// browsers have no higher elements than some; beyond this, one pixel stands
// for more
const highest = 8e6;
const printed = 1000;

const directions = [
  [undefined, "Top-down", "Callees below their callers"],
  ["1", "Inverted", "Callers below their callees"],
];

const orders = ["self", "total", "calls", "name"];

// trees that were made of a scope's tree, and the rows of these
const made = new WeakMap();

function once(tree, key, make) {
  if (!made.has(tree)) made.set(tree, {});
  const known = made.get(tree);
  known[key] ??= make();
  return known[key];
}

// The rows that a state asks for; undefined: there is no tree.
function branchesOf(app) {
  const { model, scope, state } = app;
  const { tree } = scope;
  if (!tree) return undefined;
  const { sampled, most, functions } = model;
  const root = functions.findIndex((f) => f.kind === "root");
  const host = functions.findIndex((f) => f.name === "(host)");
  const make = (Kind, of) => new Kind(of, { sampled, most, root, host });
  const folded = () => once(tree, "merged", () => merged(tree, kindOf(model)));
  if (state.inverted) {
    return once(tree, "inverted", () => make(Inverted, folded()));
  }
  if (state.recursion !== "spread") {
    return once(tree, "folded", () => make(TopDown, folded()));
  }
  // calls from different lines are one node
  return once(tree, "spread", () =>
    make(TopDown, tree.line ? only(tree, () => true) : tree),
  );
}

export function calltree(app, root) {
  const search = searched(app);
  const said = h("span.aside", { role: "status" });
  const head = h("tr", { role: "row" });
  const body = h("tbody", { role: "rowgroup" });
  const table = h(
    "table.figures.treerows",
    { role: "treegrid", tabindex: "0" },
    h("thead", { role: "rowgroup" }, head),
    body,
  );
  const room = h("div.treeroom", table);
  const box = h("div.treebox", room);
  fill(root, search.element, box);

  let branches;
  /** @type {any} */
  let rows;
  let open = new Map();
  // nodes that were closed in the result of a search
  let shut = new Set();
  let cursor = 0;
  let first = 0;
  // what the address had when it was read or written
  let known;
  // the state, the rows' tree, and the functions that were drawn
  let shown;
  let tree;
  let functions;
  let waiting;
  let wrote = 0;

  const main = () => (app.state.inverted ? "self" : "total");
  const nameOf = (i) => app.model.functions[branches.func(rows.nodes[i])];

  // the functions from the root to a row
  function path(i) {
    const out = [];
    let level = Infinity;
    for (let k = i; k >= 0 && level > 0; k--) {
      if (rows.levels[k] >= level) continue;
      level = rows.levels[k];
      out.unshift(rows.of.func(rows.nodes[k]));
    }
    return out.join(".");
  }

  // the row of such a path, or of the longest part of it
  function find(text) {
    const wanted = (text || "").split(".").map(Number);
    let found = 0;
    let level = 0;
    for (let i = 0; i < rows.nodes.length && level < wanted.length; i++) {
      if (rows.levels[i] < level) break;
      if (rows.levels[i] > level) continue;
      if (branches.func(rows.nodes[i]) !== wanted[level]) continue;
      found = i;
      level++;
    }
    return found;
  }

  function flat() {
    const { state, model } = app;
    const wanted = wantedIn(model.functions, state.search);
    const by = orders.includes(state.order) ? state.order : main();
    const names = model.functions.map((f) => f.name.toLowerCase());
    rows = flatten(branches, {
      open,
      shut,
      order: { by, up: state.up === "1", names },
      kept: wanted && !state.inverted ? branches.kept(wanted) : undefined,
      passes: wanted && state.inverted ? (f) => wanted[f] : undefined,
    });
    rows.wanted = wanted;
    rows.of = branches;
  }

  // Writes what is open, and the cursor's row, to the address: at once, but
  // not more often than browsers accept.
  function write() {
    clearTimeout(waiting);
    const now = () => {
      wrote = performance.now();
      known = { open: written(open), row: path(cursor) || undefined };
      app.set(known, true);
    };
    const since = performance.now() - wrote;
    if (since > 250) now();
    else waiting = setTimeout(now, 250 - since);
  }

  // the change of the address for what is shown now
  function pending() {
    clearTimeout(waiting);
    known = { open: written(open), row: path(cursor) || undefined };
    return known;
  }

  const fits = () =>
    app.printing
      ? printed
      : Math.max(1, Math.floor((box.clientHeight - headHeight) / rowHeight));
  const last = () => Math.max(0, rows.nodes.length - fits());

  function size() {
    const n = Math.max(1, rows.nodes.length);
    const top = box.getBoundingClientRect().top + scrollY;
    const free = Math.max(240, innerHeight - top - 24);
    const all = headHeight + Math.min(n * rowHeight, highest);
    box.style.height = app.printing
      ? "auto"
      : `${Math.min(all + 4, Math.floor(free))}px`;
    room.style.height = app.printing ? "auto" : `${all}px`;
  }

  // the first row in sight, by how far the box is scrolled
  function scrolled() {
    if (app.printing) return 0;
    const way = room.offsetHeight - box.clientHeight;
    const exact = rows.nodes.length * rowHeight <= highest;
    const part = exact
      ? Math.ceil(box.scrollTop / rowHeight)
      : Math.round((box.scrollTop / Math.max(1, way)) * last());
    return Math.min(part, last());
  }

  function scroll(to) {
    first = Math.max(0, Math.min(to, last()));
    const way = room.offsetHeight - box.clientHeight;
    const exact = rows.nodes.length * rowHeight <= highest;
    box.scrollTop = exact
      ? first * rowHeight
      : (first / Math.max(1, last())) * way;
  }

  function go(i, quiet) {
    if (rows.nodes.length === 0) {
      cursor = 0;
      lines();
      return;
    }
    cursor = Math.max(0, Math.min(i, rows.nodes.length - 1));
    if (cursor < first) scroll(cursor);
    else if (cursor >= first + fits()) scroll(cursor - fits() + 1);
    lines();
    if (!quiet) write();
  }

  function columns() {
    const figures = (key, hint, more) =>
      amount(app, {
        key,
        title: key,
        hint,
        get: (row) => [row[key], row[key + "Most"]],
      })
        .filter((column) => column.class !== "bars" || key === main())
        .map((column) => ({
          ...column,
          class: [column.class, key !== main() && more]
            .filter(Boolean)
            .join(" "),
        }));
    const total = figures("total", "With its callees", "extra");
    const self = figures("self", "Without its callees", "extra");
    return ordered([
      ...(app.state.inverted ? [...self, ...total] : [...total, ...self]),
      ...counting(app.model, (row) => row.calls, {
        key: "calls",
        class: "extra",
        value: (row) => row.calls,
      }),
      {
        key: "name",
        title: "function",
        left: true,
        class: "named",
        value: (row) => row.f.name,
        cell: (row) => [
          h("span.indent", { style: { width: `${row.indent}px` } }),
          h(
            "span.mark",
            {
              "aria-hidden": "true",
              onclick: (event) => {
                event.stopPropagation();
                cursor = row.i;
                turn(!rows.open[row.i]);
              },
            },
            row.more ? (rows.open[row.i] ? "▾" : "▸") : "",
          ),
          ...named(app, row.f),
        ],
      },
      {
        title: "defined",
        left: true,
        class: "placed extra",
        cell: (row) => placed(row.f),
      },
    ]);
  }

  function heads(list) {
    const { state } = app;
    const by = orders.includes(state.order) ? state.order : main();
    refill(
      head,
      list.map((column) =>
        h(
          "th",
          {
            scope: "col",
            role: "columnheader",
            class: classOf(column),
            title: column.hint,
            "aria-sort":
              column.key !== by
                ? null
                : (state.up === "1") !== (by === "name")
                  ? "ascending"
                  : "descending",
          },
          column.value
            ? button(column.title, () =>
                app.set({
                  ...pending(),
                  order: column.key,
                  up: by === column.key && state.up !== "1" ? "1" : "",
                }),
              )
            : column.title,
        ),
      ),
    );
  }

  // By how many levels the rows in sight are shifted to the left, so that the
  // deepest has room for its name.
  function shift(from, to) {
    const step = innerWidth > 480 ? 14 : 7;
    let [least, most] = [Infinity, 0];
    for (let i = from; i < to; i++) {
      least = Math.min(least, rows.levels[i]);
      most = Math.max(most, rows.levels[i]);
    }
    const name = Math.max(120, box.clientWidth * 0.36);
    const fitting = Math.floor((name * 0.6) / step);
    const by = Math.max(0, Math.min(least, most - fitting));
    return { by, step, most: fitting * step };
  }

  function lines() {
    const n = rows.nodes.length;
    const to = Math.min(n, first + fits());
    const list = columns();
    heads(list);
    const { by, step, most } = shift(first, to);
    const out = [];
    for (let i = first; i < to; i++) {
      const node = rows.nodes[i];
      const f = nameOf(i);
      const more = branches.has(node);
      const row = {
        ...branches.figures(node),
        i,
        f,
        more,
        indent: Math.min((rows.levels[i] - by) * step, most),
      };
      const matched = !rows.wanted || rows.wanted[f.id] || app.state.inverted;
      out.push(
        h(
          "tr",
          {
            key: `${i - first}`,
            id: `row${i}`,
            role: "row",
            class: [f === app.chosen && "chosen", !matched && "unmatched"]
              .filter(Boolean)
              .join(" "),
            "aria-level": rows.levels[i] + 1,
            "aria-rowindex": i + 2,
            "aria-expanded": more ? String(rows.open[i]) : null,
            "aria-selected": i === cursor,
            onclick: () => {
              table.focus({ preventScroll: true });
              go(i);
            },
            ondblclick: () => turn(!rows.open[cursor]),
          },
          list.map((column) =>
            h(
              "td",
              { role: "gridcell", class: classOf(column) },
              column.cell(row),
            ),
          ),
        ),
      );
    }
    if (n === 0) {
      const what = app.state.search ? "No function matches." : "Nothing.";
      const width = String(list.length);
      out.push(h("tr", h("td.left", { colspan: width }, what)));
    }
    refill(body, out);
    table.setAttribute("aria-rowcount", String(n + 1));
    table.setAttribute(
      "aria-label",
      app.state.inverted ? "Callers of functions" : "Call tree",
    );
    if (n > 0) table.setAttribute("aria-activedescendant", `row${cursor}`);
    else table.removeAttribute("aria-activedescendant");
  }

  // draws rows anew after some were opened or closed
  function changed(at) {
    flat();
    size();
    tell();
    first = Math.min(first, last());
    cursor = Math.min(at, rows.nodes.length - 1);
    go(cursor);
  }

  // opens or closes the cursor's row
  function turn(on) {
    const node = rows.nodes[cursor];
    if (node === undefined || (on && !branches.has(node))) return;
    const f = branches.func(node);
    if (rows.wanted && !app.state.inverted) {
      if (on) shut.delete(node);
      else shut.add(node);
    } else if (on) rows.within[cursor].set(f, new Map());
    else rows.within[cursor].delete(f);
    changed(cursor);
  }

  // Opens the hottest path from the cursor's row on, and goes to its end.
  function hottest() {
    const node = rows.nodes[cursor];
    if (node === undefined) return;
    if (rows.wanted && !app.state.inverted) {
      // all that was found is open
      shut = new Set();
      return changed(cursor);
    }
    const above = path(cursor).split(".").slice(0, -1);
    const below = openHottest(branches, node, rows.within[cursor], main());
    flat();
    changed(find([...above, ...below].join(".")));
  }

  function collapse() {
    open = new Map();
    shut = new Set();
    changed(0);
  }

  function tell() {
    const n = rows.nodes.length;
    const { wanted } = rows;
    const matching = wanted && wanted.reduce((sum, one) => sum + one, 0);
    said.textContent = wanted
      ? `${plural(matching, "function matches", "functions match")}, ${plural(n, "row")}`
      : plural(n, "row");
  }

  function controls() {
    const { state } = app;
    search.show(state.search);
    refill(
      search.rest,
      choice("Direction", directions, state.inverted, (inverted) =>
        app.set({ inverted, open: undefined, row: undefined }),
      ),
      !state.inverted &&
        toggle(
          "Spread recursion",
          state.recursion === "spread",
          (on) => app.set({ recursion: on ? "spread" : undefined }),
          "A row for each level of a recursion",
        ),
      button("Hottest path", hottest, {
        title: "Open the hottest path from the selected row on (e)",
      }),
      button("Close all", collapse),
      said,
      state.search && app.filters(state.search, "these"),
    );
  }

  // the rows that the address names; by default, the hottest path is open
  function fromAddress() {
    const { state } = app;
    known = { open: state.open, row: state.row };
    shut = new Set();
    if (state.open) open = read(state.open);
    else {
      open = new Map();
      flat();
      if (rows.nodes.length > 0 && !rows.wanted) {
        openHottest(branches, rows.nodes[0], open, main());
      }
    }
  }

  function draw(anew) {
    const { state, model } = app;
    branches = branchesOf(app);
    box.hidden = !branches;
    if (!branches) {
      rows = undefined;
      tree = undefined;
      refill(search.rest, notKept);
      return;
    }
    const moved = state.open !== known?.open || state.row !== known?.row;
    const fresh = anew || moved || state.inverted !== shown?.inverted;
    const keys = ["search", "order", "up"];
    const same =
      !fresh && tree === branches && keys.every((k) => state[k] === shown[k]);
    // the rows have not changed, only what surrounds them
    if (same) {
      controls();
      lines();
      return;
    }
    const was = rows && !fresh ? path(cursor) : state.row;
    if (state.search !== shown?.search) shut = new Set();
    if (fresh) fromAddress();
    shown = state;
    tree = branches;
    functions = model.functions;
    controls();
    flat();
    size();
    tell();
    cursor = find(was);
    first = Math.min(scrolled(), last());
    go(cursor, true);
  }

  box.addEventListener("scroll", () => {
    const to = scrolled();
    if (to === first || !rows) return;
    first = to;
    lines();
  });

  // the row above that calls the cursor's
  function above() {
    for (let i = cursor - 1; i >= 0; i--) {
      if (rows.levels[i] < rows.levels[cursor]) return i;
    }
    return cursor;
  }

  // the next row, or the one before, that the search has found
  function match(step) {
    const { wanted } = rows;
    if (!wanted) return false;
    for (let i = cursor + step; i >= 0 && i < rows.nodes.length; i += step) {
      if (wanted[branches.func(rows.nodes[i])]) return go(i);
    }
    return undefined;
  }

  const acts = {
    ArrowDown: () => go(cursor + 1),
    ArrowUp: () => go(cursor - 1),
    PageDown: () => go(cursor + fits() - 1),
    PageUp: () => go(cursor - fits() + 1),
    Home: () => go(0),
    End: () => go(rows.nodes.length - 1),
    ArrowRight: () =>
      rows.open[cursor] && branches.has(rows.nodes[cursor])
        ? go(cursor + 1)
        : turn(true),
    ArrowLeft: () =>
      rows.open[cursor] && branches.has(rows.nodes[cursor])
        ? turn(false)
        : go(above()),
    Enter: () => app.choose(nameOf(cursor), pending()),
    e: hottest,
    n: () => match(1),
    p: () => match(-1),
  };

  draw(true);
  return {
    update: () => draw(),
    refresh: () => {
      const { byTitle } = app.model;
      if (functions && functions !== app.model.functions) {
        open = renumbered(open, (f) => byTitle.get(functions[f]?.title)?.id);
      }
      // figures have changed, so trees that were made of them are out of date
      if (app.scope.tree) made.delete(app.scope.tree);
      tree = undefined;
      draw();
    },
    resize: () => {
      if (!rows) return;
      size();
      first = Math.min(scrolled(), last());
      lines();
    },
    key: (event) => {
      const act = Object.hasOwn(acts, event.key) && acts[event.key];
      const { activeElement: active } = document;
      // buttons have keys of their own
      const ours = active === table || active === document.body;
      const free = ours || active === app.main || /^[enp]$/.test(event.key);
      if (!act || !rows || rows.nodes.length === 0 || !free) return false;
      if (event.key.length > 1) table.focus({ preventScroll: true });
      return act() !== false;
    },
    close: () => clearTimeout(waiting),
  };
}
