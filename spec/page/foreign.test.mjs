// Other tools' profiles on the page, in a browser without a window. Those of
// spec/page/foreign.lua are exports of a recording, whose figures the text
// report has, too; the others are as other tools write them.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { folder } from "./browser.mjs";
import { back, choose, drawn, drop, fits, functionsOf } from "./page.mjs";
import { open as visit, page, reload, report } from "./page.mjs";
import { shot, state, text, texts, upload } from "./page.mjs";

const made = mkdtempSync(join(tmpdir(), "cprof-"));
after(() => rmSync(made, { recursive: true }));

const open = (...more) => visit("foreign", ...more);

// Gives the page a file, and waits until it is shown or refused.
async function give(path) {
  await page.evaluate(() => {
    document.querySelector("#app > .refused").hidden = true;
    document.querySelector(".opened")?.classList.remove("opened");
  });
  await upload(path);
  await page.waitForSelector("#app > .refused:not([hidden]), .limit.opened");
  await drawn();
}

function file(name, content) {
  const path = join(made, name);
  writeFileSync(path, content);
  return path;
}

async function show(view) {
  await choose("nav a", view);
}

// The rows of the view Functions by their names.
async function functions() {
  await show("Functions");
  return page.evaluate(() => {
    const heads = [...document.querySelectorAll("main thead th")].map(
      (th) => th.innerText,
    );
    const rows = [...document.querySelectorAll("main tbody tr")].map((tr) =>
      Object.fromEntries(
        [...tr.cells].map((td, i) => {
          const name = heads[i] === "%" ? `${heads[i - 1]} %` : heads[i];
          return [name, td.querySelector(".name")?.innerText ?? td.innerText];
        }),
      ),
    );
    return Object.fromEntries(rows.map((row) => [row.function, row]));
  });
}

// The rows of a text report's table of functions, as the page has them.
function reported(name) {
  const [heads, ...list] = functionsOf(report(name));
  const out = {};
  for (const cells of list) {
    // zones are defined nowhere
    if (cells.length < heads.length - 1) continue;
    const row = Object.fromEntries(heads.map((head, i) => [head, cells[i]]));
    for (const key of ["self", "total", "alloc"]) {
      row[key] &&= row[key].replace(/(\d)([nµm]?s)$/, "$1 $2");
    }
    out[row.function] = row;
  }
  return out;
}

// Do rows of the page have the report's figures?
function agree(rows, wanted, keys, names) {
  assert.ok(Object.keys(wanted).length > 3);
  for (const [name, row] of Object.entries(wanted)) {
    // a function without time is in no stack of these formats
    if (row.total === "0 ns" || row.total === "0") continue;
    const shown = rows[name];
    assert.ok(shown, `${name} is missing: ${Object.keys(rows)}`);
    for (const key of keys) {
      const [ours] = shown[key].split(" ±");
      assert.equal(ours, row[key].split(" ±")[0], `${name}: ${key}`);
    }
    if (names && /:\d+$/.test(row.defined)) {
      // with columns of other measures, places have no room for folders
      const [, last] = row.defined.match(/([^/]*)$/);
      assert.ok(shown.defined.endsWith(last), `${name}: ${shown.defined}`);
    }
  }
  const more = Object.keys(rows).filter((name) => !wanted[name]);
  assert.deepEqual(more, []);
}

const figures = ["self", "self %", "total", "total %"];

