// What was recorded under each label: a table for each key. A label is a zone
// whose name is its keys and values: {endpoint=/login, user=guest}.

import { h, refill } from "./dom.js";
import { amount, counting, Table } from "./table.js";

// The keys and values of a function that is a label; undefined: it is none.
export function labelsOf({ kind, name }) {
  if (kind !== "zone" || !name.startsWith("{")) return undefined;
  const part = /([\w.-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,={}"\\]+))(, |\}$)/y;
  const out = new Map();
  part.lastIndex = 1;
  for (;;) {
    const match = part.exec(name);
    if (!match) return undefined;
    const [, key, quoted, plain, end] = match;
    out.set(key, plain ?? quoted.replace(/\\(.)/g, "$1"));
    if (end === "}") return out;
  }
}

// The rows of a key: a value, with the figures of what was recorded under it,
// and the labels that have it. Of several values, the innermost one counts.
function rowsOf(key, of, tree, sampled) {
  const rows = new Map();
  const value = new Array(tree.n);
  for (let i = 0; i < tree.n; i++) {
    const f = tree.func[i];
    const own = of[f]?.get(key);
    value[i] = own ?? value[tree.parent[i]];
    if (!rows.has(value[i])) {
      const empty = { key, value: value[i], total: 0, calls: 0 };
      rows.set(value[i], { ...empty, labels: new Set() });
    }
    const row = rows.get(value[i]);
    row.total += tree.self[i];
    if (own !== undefined) row.labels.add(f);
    if (sampled || own !== undefined) row.calls += tree.calls[i];
  }
  const last = (row) => (row.value === undefined ? 1 : 0);
  return [...rows.values()]
    .filter((row) => row.total > 0 || row.calls > 0)
    .sort((a, b) => last(a) - last(b) || b.total - a.total);
}

// The change of a state that leaves only what these labels have.
const onlyThese = ({ functions }, row) => ({
  focus: [...row.labels].map((f) => functions[f].title).join("\n"),
});

function show(app, table, key, rows) {
  const { model } = app;
  const counted = (row) =>
    model.sampled || row.value !== undefined ? row.calls : undefined;
  table.change(
    [
      ...amount(app, {
        title: "total",
        get: (row) => [row.total],
        bar: "total",
      }),
      ...counting(model, counted),
      {
        title: key,
        left: true,
        cell: (row) =>
          h(
            "span",
            { class: row.value === undefined ? "place" : "name kind-zone" },
            row.value ?? "(no label)",
          ),
      },
    ],
    {
      caption: `What was recorded under each value of ${key}`,
      key: (row) => `${row.value}`,
      choose: (row) =>
        row.value !== undefined && app.set(onlyThese(model, row)),
    },
  );
  table.show(rows);
}

export function labelled(app, root) {
  const tables = new Map();
  function draw() {
    const { model, scope } = app;
    const of = model.functions.map(labelsOf);
    const keys = new Set(of.flatMap((labels) => [...(labels?.keys() || [])]));
    const sections = [...keys].sort().map((key) => {
      if (!tables.has(key)) tables.set(key, new Table());
      const table = tables.get(key);
      const rows = scope.tree ? rowsOf(key, of, scope.tree, model.sampled) : [];
      show(app, table, key, rows);
      return h("section", { key }, h("h2", key), table.element);
    });
    refill(
      root,
      h(
        "p.lead",
        "Choose a value to see only what was recorded under it, in all views.",
      ),
      ...sections,
    );
  }
  draw();
  return {
    update: draw,
    key: (event) => {
      const list = [...tables.values()];
      const at = list.find((t) => t.body.contains(document.activeElement));
      return (at || list[0])?.key(event);
    },
  };
}
