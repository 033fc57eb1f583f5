// The heatmap, and ranges of time, in a browser without a window. The page is
// that of spec/page/stall.lua: a stall from 1.4 s to 1.6 s and another one from
// 3.18 s to 3.38 s, both in `compact`.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { back, cellsOf, choose, click, drag, drawn, fits } from "./page.mjs";
import { forward, functionsOf, open, page, pixels, press } from "./page.mjs";
import { reload, report, shot, state, text, texts, tight } from "./page.mjs";

// cells as the page has them: columns of a second, 50 cells of 20 ms
const left = 54;
const top = 20;
// the middle of the cell of a time, in the canvas
async function cellAt(ns) {
  const cell = Math.floor(ns / 20e6);
  const box = await (await page.$("canvas.heat")).boundingBox();
  const wide = Math.min(40, Math.floor((box.width - left) / 5));
  const high = box.width < 500 ? 5 : 6;
  return [
    left + Math.floor(cell / 50) * wide + wide / 2,
    top + (cell % 50) * high + high / 2,
  ];
}

async function dragOver(from, to) {
  const [a, b] = [await cellAt(from), await cellAt(to)];
  await drag("canvas.heat", a, [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], b);
}

// the colour of a cell, as [red, green, blue]
async function color(ns) {
  return page.$eval(
    "canvas.heat",
    (canvas, x, y) => {
      const ratio = canvas.width / canvas.getBoundingClientRect().width;
      const at = [x * ratio, y * ratio];
      const { data } = canvas.getContext("2d").getImageData(...at, 1, 1);
      return [...data].slice(0, 3);
    },
    ...(await cellAt(ns)),
  );
}

// Does the page have the figures of lines that a report has?
async function hasLines(name) {
  const found = new Map(
    await page.$$eval(".line[id]", (list) =>
      list.map((e) => [
        e.id.replace("line-", ""),
        [...e.children].map((c) => c.textContent.trim()),
      ]),
    ),
  );
  // the page has other figures of calls, and large counts in thousands
  const alike = ["self", "in C", "%", "callees"];
  let here = false;
  let heading;
  let compared = 0;
  for (const line of report(name)) {
    const place = line.match(/^\S.* \((.*):\d+\)/);
    if (place) here = place[1].endsWith("page/stall.lua");
    if (/^ *(hits|self) .* line$/.test(line)) heading = line;
    // figures, and the number of a line below the end of its title
    const match =
      here && line.slice(0, heading?.length).match(/^ *(\S.*) {2,}(\d+)$/);
    if (!match) continue;
    const cells = found.get(match[2]).map(tight);
    const heads = heading.trim().split(/ {2,}/);
    for (const [i, figure] of match[1].trim().split(/ {2,}/).entries()) {
      if (figure === "-" || !alike.includes(heads[i])) continue;
      compared++;
      assert.ok(cells.includes(figure), `${name} ${line} ${cells}`);
    }
  }
  assert.ok(compared >= 4, `${name} ${compared}`);
}

const ranges = {
  "": "",
  ".stall": "1.4s..1.6s",
  ".odd": "1.3031s..1.5017s",
  ".end": "4s..",
};