describe("an export of a recording", () => {
  for (const name of ["foreign", "foreign-samples"]) {
    it(`of ${name} has the figures of the text report in each format`, async () => {
      const wanted = reported(name);
      await open();
      for (const format of ["folded", "pprof", "cpuprofile"]) {
        await give(`${folder}/${name}.${format}`);
        assert.equal(await text(".program"), `${name}.${format}`);
        if (format === "folded") await choose(".toggle, button", "ns");
        const exact = name === "foreign" && format === "pprof";
        const more = exact ? ["calls"] : [];
        const rows = await functions();
        agree(rows, wanted, [...figures, ...more], format !== "cpuprofile");
        if (name === "foreign-samples" && format === "pprof") {
          await show("Overview");
          const [told] = report(name)
            .join("\n")
            .match(/^[\d,]+ samples/m);
          assert.ok((await text("main")).includes(`${told}; ±`));
        }
        if (exact) assert.equal(rows["string.format"].calls, "40,000");
        else if (format !== "pprof") {
          assert.ok(!Object.hasOwn(rows["string.format"], "calls"));
          assert.ok(!Object.hasOwn(rows["string.format"], "samples"));
        }
      }
    });
  }

  it("has the same figures in every view, and says what it has not", async () => {
    await open();
    await give(`${folder}/foreign.pprof`);
    const { total } = reported("foreign").strings;
    await choose("nav a", "Call tree");
    assert.ok((await text("main")).includes(total));
    await choose("nav a", "Functions");
    await choose("main a.name", "strings");
    for (const view of ["Flame graph", "Call graph", "Overview"]) {
      await show(view);
      assert.ok((await text(".strip")).includes(`total ${total}`), view);
      assert.ok((await text("main")).length > 40, view);
    }
    assert.equal(
      await text("main section:last-child p"),
      "This file (pprof) has no figures of lines.",
    );
    await show("Source");
    assert.equal(await text("main"), "This file (pprof) has no source text.");
    assert.deepEqual(await texts("nav a"), [
      ...["Overview", "Functions", "Flame graph"],
      ...["Call tree", "Call graph", "Source"],
    ]);
  });

  it("of several sample types has each as a measure", async () => {
    const wanted = reported("foreign");
    await open();
    await give(`${folder}/foreign.pprof`);
    assert.deepEqual(await texts("header .choice button"), [
      ...["Time", "Alloc space", "Alloc objects"],
    ]);
    const rows = await functions();
    assert.equal(rows.strings["alloc space"], wanted.strings.alloc);
    await choose("header button", "Alloc space");
    assert.equal((await functions()).strings.self, wanted.strings.alloc);
    await choose(".limit a", `Back to ${own}`);
    assert.deepEqual([await text(".program"), await state()], [own, {}]);
  });

  it("is left again by a link, and by the browser's button", async () => {
    await open("view=functions&function=fib+(spec%2Fpage%2Fforeign.lua%3A8)");
    const before = [await text(".strip"), await text("main")];
    await give(`${folder}/foreign.cpuprofile`);
    assert.deepEqual(await state(), { opened: "foreign.cpuprofile" });
    await show("Flame graph");
    await choose(".limit a", `Back to ${own}`);
    assert.deepEqual([await text(".strip"), await text("main")], before);
    await back();
    assert.equal(await text(".program"), "foreign.cpuprofile");
    assert.deepEqual((await state()).view, "flame");
    await page.goBack();
    await back();
    assert.deepEqual([await text(".strip"), await text("main")], before);
    assert.equal(await text(".program"), own);
  });

  it("is asked for again after a reload", async () => {
    await open();
    await give(`${folder}/foreign.folded`);
    await show("Call tree");
    await reload();
    assert.equal(
      await text("#app > .refused"),
      "foreign.folded has to be opened again: pages keep no files.",
    );
    assert.equal(await text(".program"), own);
    assert.deepEqual(await state(), { view: "tree" });
  });

  it("fits a phone, and can be dropped there", async () => {
    for (const theme of ["light", "dark"]) {
      await open("", [390, 844], theme);
      const content = readFileSync(`${folder}/foreign.folded`, "utf8");
      await drop("dropped.folded", content);
      await page.waitForSelector(".limit.opened");
      for (const view of await texts("nav a")) {
        await show(view);
        await fits();
        await shot(`foreign-${view.replace(" ", "-")}-phone-${theme}`);
      }
    }
  });

  it("gives way to a page that is compared with", async () => {
    await open();
    await give(`${folder}/foreign.pprof`);
    await upload(`${folder}/foreign.html`);
    await page.waitForSelector(".view-diff");
    await drawn();
    assert.equal(await text(".program"), own);
    assert.deepEqual(await texts(".limit"), ["Compared with foreign.html×"]);
  });
});

