// Durations of calls, and tasks, in a browser without a window. The page is
// that of spec/page/tails.lua.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { back, click, fits, open as visit, page } from "./page.mjs";
import { point, press, report, shot, state, text } from "./page.mjs";
import { texts, tight } from "./page.mjs";

const open = (hash, size, name = "tails") => visit(name, hash, size);

// The rows of the table below `title` in what a command printed, as { column:
// text }. Columns of text are at the end, and of these `names` are the titles.
function told(name, title) {
  const list = report(`tails.${name}`);
  const at = title === "" ? 0 : list.indexOf(title) + 1;
  assert.ok(title === "" || at > 0, `${name}: ${title}`);
  const heads = [...list[at].matchAll(/\S+(?: \S+)*/g)];
  const end = list.indexOf("", at);
  // figures end where their title does; text begins there
  const left = [
    "function",
    "called by",
    "task",
    "made at",
    "until",
    "at",
    "in",
  ];
  return list.slice(at + 1, end < 0 ? undefined : end).map((line) =>
    Object.fromEntries(
      heads.map((head, i) => {
        const to = head.index + head[0].length;
        const cell = left.includes(head[0])
          ? line.slice(head.index, heads[i + 1]?.index)
          : line.slice(
              i > 0 ? heads[i - 1].index + heads[i - 1][0].length : 0,
              to,
            );
        return [head[0], cell.trim()];
      }),
    ),
  );
}

// the rows of a table of the page
async function shown(caption) {
  const [heads, rows] = await page.evaluate((wanted) => {
    const table = [...document.querySelectorAll("table")].find(
      (t) => t.caption.textContent === wanted,
    );
    return [
      [...table.tHead.rows[0].cells].map((th) => th.textContent),
      [...table.tBodies[0].rows].map((tr) =>
        [...tr.cells].map((td) => td.textContent),
      ),
    ];
  }, caption);
  return rows.map((row) =>
    Object.fromEntries(heads.map((head, i) => [head, tight(row[i])])),
  );
}

const without = (rows, ...keys) =>
  rows.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([k]) => !keys.includes(k))),
  );

describe("the slowest calls", () => {
  it("of all have the figures of cprof slow", async () => {
    await open("view=slowest");
    const rows = await shown("The slowest calls");
    assert.deepEqual(rows, told("slow", ""));
    assert.equal(rows.length, 8);
    await shot("tails-slowest");
  });

  it("lead to their paths in the flame graph", async () => {
    await open("view=slowest");
    await click("tbody tr:nth-child(6)");
    const { view, function: chosen } = await state();
    assert.equal(view, "flame");
    assert.match(chosen, /^driven.pass/);
    const crumbs = await texts(".crumbs button");
    assert.deepEqual(crumbs.slice(-3), ["handle", "read", "driven.pass"]);
    await back();
    assert.equal((await state()).view, "slowest");
  });

  it("lead there out of filters, and by keys", async () => {
    await open("view=slowest&hide=read&shape=flame&fold=1");
    await press("ArrowDown", "Enter");
    const { view, hide, fold } = await state();
    assert.deepEqual([view, hide, fold], ["flame", undefined, undefined]);
    const crumbs = await texts(".crumbs button");
    assert.deepEqual(crumbs.slice(-3), ["hog", "crunch", "driven.pass"]);
  });
});

describe("a function's calls", () => {
  for (const name of ["handle", "append"]) {
    it(`have the figures of cprof show ${name}`, async () => {
      await open("view=functions");
      const title = await page.$$eval(
        "tbody a.name",
        (list, wanted) => list.find((e) => e.textContent === wanted).title,
        name,
      );
      await open(`view=callgraph&function=${encodeURIComponent(title)}`);
      const line = report(`tails.${name}`).find((s) =>
        s.includes(" complete calls: "),
      );
      assert.equal(tight(await text(".durations p")), line);
      const steps = await shown("Durations of calls");
      assert.deepEqual(
        without(steps, ""),
        without(told(name, "durations of calls"), ""),
      );
      const calls = await shown("Slowest calls");
      const want = without(told(name, "slowest calls"), "function");
      // the text has fewer of them, and columns of these alone
      const more = Object.keys(calls[0]).filter((key) => !(key in want[0]));
      const first = calls.slice(0, want.length);
      assert.deepEqual(without(first, ...more), want);
      await shot(`tails-${name}`);
    });
  }
});

describe("tasks", () => {
  it("have the figures of cprof tasks", async () => {
    await open("");
    assert.equal(await text("nav [aria-current]"), "Tasks");
    assert.deepEqual(
      await shown("Kinds of coroutines"),
      told("tasks", "tasks"),
    );
    assert.deepEqual(
      await shown("Longest slices"),
      told("tasks", "longest slices"),
    );
    assert.deepEqual(
      await shown("Where they were suspended"),
      told("tasks", "where they were suspended"),
    );
    await shot("tails-tasks");
  });

  it("are shown of one function, with a flame graph of waiting", async () => {
    await open("");
    await point("section.suspended canvas", 5, 9);
    const tips = await texts(".suspended .tip div");
    assert.match(tips[1], /^suspended 385 ms \(100.0 %\), 9 times$/);
    await point("section.suspended canvas", 5, 28);
    const [name, figures] = await texts(".suspended .tip div");
    assert.match(name, /^polite/);
    assert.match(figures, /^suspended 380 ms \(98.7 %\), 6 times$/);
    const title = await page.$$eval(
      "tbody a.name",
      (list) => list.find((e) => e.textContent === "hog").title,
    );
    await open(`function=${encodeURIComponent(title)}`);
    const rows = await shown("Kinds of coroutines");
    assert.deepEqual(
      rows.map(({ task, max }) => [task, max]),
      [["hog", "75.0ms"]],
    );
  });

  describe("by samples", () => {
    const title = "Longest times in one kind of coroutine";

    // as cprof tasks prints them
    const kinds = async () =>
      (await shown("Kinds of coroutines")).map(({ "%": share, ...row }) => ({
        ...row,
        "running %": share,
      }));

    it("have estimates, and bounds of slices", async () => {
      await open("view=tasks", [1400, 900], "tails-sampled");
      assert.deepEqual(await kinds(), told("sampled", "tasks"));
      assert.match(await text("main .lead"), /^Estimated from samples/);
      assert.deepEqual(
        await shown(title),
        told("sampled", title.toLowerCase()),
      );
      await shot("tails-sampled");
      await click("section:last-of-type tbody tr:nth-child(2)");
      const { view, range } = await state();
      assert.deepEqual([view, range], ["flame", "0.012s.."]);
    });

    it("are those of the range of time that is chosen", async () => {
      await open(
        "view=tasks&range=0.011s..0.016s",
        [1400, 900],
        "tails-sampled",
      );
      assert.deepEqual(await kinds(), told("range", "tasks"));
      assert.deepEqual(await shown(title), told("range", title.toLowerCase()));
    });
  });

  it("fit a phone", async () => {
    for (const view of ["tasks", "slowest"]) {
      await open(`view=${view}`, [390, 800]);
      await fits();
      await shot(`tails-${view}-phone`);
    }
  });
});
