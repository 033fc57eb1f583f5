// How much of each file ran, and what never did.

import { bar, h, refill } from "./dom.js";
import { count, plural, tail } from "./format.js";
import { matcher, searched } from "./search.js";
import { Table } from "./table.js";

const kinds = ["lines", "branches", "functions"];

// A share in percent, rounded down: 100 means all.
function percent([hit, of]) {
  return of === 0 ? "–" : (Math.floor((hit * 1000) / of) / 10).toFixed(1);
}

const share = (total) => (total && total[1] > 0 ? total[0] / total[1] : -1);

const missing = ({ lines: [hit, of] }) => of - hit;

// The sum over files, by kind.
export function summed(files) {
  const out = {};
  for (const kind of kinds) {
    out[kind] = [0, 0];
    for (const { [kind]: total } of files) {
      if (total) [0, 1].forEach((i) => (out[kind][i] += total[i]));
    }
  }
  return out;
}

// What never ran in a file, by line: [line, text], the first line of each
// range of lines.
export function absent({ never }) {
  const rows = [
    ...never.lines.map(([from, to]) => [
      from,
      from === to ? "the line never ran" : `lines ${from} to ${to} never ran`,
    ]),
    ...never.functions.map(([n, name]) => [n, `${name} was never called`]),
    ...never.branches.map(([n, kind, what]) => [n, `${kind}: ${what}`]),
  ];
  return rows.sort((a, b) => a[0] - b[0]);
}

function headline(files) {
  const all = summed(files);
  return h(
    "dl.facts.covered",
    kinds.map((kind) =>
      h(
        "div",
        h("dt", kind),
        h("dd", `${percent(all[kind])} %`),
        bar(share(all[kind]), "ran"),
        h("span.aside", `${count(all[kind][0])} of ${count(all[kind][1])}`),
      ),
    ),
  );
}

export function coverage(app, root) {
  const table = new Table();
  const gone = new Table();
  const top = h("div");
  const search = searched(app);
  const left = h("section", h("h2", "Files"), table.element);
  const right = h("section");
  const columns = h("div.columns", left, right);

  const toSource = (file, line) => ({
    view: "source",
    file: app.model.sources[file.source]?.place,
    line,
    function: undefined,
  });

  function columnsOf() {
    /** @type {any[]} */
    const figures = kinds.map((kind) => ({
      key: kind,
      title: `${kind} %`,
      class: kind === "lines" ? undefined : "extra",
      hint: `How many of the ${kind} ran`,
      value: (file) => share(file[kind]),
      cell: (file) => (file[kind] ? percent(file[kind]) : "–"),
    }));
    figures.splice(1, 0, {
      title: "",
      class: "bars spare",
      cell: (file) => bar(share(file.lines), "ran"),
    });
    const long = innerWidth < 480 ? 24 : 36;
    return [
      {
        key: "name",
        title: "file",
        left: true,
        value: (file) => file.place,
        cell: (file) =>
          h("span.name", { title: file.place }, tail(file.place, long)),
      },
      ...figures,
      {
        key: "missing",
        title: "never ran",
        hint: "Lines that never ran",
        value: missing,
        cell: (file) => count(missing(file)),
      },
    ];
  }

  function draw_table(files, current) {
    const { state } = app;
    const list = columnsOf();
    /** @type {any} */
    const sort =
      list.find((c) => c.key && c.key === state.sort) ||
      list.find((c) => c.key === "missing");
    const up = state.up === "1";
    const sign = up ? 1 : -1;
    const order = (a, b) => {
      const [x, y] = [sort.value(a), sort.value(b)];
      return x === y ? (a.place < b.place ? -1 : 1) : x < y ? -sign : sign;
    };
    table.change(list, {
      caption: "How much of each file ran",
      none: "No file matches.",
      key: (file) => file.place,
      row: (file) => ({ "aria-selected": file === current }),
      choose: (file) => app.set({ file: file.place }),
      sort: { key: sort.key, up },
      order: (column) =>
        app.set(
          { sort: column.key, up: sort === column && !up ? "1" : undefined },
          true,
        ),
    });
    table.show([...files].sort(order));
  }

  function draw_absent(file) {
    const rows = absent(file);
    const text = app.model.sources[file.source]?.text || [];
    gone.change(
      [
        { title: "line", cell: ([n]) => String(n) },
        {
          title: "what",
          left: true,
          cell: ([n, what]) =>
            h(
              "a",
              {
                href: app.link(toSource(file, n)),
                tabindex: "-1",
                onclick: (event) => event.stopPropagation(),
              },
              what,
            ),
        },
        {
          title: "source",
          left: true,
          cell: ([n]) => h("code", (text[n - 1] || "").trim()),
        },
      ],
      {
        caption: "What never ran",
        none: "Everything in this file ran.",
        choose: ([n]) => app.set(toSource(file, n)),
      },
    );
    gone.show(rows);
    refill(
      right,
      h("h2", `What never ran in ${file.place}`),
      h(
        "p.aside",
        plural(missing(file), "line"),
        " of ",
        count(file.lines[1]),
        file.note && `; ${file.note}`,
        ". ",
        file.source >= 0 &&
          h("a", { href: app.link(toSource(file)) }, "Source"),
      ),
      gone.element,
    );
  }

  function update() {
    const { state, model } = app;
    const passes = matcher(state.search) || (() => true);
    const files = model.header.coverage.filter((file) =>
      passes({ title: file.place }),
    );
    const worst = [...files].sort((a, b) => missing(b) - missing(a));
    const current = files.find((f) => f.place === state.file) || worst[0];
    refill(
      top,
      model.header.coverage.length > 0
        ? headline(files)
        : h("p.lead", "None of the selected sources ran."),
    );
    draw_table(files, current);
    if (current) draw_absent(current);
    else refill(right);
  }

  refill(root, top, search.element, columns);
  update();
  return { update, key: (event) => table.key(event) };
}