const own = report("foreign")[0].match(/^cprof: (.*)/)[1];

// Fields of a protobuf message: numbers, texts, messages or packed numbers.
function message(...list) {
  const varint = (n) => {
    const out = [];
    let rest = BigInt.asUintN(64, BigInt(n));
    for (; rest > 127n; rest >>= 7n) out.push(Number(rest & 127n) | 128);
    return [...out, Number(rest)];
  };
  return Buffer.from(
    list.flatMap(([field, value]) => {
      if (typeof value === "number") {
        return [...varint(field * 8), ...varint(value)];
      }
      const bytes = Array.isArray(value)
        ? value.flatMap(varint)
        : [...Buffer.from(value)];
      return [...varint(field * 8 + 2), ...varint(bytes.length), ...bytes];
    }),
  );
}

// As Go writes profiles: the last type counts, and work is inlined in main.
const go = message(
  [1, message([1, 1], [2, 2])],
  [1, message([1, 3], [2, 4])],
  [2, message([1, [2, 1]], [2, [3, 30_000_000]])],
  [2, message([1, 1], [2, 1], [2, 10_000_000])],
  [2, message([1, [3, 1]], [2, [-1, -5]])],
  [2, message([1, [3]], [2, [0, 1_000_000]])],
  [3, message([1, 1], [5, 4])],
  [
    4,
    message([1, 1], [4, message([1, 2], [2, 7])], [4, message([1, 1], [2, 9])]),
  ],
  [4, message([1, 2], [3, 0xfeed], [4, message([1, 3], [2, 40])])],
  [4, message([1, 3], [3, 0xbeef])],
  [5, message([1, 1], [2, 5], [4, 6], [5, 3])],
  [5, message([1, 2], [2, 7], [4, 6], [5, 6])],
  [5, message([1, 3], [2, 8], [3, 8])],
  ...["", "samples", "count", "cpu", "nanoseconds"].map((s) => [6, s]),
  ...["main.main", "/go/main.go", "main.work", "runtime.mallocgc"].map((s) => [
    6,
    s,
  ]),
);

const few = (row, ...keys) => keys.map((key) => row[key]);