describe("a range of time", () => {
  it("has the figures of functions of cprof report --from --to", async () => {
    for (const [name, range] of Object.entries(ranges)) {
      const told = functionsOf(report(`stall${name}`))
        .slice(1)
        .filter((cells) => cells.length >= 6)
        .map((cells) => cells.slice(0, 5));
      assert.ok(told.length > 0, name);
      await open("stall", `view=functions&range=${range}`);
      const cells = await cellsOf();
      const heads = await texts("thead th");
      const named = heads.findIndex((title) => title.startsWith("function"));
      for (const [self, share, total, totalShare, f] of told) {
        const row = cells.find((one) => one[named] === f);
        const [x, y] = [heads.indexOf("self"), heads.indexOf("total")];
        const got = [row[x], row[x + 1], row[y], row[y + 1]].map(tight);
        assert.deepEqual(got, [self, share, total, totalShare], name + f);
      }
    }
  });

  it("is taken from the trace, where each call is known", async () => {
    await open("kept", "view=trace");
    assert.equal((await page.$$("canvas.icicle")).length, 1);
    assert.match(await text("main p[role=status]"), /^From 0 to /);
    // a call of `handle`, of which there are many
    await page.focus("canvas.icicle");
    await press("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "Enter");
    await drawn();
    await choose("button", "Limit all views to this time");
    await drawn();
    const { range } = await state();
    assert.match(range, /^(\d+(\.\d+)?s)?\.\.\d+(\.\d+)?s$/);
  });

  it("has the same figures as the reports in exact modes", async () => {
    const range = "0.0203s..0.0717s";
    await open("exact", `view=functions&range=${range}`);
    const heads = await texts("thead th");
    const column = (title) => heads.findIndex((head) => head.startsWith(title));
    const cells = await cellsOf();
    const rows = functionsOf(report("exact.odd"))
      .slice(1)
      .filter((row) => row.length >= 7);
    assert.ok(rows.length > 2);
    for (const [self, share, total, totalShare, calls, f] of rows) {
      const row = cells.find((one) => one[column("function")] === f);
      const [x, y] = [column("self"), column("total")];
      const got = [row[x], row[x + 1], row[y], row[y + 1]].map(tight);
      assert.deepEqual(got, [self, share, total, totalShare], f);
      assert.equal(row[column("calls")], calls, f);
    }
    await open("exact", `view=source&range=${range}`, [1400, 3000]);
    await hasLines("exact.odd.lines");
    await open("exact", `view=heatmap&range=${range}`);
  });

  it("has the header of the report, too", async () => {
    for (const [name, range] of Object.entries(ranges)) {
      const list = report(`stall${name}`);
      await open("stall", `view=overview&range=${range}`);
      const [wall] = list.find((line) => / wall/.test(line)).split(": ");
      const shown = tight((await text(".times h2")).replace(" time", ""));
      assert.equal(shown.replace(/^([\d.]+) /, "$1"), wall.trim(), name);
      const [samples] = list
        .find((line) => /samples,/.test(line))
        .match(/^[\d,]+/);
      assert.ok((await texts(".facts dd")).includes(samples), name);
      const certain = list.find((line) => line.includes("±"));
      assert.equal(await text(".times ~ p.aside"), certain, name);
    }
  });

  it("has the lines of cprof annotate --from --to", async () => {
    for (const [name, range] of Object.entries(ranges)) {
      await open("stall", `view=source&range=${range}`, [1400, 3000]);
      await hasLines(`stall${name}.lines`);
    }
  });

  it("limits flame graph, call tree and call graph", async () => {
    await open("stall", "view=flame");
    const whole = await pixels("canvas.icicle");
    await open("stall", "view=flame&range=1.4s..1.6s");
    assert.notEqual(await pixels("canvas.icicle"), whole);
    await choose("nav a", "Call tree");
    await page.focus("table");
    await press("Home", "e");
    const rows = (await texts("tbody tr")).join(" ");
    assert.match(rows, /compact/);
    assert.doesNotMatch(rows, /handle|driven\.wait/);
    assert.equal((await state()).range, "1.4s..1.6s");
  });

  it("is a label that takes it away, and stays with a reload", async () => {
    await open("stall", "view=functions&range=1.4s..1.6s");
    assert.equal(await text(".limit"), "1.4s to 1.6s×");
    await reload(".limit");
    assert.equal((await texts("tbody tr")).length, 6);
    await click(".limit a");
    assert.equal((await state()).range, undefined);
    assert.equal(await text(".limit"), undefined);
    assert.match((await texts("tbody tr")).join(" "), /driven\.wait/);
    await back();
    assert.equal((await state()).range, "1.4s..1.6s");
    assert.doesNotMatch((await texts("tbody tr")).join(" "), /driven\.wait/);
    await forward();
    assert.match((await texts("tbody tr")).join(" "), /driven\.wait/);
  });

  it("can be chosen on the size of the heap, too", async () => {
    await open("stall-memory");
    assert.equal(await text("nav [aria-current]"), "Memory");
    await drag("canvas.heap", [500, 100], [200, 120]);
    const { range } = await state();
    const [a, b] = range.match(/\d+\.?\d*/g).map(Number);
    assert.ok(b > a && a > 0, range);
    // as far apart as they are on the chart
    const share = (b - a) / (b * (300 / 430));
    assert.ok(Math.abs(share - 1) < 0.01, `${range} ${share}`);
    assert.equal(await text("nav [aria-current]"), "Memory");
    assert.match(await text("main"), /Which functions allocated in/);
    await shot("stall-memory-range");
    await choose("nav a", "Heatmap");
    assert.equal(await text("h2.apart"), (await text(".limit")).slice(0, -1));
  });

  it("that is none is the whole recording", async () => {
    for (const range of ["9s..10s", "1.6s..1.4s", "x", ".."]) {
      await open("stall", `view=functions&range=${range}`);
      assert.equal(await text(".limit"), undefined);
      assert.match((await texts("tbody tr")).join(" "), /driven\.wait/);
    }
  });
});

describe("a range beside another one", () => {
  it("has the points of cprof diff --range --against", async () => {
    const list = report("stall.diff");
    const at = list.findIndex((line) => line.includes(" points "));
    const told = new Map();
    for (const line of list.slice(at + 1)) {
      const match = line.match(/ ~?([+-]?[\d.]+ ±[\d.]+) {2}(\S+)/);
      if (match) told.set(match[2], match[1].replace("-", "−"));
    }
    assert.equal(told.size, 8);
    await open("stall", "view=diff&range=1.4s..1.6s&against=0s..1.4s");
    const rows = await cellsOf();
    assert.equal(rows.length, 4);
    for (const cells of rows) {
      const name = cells[5].replace(/(added|removed)$/, "");
      assert.equal(cells[2].replace(/^0 /, "0.0 "), told.get(name), name);
    }
    assert.deepEqual(await texts(".limit"), [
      "1.4s to 1.6s×",
      "Compared with 0.0s to 1.4s×",
    ]);
  });

  it("is chosen with Shift, a button, or the key b", async () => {
    await open("stall", "view=heatmap&range=1.4s..1.6s");
    await page.keyboard.down("Shift");
    await dragOver(0, 1390e6);
    await page.keyboard.up("Shift");
    assert.equal((await state()).against, "..1.4s");
    assert.equal((await state()).range, "1.4s..1.6s");
    await choose("main a", "What changed");
    assert.equal(await text("nav [aria-current]"), "Changes");
    await back();
    await choose(".toggle", "Compare with …");
    await dragOver(1600e6, 1790e6);
    assert.equal((await state()).against, "1.6s..1.8s");
    await dragOver(200e6, 390e6);
    assert.equal((await state()).range, "0.2s..0.4s");
    await page.focus("canvas.heat");
    await press("b");
    const { range, against } = await state();
    assert.deepEqual([range, against], [undefined, "0.2s..0.4s"]);
    assert.deepEqual(await texts(".limit"), ["Compared with 0.2s to 0.4s×"]);
    await click(".limit a");
    assert.ok(!(await texts("nav a")).includes("Changes"));
  });

  it("is a differential flame graph, in both themes and on a phone", async () => {
    for (const theme of ["light", "dark"]) {
      const hash = "view=diff&range=1.4s..1.6s&against=..1.4s";
      await open("stall", hash, [390, 844], theme);
      await fits();
      await shot(`stall-diff-${theme}`);
      await choose("[aria-label=Width] button", "before");
      assert.match(await text("main"), /compact/);
    }
  });
});

describe("the heatmap", () => {
  it("finds a stall, its time and its cause with two clicks", async () => {
    await open("stall");
    await choose("nav a", "Heatmap");
    const [first] = await texts("section tbody tr");
    assert.equal(
      first,
      "2about 200 ms100.0 %100.0 %9.2 %compactstall.lua:17" +
        "1.4s to 1.6s, 3.18s to 3.38s",
    );
    await click("section tbody tr td");
    const { range, function: f } = await state();
    assert.equal(range, "1.4s..1.6s");
    assert.match(f, /^compact \(.*stall\.lua:17\)$/);
    assert.match(await text(".strip"), /compact.*total 200 ms \(100\.0/);
  });

  it("is led to from the overview", async () => {
    await open("stall", "view=overview");
    assert.deepEqual(await texts(".standing li"), [
      "2 times, each about 200 ms: 1.4s to 1.6s, 3.18s to 3.38s: compact, " +
        "100.0 % of these times, 9.2 % of the whole recording",
    ]);
    await choose(".standing a", "3.18s to 3.38s");
    assert.equal(await text("h2.apart"), "3.18s to 3.38s");
    assert.match(await text(".strip"), /^compact/);
  });

  it("has a link to each time at which one cause stood out", async () => {
    await open("stall", "view=heatmap");
    await choose("section tbody a", "3.18s to 3.38s");
    const { range, function: f } = await state();
    assert.equal(range, "3.18s..3.38s");
    assert.match(f, /^compact /);
    assert.equal((await page.$$("section tr[aria-selected]")).length, 1);
    assert.deepEqual(await texts("section tbody [aria-current]"), [
      "3.18s to 3.38s",
    ]);
    await page.focus("section tbody a[aria-current]");
    await page.keyboard.press("Enter");
    assert.equal((await state()).range, "3.18s..3.38s");
  });

  it("says what its colours mean, and what shares are of", async () => {
    await open("stall", "view=heatmap");
    const [legend, canvas] = await page.$$eval(
      "p.legend, canvas.heat",
      (list) => list.map((e) => e.getBoundingClientRect().top),
    );
    assert.ok(legend < canvas, `${legend} ${canvas}`);
    assert.equal(
      await text("p.legend"),
      "CPU time: none  all of the cell; an empty cell was not recorded, " +
        "or other programs had the processor throughout",
    );
    assert.match(
      (await texts("main p")).join(" "),
      /Shares below are of the program's 4\.36 s\./,
    );
  });

  it("shows what a range has where it was out of sight, focus stays", async () => {
    await open("stall", "view=heatmap", [1280, 520]);
    const top = () =>
      page.$eval("h2.apart", (e) => e.getBoundingClientRect().top);
    assert.ok((await top()) > 520);
    await dragOver(1400e6, 1480e6);
    assert.ok((await top()) < 400, `${await top()}`);
    // a key that moves an end of the range moves nothing else
    await page.evaluate(() => scrollTo(0, 0));
    await page.focus("canvas.heat");
    await page.keyboard.down("Shift");
    await press("ArrowDown");
    await page.keyboard.up("Shift");
    assert.equal(await page.evaluate(() => scrollY), 0);
    await press("ArrowDown", "Enter");
    assert.ok((await top()) < 400, `${await top()}`);
    assert.ok(await page.$("canvas.heat:focus"));
  });

  it("chooses what is dragged over, or a cell that is clicked", async () => {
    await open("stall", "view=heatmap");
    await dragOver(1400e6, 1590e6);
    assert.equal((await state()).range, "1.4s..1.6s");
    assert.equal(await text("h2.apart"), "1.4s to 1.6s");
    assert.match(
      (await texts("main p")).join(" "),
      /took 200 ms: .*200 samples/,
    );
    await dragOver(900e6, 1190e6);
    assert.equal((await state()).range, "0.9s..1.2s");
    await dragOver(3300e6, 3300e6);
    assert.equal((await state()).range, "3.3s..3.32s");
    await dragOver(4350e6, 3000e6);
    assert.equal((await state()).range, "3s..");
    await back();
    assert.equal((await state()).range, "3.3s..3.32s");
    await dragOver(0, 4350e6);
    assert.equal((await state()).range, undefined);
  });

  it("is walked by keys, which say where they are", async () => {
    await open("stall", "view=heatmap");
    await page.focus("canvas.heat");
    await press("ArrowDown", "ArrowRight", "ArrowDown");
    assert.equal(
      await text("#app > p[role=status]"),
      "1.02s to 1.04s: CPU 100.0 %",
    );
    await press("Enter");
    assert.equal((await state()).range, "1.02s..1.04s");
    await page.keyboard.down("Shift");
    await press("ArrowDown", "ArrowDown");
    await page.keyboard.up("Shift");
    assert.equal((await state()).range, "1.02s..1.08s");
    await press("End");
    assert.match(await text("#app > p[role=status]"), /^4\.34s to 4\.36s/);
    await press("Escape");
    assert.equal((await state()).range, undefined);
  });

  it("lights the cells in which runs what is searched for", async () => {
    await open("stall", "view=heatmap&search=compact");
    const lit = await color(1500e6);
    assert.deepEqual(await color(3200e6), lit);
    assert.notDeepEqual(await color(1380e6), lit);
    assert.notDeepEqual(await color(1600e6), lit);
    assert.match(await text("p.legend"), /what is found/);
    await page.focus("main input[type=search]");
    for (let i = 0; i < 7; i++) await page.keyboard.press("Backspace");
    await drawn();
    assert.equal((await state()).search, undefined);
    assert.deepEqual(await color(1380e6), await color(1500e6));
  });

  it("shows more of time, column by column", async () => {
    await open("stall", "view=heatmap");
    assert.deepEqual(await texts(".choice[aria-label^=Length] button"), [
      "Fit",
      "Second",
    ]);
    await choose(".choice button", "Second");
    assert.equal((await state()).column, "1");
  });

  it("is a table, too, of its columns", async () => {
    await open("stall", "view=heatmap&search=compact");
    await click(".astable summary");
    assert.deepEqual(await texts(".astable tbody tr"), [
      "0s1s0.0 %",
      "1s2s20.0 %",
      "2s3s0.0 %",
      "3s4s20.0 %",
      "4s4.36s0.0 %",
    ]);
  });

  it("fits a phone, in both themes, without a fault", async () => {
    for (const theme of ["light", "dark"]) {
      for (const size of [
        [390, 844],
        [1400, 900],
      ]) {
        await open("stall", "view=heatmap&range=1.4s..1.6s", size, theme);
        await fits();
        await shot(`stall-heatmap-${theme}-${size[0]}`);
      }
    }
  });

  it("is not there without a time axis", async () => {
    await open("counted");
    assert.ok(!(await texts("nav a")).includes("Heatmap"));
    await open("counted", "view=functions&range=0.1s..0.2s");
    assert.equal(await text(".limit"), undefined);
  });
});