describe("a file of another tool", () => {
  it("may be folded stacks", async () => {
    await open();
    await give(
      file(
        "perf.folded",
        "# a comment\nmain;work 12\nmain;work;leaf 30\r\nmain;work 8\n\n" +
          "main;a b;<img src=x onerror=hacked()> 50\n",
      ),
    );
    const rows = await functions();
    assert.deepEqual(few(rows.work, "self", "total", "total %"), [
      ...["20", "50", "50.0"],
    ]);
    assert.equal(rows["<img src=x onerror=hacked()>"].self, "50");
    assert.equal(rows["a b"].total, "50");
    await choose("header button", "ms");
    assert.equal((await functions()).work.total, "50.0 ms");
    await choose("header button", "bytes");
    assert.equal((await functions()).work.total, "50 B");
  });

  it("may be Luau's, which has callees first, in microseconds", async () => {
    await open();
    await give(
      file(
        "profile.out",
        "1200 ./b.luau,fib,3;./b.luau,fib,3;./b.luau,,\n" +
          "800 GC,GC,;./b.luau,build,9;./b.luau,,\n" +
          "300 [C],sort,;./b.luau,,20;./b.luau,,\n",
      ),
    );
    const rows = await functions();
    assert.deepEqual(few(rows.fib, "self", "total", "defined"), [
      ...["1.20 ms", "1.20 ms", "./b.luau:3"],
    ]);
    assert.equal(rows["./b.luau"].total, "2.30 ms");
    assert.equal(rows["(garbage collector)"].self, "800 µs");
    assert.deepEqual(few(rows.sort, "self", "defined"), ["300 µs", "[C]"]);
    assert.equal(rows["<fn:20>"].total, "300 µs");
  });

  it("may be Go's pprof, compressed or not", async () => {
    await open();
    for (const [name, content] of [
      ["cpu.pprof", go],
      ["cpu.pb.gz", gzipSync(go)],
    ]) {
      await give(file(name, content));
      const rows = await functions();
      assert.deepEqual(few(rows["main.work"], "self", "total", "samples"), [
        ...["10.0 ms", "40.0 ms", "1"],
      ]);
      assert.equal(rows["main.main"].defined, "/go/main.go:3");
      assert.equal(rows["runtime.mallocgc"].self, "30.0 ms");
      assert.equal(rows["0xbeef"].self, "1.00 ms");
    }
    await show("Overview");
    assert.match(
      await text("main"),
      /4 samples; ± is the margin of error at 95 %/,
    );
  });

  it("may be what Node.js writes", async () => {
    const script = file(
      "busy.js",
      // of processor time, as a busy machine may take it away for long
      "const used = () => process.cpuUsage().user;\n" +
        "function spin(till) {\n" +
        "  while (used() < till) for (let i = 0; i < 1e6; i++);\n" +
        "}\n" +
        "spin(used() + 2e5);\n",
    );
    const dir = `--cpu-prof-dir=${made}`;
    execFileSync(process.execPath, ["--cpu-prof", dir, script]);
    const name = readdirSync(made).find((s) => s.endsWith(".cpuprofile"));
    await open();
    await give(join(made, name));
    const { spin } = await functions();
    const data = JSON.parse(readFileSync(join(made, name), "utf8"));
    const { id } = data.nodes.find((n) => n.callFrame.functionName === "spin");
    const { samples, timeDeltas: deltas, startTime, endTime } = data;
    const last = deltas.reduce((rest, us) => rest - us, endTime - startTime);
    const us = samples.reduce(
      (sum, one, i) => sum + (one === id ? (deltas[i + 1] ?? last) : 0),
      0,
    );
    const [value, unit] = spin.self.split(" ");
    const shown = value * (unit === "s" ? 1e6 : 1e3);
    assert.ok(Math.abs(shown - us) <= us / 100, `${spin.self}, not ${us} us`);
    assert.match(spin.defined, /busy\.js:2$/);
  });

  it("may be a .cpuprofile out of order, or with counts only", async () => {
    const frame = (functionName, lineNumber) => ({
      callFrame: { functionName, url: "file:///a%20b.js", lineNumber },
    });
    const nodes = [
      { id: 7, ...frame("(root)", -1), children: [3] },
      { id: 3, ...frame("", 0), children: [5] },
      { id: 5, ...frame("f", 4), children: [], hitCount: 3 },
    ];
    nodes[0].callFrame.url = "";
    await open();
    await give(
      file(
        "order.cpuprofile",
        JSON.stringify({
          ...{ nodes, startTime: 1e6, endTime: 1e6 + 100 },
          ...{ samples: [5, 3, 5], timeDeltas: [10, 50, -20] },
        }),
      ),
    );
    const rows = await functions();
    // f from 10 to 40, and from there to 60; (anonymous) from 60 to the end
    assert.deepEqual(few(rows.f, "self", "defined"), ["50.0 µs", "/a b.js:5"]);
    assert.equal(rows["(anonymous)"].self, "40.0 µs");
    assert.equal(rows["(anonymous)"].total, "90.0 µs");
    await give(file("counts.cpuprofile", JSON.stringify({ nodes })));
    assert.equal((await functions()).f.self, "3");
  });

  it("has names on one line that hide nothing", async () => {
    await open();
    await give(file("odd.folded", "main;a\u202Eb\tc\u2028d 1\n__proto__ 2\n"));
    const rows = await functions();
    assert.ok(rows["a\\u{202E}b\\u{9}c\\u{2028}d"], Object.keys(rows).join());
    await choose("main a.name", "a\\u{202E}b\\u{9}c\\u{2028}d");
    assert.match(await text(".strip"), /self 1 /);
  });
});

describe("a file that cannot be shown", () => {
  const valid =
    " The page opens pages of cprof, to compare with, and folded stacks, " +
    "pprof and .cpuprofile files.";
  const cycle = [1, 2].map((id) => ({
    ...{ id, callFrame: { functionName: "f" } },
    ...{ children: [3 - id], hitCount: 1 },
  }));
  const profile = readFileSync(`${folder}/foreign.pprof`);
  for (const [name, content, why] of [
    ["empty.folded", "", "it is empty"],
    [
      "notes.txt",
      "Some notes\nof 3\nthings to do",
      "its line 1, 'Some notes', is not a stack such as 'main;work 12'",
    ],
    ["zero.folded", "main;work 0\n", "all of its figures are 0"],
    [
      "data.json",
      '{"traceEvents":[]}',
      "it is JSON, but not a .cpuprofile: it lacks 'nodes' with 'callFrame'",
    ],
    ["cut.cpuprofile", '{"nodes":[', /^it is damaged JSON: .+$/],
    [
      "lengths.cpuprofile",
      JSON.stringify({ nodes: cycle, samples: [1], timeDeltas: [] }),
      "its 'samples' and 'timeDeltas' do not go together",
    ],
    [
      "cycle.cpuprofile",
      JSON.stringify({ nodes: cycle }),
      "its node 1 is below itself",
    ],
    [
      "unknown.cpuprofile",
      JSON.stringify({ nodes: cycle, samples: [9], timeDeltas: [1] }),
      "it has no node 9",
    ],
    [
      "null.cpuprofile",
      JSON.stringify({ nodes: [...cycle, null] }),
      "it is damaged",
    ],
    ["cut.pprof", profile.subarray(0, 500), "its compressed data are damaged"],
    ["cut.pb", go.subarray(0, 90), "it is damaged, or ends too early"],
    [
      "picture.png",
      Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1"),
      "it is damaged, or ends too early",
    ],
    [
      "run.cprof",
      Buffer.from("\x89CPROF\r\n\0\0", "latin1"),
      "it is a cprof recording: 'cprof html FILE' makes a page from it",
    ],
    [
      "bomb.pprof",
      gzipSync(Buffer.alloc(257 * 2 ** 20)),
      "it has more than 256 MB",
    ],
  ]) {
    it(`is named, with what is wrong: ${name}`, async () => {
      await open("view=functions");
      const before = await text("main");
      await give(file(name, content));
      const said = await text("#app > .refused");
      const begins = `${name} cannot be opened: `;
      assert.ok(said.startsWith(begins), said);
      assert.ok(said.endsWith(`.${valid}`), said);
      const told = said.slice(begins.length, -valid.length - 1);
      if (typeof why === "string") assert.equal(told, why);
      else assert.match(told, why);
      assert.equal(await text("main"), before);
      assert.deepEqual(await state(), { view: "functions" });
    });
  }

  it("may be damaged anywhere, and the page stays", async () => {
    await open("view=functions");
    const before = await text("main");
    // a generator that is the same in each run
    let seed = 7;
    const random = (n) => {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
      return (seed >>> 8) % n;
    };
    const json = readFileSync(`${folder}/foreign.cpuprofile`);
    for (const whole of [go, json]) {
      for (let i = 0; i < 25; i++) {
        const bytes = Buffer.from(whole);
        for (let k = 0; k < 3; k++) bytes[random(bytes.length)] = random(256);
        await give(file("damaged", bytes));
        const back = await page.$(".limit.opened a");
        if (back) {
          await back.click();
          await drawn();
        }
        assert.equal(await text("main"), before);
      }
    }
  });
});

it("shows the rest with a note where one line is not a stack", async () => {
  await open();
  await give(file("part.folded", "main;a 1\nnothing here\nmain;b 2\n"));
  assert.equal(
    await text(".notes li"),
    "1 line is not a stack and was left out; the first is line 2",
  );
  assert.equal((await functions()).main.total, "3");
});
