// The page as people use it, in a browser without a window.

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { describe, it } from "node:test";
import { folder } from "./browser.mjs";
import { legible, watch } from "./legible.mjs";
import { back, choose, click, drag, drawn, drop, faults } from "./page.mjs";
import { fits, forward, functionsOf, open, page, pixels } from "./page.mjs";
import { point, press, reload, report, shot } from "./page.mjs";
import { browser, cellsOf, state, text, texts, tight } from "./page.mjs";
import { upload } from "./page.mjs";

// what the processes of pages have in memory, which are few
async function memory() {
  const session = await browser.target().createCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const of = ({ type, id }) => {
    if (type !== "renderer") return 0;
    try {
      const status = readFileSync(`/proc/${id}/status`, "utf8");
      return Number(status.match(/RssAnon:\s+(\d+)/)?.[1] ?? 0) * 1024;
    } catch {
      return 0; // that of a page before has ended meanwhile
    }
  };
  return Math.max(...processInfo.map(of));
}

// Do shares of times add up to 100 %? Each is rounded; of some, only a bound is
// known, which is more than their part.
function addUp(shares, off = 0) {
  const sum = (list) =>
    list.reduce((all, s) => all + Number(s.replace("<", "")), 0);
  const most = sum(shares);
  const least = sum(shares.filter((s) => !s.startsWith("<")));
  off += 0.05 * shares.length;
  assert.ok(least < 100 + off && most > 100 - off, shares.join());
}

const views = ["overview", "functions", "flame", "tree", "callgraph", "source"];
const pages = {
  luacheck: views,
  called: views,
  sampled: ["heatmap", ...views],
  joined: views,
  "sampled-diff": ["diff", ...views],
  long: views,
  coroutines: views,
  hostile: views,
  game: [...views, "frames"],
  leak: [...views, "frames", "timeline"],
  memory: [...views, "timeline"],
  trace: [...views, "trace"],
  diff: ["diff", ...views],
  count: ["coverage", ...views],
  million: ["overview", "functions", "flame"],
};

describe("every view", () => {
  for (const name of Object.keys(pages)) {
    it(`of ${name} shows without a fault, offline`, async () => {
      for (const view of pages[name]) {
        await open(name, `view=${view}`);
        assert.equal(
          await page.$eval("nav [aria-current]", (e) => e.hash),
          `#view=${view}`,
        );
        assert.ok((await text("main")).length > 40, view);
        await shot(`${name}-${view}`);
      }
    });
  }

  it("fits a narrow window, light and dark", async () => {
    for (const name of ["luacheck", "game", "leak", "diff"]) {
      for (const view of pages[name]) {
        const f = name === "luacheck" ? "&search=skip" : "";
        await open(name, `view=${view}${f}`, [700, 900], "dark");
        await fits();
        await shot(`${name}-${view}-narrow-dark`);
      }
    }
  });

  it("fits a phone, with names before figures and source beside lines", async () => {
    for (const name of ["luacheck", "game", "leak", "diff", "count", "trace"]) {
      for (const view of pages[name]) {
        await open(name, `view=${view}`, [390, 844]);
        await fits();
        await shot(`${name}-${view}-phone`);
      }
    }
    await open("luacheck", "view=functions", [390, 844]);
    assert.match((await texts("thead th"))[0], /^function/);
    await open("luacheck", "view=source", [390, 844]);
    const left = await page.$eval(
      ".codes .code",
      (e) => e.getBoundingClientRect().left,
    );
    assert.ok(left < 140, `${left}`);
  });

  it("has no text that is hard to read, light or dark", async () => {
    const clear = async (name, hash, theme, what = hash) => {
      if (name) await open(name, hash, [1400, 900], theme, watch);
      const { faint, drawn: many } = await legible(page);
      assert.deepEqual(faint, [], `${name} ${what} ${theme}`);
      return many;
    };
    for (const theme of ["light", "dark"]) {
      for (const name of ["luacheck", "game", "leak", "diff", "count"]) {
        for (const view of pages[name]) {
          await clear(name, `view=${view}`, theme);
        }
      }
      for (const shape of ["flame", "inverted", "sandwich"]) {
        for (const more of ["", "&color=heat", "&search=token&by=calls"]) {
          const hash = `view=flame&shape=${shape}${more}`;
          const many = await clear("luacheck", hash, theme);
          // without a chosen function, the sandwich has no graph yet
          assert.ok(many > 1 || shape === "sandwich", `${hash}: ${many}`);
        }
      }
      await clear("luacheck", "view=tree&inverted=1", theme);
      await clear("luacheck", "view=callgraph&graph=drawn", theme);
      assert.ok((await page.$$("svg text")).length > 20);
      await choose(".drawn text.name", await text(".drawn text.name"));
      await clear(undefined, "", theme, "drawn and chosen");
      // lanes, with what runs in others, and a part of the time
      await clear("trace", "view=trace", theme);
      await page.focus("canvas.icicle");
      await press("w", "w", "w", "ArrowDown", "ArrowDown");
      const many = await clear(undefined, "", theme, "zoomed trace");
      assert.ok(many > 1, `${many}`);
      assert.ok((await page.$$(".lanes canvas.icicle")).length > 1);
      assert.ok((await page.$$("canvas.overmap")).length > 0);
      await clear("trace", "view=trace&search=work", theme);
      await clear("sampled", "view=heatmap", theme);
      await clear("sampled", "view=heatmap&search=token", theme);
      for (const view of ["tasks", "slowest"]) {
        await clear("tails", `view=${view}`, theme);
      }
      await clear("sampled-diff", "view=diff", theme);
      await open("after", "", [1400, 900], theme, watch);
      await upload(`${folder}/before.html`);
      await page.waitForSelector(".view-diff");
      await clear(undefined, "", theme, "compared");
      for (const view of ["flame", "functions", "callgraph"]) {
        await page.evaluate((v) => (location.hash = `view=${v}`), view);
        await page.waitForSelector(`.view-${view}`);
        await drawn();
        await clear(undefined, "", theme, `compared ${view}`);
      }
    }
  });

  it("has a name for whatever can be pressed", async () => {
    for (const name of ["luacheck", "game", "leak", "diff"]) {
      for (const view of pages[name]) {
        await open(name, `view=${view}`);
        const nameless = await page.$$eval(
          "main a, main button, main input, header a, canvas",
          (list) =>
            list
              .filter((e) => !e.closest("[hidden], [aria-hidden]"))
              .filter(
                (e) => !(e.getAttribute("aria-label") || e.textContent).trim(),
              )
              .map((e) => e.outerHTML.slice(0, 100)),
        );
        assert.deepEqual(nameless, [], view);
      }
    }
  });
});

describe("the overview", () => {
  it("has a flame graph with a function once on a path", async () => {
    await open("luacheck");
    const box = await (await page.$("section.shape canvas")).boundingBox();
    const path = [];
    for (let y = 9; y < box.height; y += 19) {
      await page.mouse.move(box.x + 5, box.y + y);
      await drawn();
      if (await page.$eval(".shape .tip", (e) => e.hidden)) break;
      path.push(await text(".shape .tip .name"));
    }
    assert.ok(path.length > 5, path.join());
    assert.equal(new Set(path).size, path.length, path.join());
  });
});

describe("the figures", () => {
  const names = ["luacheck", "called", "sampled", "count", "leak", "game"];

  it("of the time are those of the text report", async () => {
    for (const name of names.filter((one) => one !== "count")) {
      const [all, list] = report(name)[1].split(": ");
      const told = list.replace(/ \((excluded|not recorded)\)/g, "");
      await open(name, "view=overview");
      const title = await text(".times h2");
      assert.equal(title.replace(" time", "").replace(" ", ""), all, name);
      const parts = await page.$$eval(".times li:not(.aside)", (items) =>
        items.map((e) => [
          e.querySelector("strong").textContent,
          e.childNodes[1].textContent,
        ]),
      );
      const shown = parts
        .filter(([, what]) => what !== "program")
        .map(([ns, what]) => `${tight(ns)} ${what}`);
      assert.equal(shown.join(", "), told, name);
    }
  });

  it("of functions are those of the text report", async () => {
    for (const name of names.filter((one) => one !== "game")) {
      const told = new Map();
      for (const cells of functionsOf(report(name)).slice(1)) {
        if (cells.length < 6) continue;
        const [self, share, total, totalShare] = cells;
        const [place] = cells.slice(-1);
        // the garbage collector has no source location
        if (place.startsWith("(")) continue;
        told.set(`${cells[cells.length - 2]} ${place.match(/\d*$/)}`, [
          ...[self, share, total, totalShare],
        ]);
      }
      // functions of less than 1 % have no row
      assert.ok(told.size > 2, name);
      await open(name, "view=functions");
      const heads = await texts("thead th");
      const cells = await cellsOf();
      const column = (title) => heads.indexOf(title);
      const named = heads.findIndex((title) => title.startsWith("function"));
      let found = 0;
      for (const row of cells) {
        const place = row[row.length - 1].match(/\d*$/);
        const want = told.get(`${row[named]} ${place}`);
        if (!want) continue;
        found++;
        const [x, y] = [column("self"), column("total")];
        const got = [row[x], row[x + 1], row[y], row[y + 1]];
        assert.deepEqual(got.map(tight), want, `${name} ${row[named]}`);
      }
      assert.ok(2 * found > told.size, `${name}: ${found} of ${told.size}`);
    }
  });
});

describe("an editor", () => {
  const link = (selector) =>
    page.$eval(selector, (a) => a.getAttribute("href"));

  it("opens the chosen line or function", async () => {
    await open("editor", "view=source&file=build/page/trace.lua&line=2");
    const address = /^vscode:\/\/file\/.*\/build\/page\/trace\.lua:(\d+)$/;
    assert.equal((await link("main a.editor")).match(address)[1], "2");
    await press("ArrowDown");
    assert.equal((await link("main a.editor")).match(address)[1], "3");
    // the key follows the link
    await page.evaluate(() =>
      addEventListener("click", (event) => {
        const { href } = /** @type {any} */ (event.target);
        Object.assign(window, { opened: href });
        event.preventDefault();
      }),
    );
    await press("o");
    const opened = () =>
      page.evaluate(() => /** @type {any} */ (window).opened);
    assert.equal((await opened()).match(address)[1], "3");
    await choose("nav a", "Functions");
    await open("editor", "view=functions");
    await click("tbody tr td");
    const { function: title } = await state();
    const [, line] = title.match(/:(\d+)\)$/) || [];
    assert.equal((await link(".strip a.editor")).match(address)[1], line);
    await open("trace", "view=functions");
    await click("tbody tr td");
    assert.equal(await page.$("a.editor"), null);
  });
});

describe("a slow line", () => {
  it("is one click away", async () => {
    await open("luacheck");
    const [first] = await texts("section:nth-of-type(2) a.code");
    await click("section:nth-of-type(2) a.code");
    assert.equal((await state()).view, "source");
    assert.equal((await text(".code.at")).trim(), first);
    const seen = await page.$eval(".line.at", (e) => {
      const { top, bottom } = e.getBoundingClientRect();
      return top > 0 && bottom < innerHeight;
    });
    assert.ok(seen);
  });
});

describe("a function that is chosen", () => {
  it("is in sight where it was chosen far below", async () => {
    await open("luacheck", "view=functions", [1280, 700]);
    await page.evaluate(() => scrollTo(0, 3000));
    const y = await page.evaluate(() => scrollY);
    assert.ok(y > 1000);
    const name = await page.evaluate(() => {
      const row = document.elementFromPoint(600, 400).closest("tr");
      row.click();
      return row.querySelector(".name").textContent;
    });
    await drawn();
    const under = await page.evaluate(
      () => document.elementFromPoint(30, 80).closest(".strip")?.innerText,
    );
    assert.ok(under?.startsWith(name), `${under}`);
  });

  it("is scrolled to among its callers and callees", async () => {
    await open("luacheck", "view=callgraph", [1280, 400]);
    await click(".list a");
    for (const far of [true, false]) {
      await page.evaluate((y) => scrollTo(0, y), far ? 9000 : 0);
      const before = await text(".centre h1");
      await page.$$eval("tbody tr[tabindex]", (rows) =>
        rows.find((tr) => tr.querySelector("a.name")).click(),
      );
      await drawn();
      assert.notEqual(await text(".centre h1"), before);
      const [top, bottom] = await page.$eval(".centre", (e) => {
        const box = e.getBoundingClientRect();
        return [box.top, box.bottom];
      });
      assert.ok(top > 60 && bottom <= 400, `${top} ${bottom}`);
    }
  });

  it("is followed by all views, and opened again by the address", async () => {
    // which functions are hottest differs from run to run
    await open("luacheck", "view=functions&search=skip_token");
    const name = await text("tbody a.name");
    await click("tbody tr td");
    assert.equal(await text(".strip .name"), name);
    assert.match(await text(".strip"), /self .*total .*calls/);
    const chosen = (await state()).function;
    await reload(".strip .name");
    assert.equal(await text(".strip .name"), name);
    await choose("nav a", "Call graph");
    assert.equal(await text(".centre h1"), name);
    await choose("nav a", "Source");
    assert.ok((await page.$$(".line.within")).length > 0);
    await choose("nav a", "Flame graph");
    assert.equal((await state()).function, chosen);
    await press("Escape");
    assert.equal((await state()).function, undefined);
  });

  it("goes with the browser's way back", async () => {
    await open("luacheck", "view=functions");
    await click("tbody tr:nth-child(1) td");
    await click("tbody tr:nth-child(2) td");
    const second = await text(".strip .name");
    await back();
    assert.notEqual(await text(".strip .name"), second);
  });
});

describe("the functions", () => {
  const column = async (n) =>
    (await texts(`tbody td:nth-child(${n})`)).slice(0, 50);

  it("are sorted by what is clicked, and the other way round", async () => {
    await open("luacheck", "view=functions");
    await choose("th button", "calls");
    const number = (s) => Number(s.replaceAll(",", ""));
    const down = (await column(7)).map(number);
    assert.ok(down[0] > 0);
    assert.deepEqual(
      down,
      [...down].sort((a, b) => b - a),
    );
    assert.equal(
      await page.$eval("th[aria-sort]", (e) => e.getAttribute("aria-sort")),
      "descending",
    );
    await choose("th button", "calls");
    const up = (await column(7)).map(number);
    assert.deepEqual(
      up,
      [...up].sort((a, b) => a - b),
    );
  });

  it("are searched by a part or a pattern", async () => {
    await open("luacheck", "view=functions");
    await press("/");
    await page.keyboard.type("/^parse_/");
    await drawn();
    const names = await texts("tbody a.name");
    assert.ok(names.length > 3);
    for (const name of names) assert.match(name, /^parse_/);
    assert.equal((await state()).search, "/^parse_/");
    await page.$eval("input", (e) => (e.value = ""));
    await page.type("input", "/(/");
    assert.equal(
      await page.$eval("input", (e) => e.getAttribute("aria-invalid")),
      "true",
    );
    assert.match(await text(".wrong"), /^Not a pattern: .*[Uu]nterminated/);
    await page.$eval("input", (e) => (e.value = ""));
    await page.type("input", "no such function");
    await drawn();
    assert.match(await text("tbody"), /No function/);
    assert.equal(await text(".wrong"), "");
  });

  it("are grouped by file, and recursion is spread", async () => {
    await open("luacheck", "view=functions");
    const before = (await page.$$("tbody tr")).length;
    await choose("button", "Files");
    const files = await texts("tbody .name");
    assert.ok(
      files.length < before &&
        files.some((name) => name.endsWith("parser.lua")),
    );
    await choose("button", "Functions");
    await choose("button", "Spread recursion");
    assert.ok((await texts("tbody .aside")).some((s) => /level [23]/.test(s)));
  });

  it("are walked by keys", async () => {
    await open("luacheck", "view=functions");
    await press("ArrowDown", "ArrowDown", "ArrowDown", "Enter");
    const third = await text("tbody tr:nth-child(3) a.name");
    assert.equal(await text(".strip .name"), third);
    await press("ArrowDown", "Enter");
    assert.equal(
      await text(".strip .name"),
      await text("tbody tr:nth-child(4) a.name"),
    );
  });
});

describe("the flame graph", () => {
  it("zooms by click, wheel and keys", async () => {
    await open("luacheck", "view=flame");
    const whole = await pixels("canvas.icicle");
    await drag("canvas.icicle", [200, 19 * 17 + 8]);
    const zoomed = await pixels("canvas.icicle");
    assert.notEqual(zoomed, whole);
    assert.ok((await texts(".crumbs button")).length > 5);
    assert.ok((await state()).function);
    await choose("button", "Zoom out");
    assert.equal((await texts(".crumbs button")).length, 1);
    await press("Escape");
    await point("canvas.icicle", 600, 100);
    const before = await pixels("canvas.icicle");
    await page.mouse.wheel({ deltaY: -400 });
    await drawn();
    assert.notEqual(await pixels("canvas.icicle"), before);
    await page.focus("canvas.icicle");
    await choose("button", "Zoom out");
    await page.focus("canvas.icicle");
    for (let i = 0; i < 17; i++) await press("ArrowDown");
    await press("Enter");
    assert.ok((await texts(".crumbs button")).length > 5);
    const said = await text("#app > p[role=status]");
    assert.match(said, /total .* self/);
    await press("Escape");
  });

  it("tells the figures of what is pointed at", async () => {
    await open("luacheck", "view=flame");
    await point("canvas.icicle", 100, 19 * 16 + 8);
    const tip = await text(".tip");
    assert.match(tip, /\(.*lua:\d+\)/);
    assert.match(tip, /total .*%.*self/);
    assert.match(tip, /calls? here/);
  });

  it("marks what is searched, with its share", async () => {
    await open("luacheck", "view=flame");
    const before = await pixels("canvas.icicle");
    await page.type("input[type=search]", "parser");
    await drawn();
    assert.notEqual(await pixels("canvas.icicle"), before);
    const share = (await text(".controls [role=status]")).match(/, ([\d.]+) %/);
    assert.ok(Number(share[1]) > 5 && Number(share[1]) < 100);
    assert.equal(await page.$eval("input", (e) => e.value), "parser");
  });

  it("is turned, weighed by calls, and has recursion merged", async () => {
    await open("luacheck", "view=flame");
    const seen = new Set([await pixels("canvas.icicle")]);
    await choose("button", "Flame");
    seen.add(await pixels("canvas.icicle"));
    await choose("button", "Calls");
    seen.add(await pixels("canvas.icicle"));
    await choose("button", "Merge recursion");
    seen.add(await pixels("canvas.icicle"));
    assert.equal(seen.size, 4);
  });

  it("has the colours of files or heat, as its legend says", async () => {
    await open("luacheck", "view=flame");
    const names = await texts(".legend .swatched");
    assert.ok(names.includes("parser.lua") && names.length > 5, names.join());
    const swatches = await page.$$eval(".legend .swatch", (list) =>
      list.map((e) => getComputedStyle(e).backgroundColor),
    );
    assert.equal(new Set(swatches).size, swatches.length);
    const byFile = await pixels("canvas.icicle");
    await choose("button", "By heat");
    assert.notEqual(await pixels("canvas.icicle"), byFile);
    await open("luacheck", "view=functions");
    const self = await text("tbody td");
    await open("luacheck", "view=flame&color=heat");
    assert.equal(await text(".legend"), `self of each function, up to ${self}`);
    await choose("button", "By file");
    assert.deepEqual(await texts(".legend .swatched"), names);
    await choose("nav a", "Overview");
    assert.deepEqual(await texts(".legend .swatched"), names);
  });

  it("has the colour of the garbage collector in its legend", async () => {
    await open("leak", "view=flame");
    const names = await texts(".legend .swatched");
    assert.ok(names.join().includes("(garbage collector)"), names.join());
    await open("labelled", "view=flame");
    assert.ok((await texts(".legend .swatched")).includes("zones"));
  });

  it("has callers above and callees below a function", async () => {
    await open("luacheck", "view=functions&search=skip_token");
    await click("tbody tr td");
    await choose("nav a", "Flame graph");
    await choose("button", "Sandwich");
    assert.equal((await page.$$("canvas.icicle")).length, 2);
    await shot("luacheck-sandwich");
  });

  it("shows only a function, or all but one, and so do other views", async () => {
    await open("luacheck", "view=functions&search=luacheck.parser.parse");
    await click("tbody tr td");
    await choose(".links a", "Only this");
    assert.match(await text(".limit"), /Only/);
    assert.match(await text(".strip"), /total [^(]*\(100\.0 %\)/);
    await choose("nav a", "Flame graph");
    await shot("luacheck-focus");
    await click(".limit a");
    assert.equal(await page.$(".limit"), null);
    await choose(".links a", "Without this");
    assert.match(await text(".limit"), /Without/);
    assert.match(await text(".strip"), /total 0 ns/);
  });

  it("has several filters at once, by name or pattern, relative to the rest", async () => {
    const file = "luacheck/lexer.lua";
    const lexer = async () => {
      const rows = await page.$$eval("tbody tr", (list) =>
        list.map((tr) => tr.innerText),
      );
      return rows.filter((row) => row.includes("lexer.lua:"));
    };
    const shares = () => texts("tbody td.percent:nth-of-type(2)");
    await open("luacheck", "view=functions");
    assert.ok((await lexer()).length > 5);
    await open("luacheck", `view=functions&search=${file}`);
    await choose(".controls a", "Into callers");
    assert.equal((await state()).ignore, file);
    assert.deepEqual(await lexer(), []);
    // what is left has all of the time
    addUp(await shares());
    await page.type("input[type=search]", "/^parse_/");
    await drawn();
    await choose(".controls a", "Without these");
    assert.deepEqual(await texts(".limit"), [
      "Without /^parse_/×",
      `Into callers: ${file}×`,
    ]);
    const names = await texts("tbody a.name");
    assert.ok(names.length > 50 && !names.some((s) => s.startsWith("parse_")));
    addUp(await shares());
    // the filter applies to sources, too
    await choose("nav a", "Source");
    const own = await page.$$eval(".files a", (list) =>
      list.map((e) => [e.title, e.querySelector(".percent").textContent]),
    );
    assert.ok(own.find(([s]) => s.endsWith(file))[1] === "0.0");
    await reload(".limit");
    assert.equal((await page.$$(".limit")).length, 2);
    await click(".limit a");
    assert.deepEqual(await texts(".limit"), [`Into callers: ${file}×`]);
    await back();
    assert.equal((await page.$$(".limit")).length, 2);
    // a library as one box for each call from elsewhere
    await open("luacheck", `view=flame&search=${file}`);
    await choose(".controls a", "As one box");
    const box = await (await page.$("canvas.icicle")).boundingBox();
    assert.ok(box.height > 100);
    assert.match(await text(".limit"), /^As one box: /);
  });

  it("is inverted: below each function by its self figure, its callers", async () => {
    await open("luacheck", "view=functions");
    const hottest = await text("tbody a.name");
    const self = await text("tbody td");
    const below = await text("tbody td:nth-child(2)");
    await open("luacheck", "view=flame");
    await choose("button", "Inverted");
    assert.equal((await state()).shape, "inverted");
    await click("summary");
    const cells = await texts(".astable tbody tr:nth-child(2) td");
    assert.equal(cells[0], below);
    assert.equal(cells[1], self);
    assert.equal(cells[3].trim(), hottest);
    await click(".astable tbody tr:nth-child(2) td");
    assert.deepEqual((await texts(".crumbs button"))[1], hottest);
    await page.evaluate(() => scrollTo(0, 0));
    await point("canvas.icicle", 20, 19 * 2 + 8);
    const tip = await text(".tip");
    assert.ok(tip.includes(` self of ${hottest} on this path, `), tip);
    await shot("luacheck-inverted");
    // a search counts all of the tree
    const said = () => text(".controls [role=status]");
    await page.type("input[type=search]", "parser");
    await drawn();
    const matches = await said();
    await choose("button", "Icicle");
    assert.equal(await said(), matches);
  });

  it("counts matches on both sides of a sandwich", async () => {
    await open("luacheck", "view=functions&search=skip_token");
    await click("tbody tr td");
    await choose("nav a", "Flame graph");
    await choose("button", "Sandwich");
    const search = async (what) => {
      await page.$eval("input[type=search]", (e) => (e.value = ""));
      await page.type("input[type=search]", what);
      await drawn();
      return text(".controls [role=status]");
    };
    assert.match(
      await search("/parse_|lexer/"),
      /^\d+ callers match, [\d.]+ % of the width; \d+ callees? match(es)?, [\d.]+ % of the width$/,
    );
    // the function itself is on neither side
    assert.equal(
      await search(`/^${await text(".strip .name")} [(]/`),
      "0 callers match, 0.0 % of the width; 0 callees match, 0.0 % of the width",
    );
  });

  it("has the stack of a node, to be copied", async () => {
    await open("luacheck", "view=flame");
    await page.evaluate(() => {
      const writeText = async (copied) => Object.assign(window, { copied });
      Object.defineProperty(navigator, "clipboard", { value: { writeText } });
    });
    const copied = () =>
      page.evaluate(() => /** @type {any} */ (window).copied.split("\n"));
    await press("c");
    assert.equal(await text(".tools [role=status]"), "Choose a node first.");
    await page.focus("canvas.icicle");
    for (let i = 0; i < 17; i++) await press("ArrowDown");
    await press("Enter", "c");
    const lines = await copied();
    assert.equal(lines.pop(), "");
    const names = (await texts(".crumbs button")).slice(-6);
    assert.ok(lines.length > 10);
    assert.equal(
      await text(".tools [role=status]"),
      `Copied ${lines.length} functions.`,
    );
    // callers first, each with its place
    lines.slice(-6).forEach((line, i) => {
      assert.ok(line.startsWith(names[i].replace("…", "")), line);
      assert.match(line, / \((.*:\d+|\[C\]|main chunk)\)$/);
    });
    // an inverted graph has the callers below; the stack is the same way round
    await choose("button", "Inverted");
    await page.focus("canvas.icicle");
    await press("ArrowDown");
    const callee = await text("#app > p[role=status]");
    await press("ArrowDown");
    await choose(".tools button", "Copy stack");
    const inverted = await copied();
    assert.equal(inverted.length, 3);
    assert.ok(callee.startsWith(inverted[1]), callee);
  });

  it("is saved as SVG and as PNG", async () => {
    const saved = async (name, hash, ending) => {
      await open(name, hash);
      await page.evaluate(() => {
        const make = URL.createObjectURL;
        /** @type {any} */
        const all = window;
        URL.createObjectURL = (blob) => {
          all.blob = blob;
          return make.call(URL, blob);
        };
        HTMLAnchorElement.prototype.click = function () {
          all.file = this.download;
        };
      });
      await choose("button", `Save as ${ending.toUpperCase()}`);
      await page.waitForFunction(() => "blob" in window && "file" in window);
      const file = await page.evaluate(() => /** @type {any} */ (window).file);
      assert.ok(file.endsWith(`.${ending}`), file);
      assert.match(file, /^[\w.-]+$/);
      return file;
    };
    assert.equal(
      await saved("luacheck", "view=flame&shape=flame", "svg"),
      "luacheck.svg",
    );
    const read = () =>
      page.evaluate(async () => {
        const svg = await /** @type {any} */ (window).blob.text();
        const all = new DOMParser().parseFromString(svg, "image/svg+xml");
        return {
          tags: [
            ...new Set([...all.querySelectorAll("*")].map((e) => e.tagName)),
          ],
          names: [...all.querySelectorAll("text")].map((e) => e.textContent),
          tips: [...all.querySelectorAll("g title")].map((e) => e.textContent),
        };
      });
    const { tags, names, tips } = await read();
    assert.deepEqual(tags, ["svg", "title", "rect", "g", "text"]);
    assert.ok(names.includes("(root)") && names.length > 20);
    assert.ok(tips.some((s) => /lua:\d+\)\ntotal .*self/.test(s)));
    // names are text there, too
    await saved("hostile", "view=flame", "svg");
    const hostile = await read();
    assert.deepEqual(hostile.tags.sort(), tags.sort());
    assert.ok(hostile.tips.some((s) => s.includes("<b>bold</b>")));
    await saved("luacheck", "view=flame", "png");
    const bytes = await page.evaluate(async () => [
      ...new Uint8Array(
        await /** @type {any} */ (window).blob.arrayBuffer(),
      ).subarray(0, 4),
    ]);
    assert.deepEqual(bytes, [0x89, 0x50, 0x4e, 0x47]);
  });

  it("has a small picture of all, and keys, that zoom and move it", async () => {
    await open("luacheck", "view=flame");
    const range = async (change) => {
      await page.waitForFunction(
        (old) =>
          /zoom=0%2F\d+%2F[\d.]+-[\d.]+/.test(location.hash) &&
          location.hash !== old,
        {},
        change,
      );
      const { zoom } = await state();
      return zoom.split("/")[2].split("-").map(Number);
    };
    const hash = () => page.evaluate(() => location.hash);
    const box = await (await page.$("canvas.overmap")).boundingBox();
    const along = (...parts) =>
      drag("canvas.overmap", ...parts.map((part) => [part * box.width, 5]));
    const near = (list, wanted) =>
      list.forEach((x, i) =>
        assert.ok(Math.abs(x - wanted[i]) < 0.005, `${list}`),
      );
    let old = await hash();
    await along(0.5, 0.6, 0.75);
    near(await range(old), [0.5, 0.75]);
    old = await hash();
    await along(0.6, 0.5, 0.4);
    near(await range(old), [0.3, 0.55]);
    // a click elsewhere centres the graph there
    old = await hash();
    await along(0.8);
    near(await range(old), [0.675, 0.925]);
    old = await hash();
    await page.mouse.move(0, 0);
    await press("w");
    near(await range(old), [0.8 - 0.125 / 1.5, 0.8 + 0.125 / 1.5]);
    old = await hash();
    await press("s");
    near(await range(old), [0.675, 0.925]);
    old = await hash();
    await press("a", "a");
    near(await range(old), [0.675 - 0.0625, 0.925 - 0.0625]);
    old = await hash();
    await press("d");
    near(await range(old), [0.675 - 0.03125, 0.925 - 0.03125]);
  });

  it("has a table of the same", async () => {
    await open("luacheck", "view=flame");
    await click("summary");
    assert.ok((await page.$$(".astable tbody tr")).length > 1);
    await click(".astable tbody tr:nth-child(2) td");
    assert.equal((await texts(".crumbs button")).length, 2);
  });
});

describe("the call tree", () => {
  const rowsOf = () =>
    page.$$eval("tbody tr", (all) =>
      all.map((tr) => ({
        name: tr.querySelector("a.name").textContent,
        level: Number(tr.ariaLevel),
        open: tr.ariaExpanded,
        selected: tr.ariaSelected === "true",
        cells: [...tr.cells].map((td) => td.textContent),
      })),
    );
  const at = async () => (await rowsOf()).findIndex((row) => row.selected);

  it("has the rows and figures of cprof tree", async () => {
    // of samples, the text has a row for each line of a call
    for (const name of ["called", "game"]) {
      const all = readFileSync(`${folder}/${name}.tree.txt`, "utf8");
      const lines = all.split("\n");
      const from = lines.findIndex((line) => /^ *total +total %/.test(line));
      const told = lines
        .slice(from + 1)
        .map((line) => [line, line.trim().split(/ {2,}/)]);
      const end = told.findIndex(([, cells]) => cells.length < 4);
      const wanted = told.slice(0, end).map(([, cells]) => cells);
      assert.ok(wanted.length > 5, `${name}: ${wanted.length}`);
      await open(name, "view=tree", [1600, 3000]);
      // opens all that the text shows
      const found = [];
      await page.focus("table");
      await press("Home");
      for (const cells of wanted) {
        const all = await rowsOf();
        const row = all[await at()];
        found.push(row.name);
        const [total, share, self] = cells;
        const [t, ts, , s] = row.cells;
        const counts = row.cells[5];
        assert.deepEqual(
          [t, ts, s].map(tight),
          [total, share, self],
          `${name}: ${row.name}`,
        );
        assert.equal(counts, cells[3], row.name);
        if (row.open === "false") await press("ArrowRight");
        await press("ArrowDown");
      }
      assert.deepEqual(
        found,
        wanted.map((cells) => cells[4].replace(/ ×[≥\d,]+$/, "")),
        name,
      );
    }
  });

  it("is walked, opened and closed by keys", async () => {
    await open("called", "view=tree&open=-");
    assert.deepEqual(
      (await rowsOf()).map((row) => row.level),
      [1],
    );
    await press("ArrowDown", "ArrowRight");
    assert.equal(
      await page.evaluate(() => document.activeElement.getAttribute("role")),
      "treegrid",
    );
    const opened = await rowsOf();
    assert.ok(opened.length > 1);
    assert.equal(opened[0].open, "true");
    await press("ArrowRight");
    assert.equal(await at(), 1);
    await press("ArrowLeft");
    assert.equal(await at(), 0);
    await press("ArrowLeft");
    assert.equal((await rowsOf()).length, 1);
    await press("e");
    const hot = await rowsOf();
    assert.ok(hot.length > 10, `${hot.length}`);
    assert.ok(hot[await at()].level > 4);
    await press("Enter");
    assert.equal(await text(".strip .name"), hot[await at()].name);
    await press("End");
    assert.equal(await at(), (await rowsOf()).length - 1);
  });

  it("is in the address: what is open, the row, the order, the direction", async () => {
    await open("called", "view=tree&open=-");
    await press("ArrowDown", "ArrowRight", "ArrowDown", "e");
    const before = await rowsOf();
    await page.waitForFunction(() => location.hash.includes("row="));
    await page.waitForFunction(
      (n) =>
        new URLSearchParams(location.hash.slice(1)).get("row").split(".")
          .length >= n,
      {},
      before[await at()].level,
    );
    await reload("tbody tr");
    assert.deepEqual(await rowsOf(), before);
    await choose(".choice button", "Inverted");
    const inverted = await rowsOf();
    assert.equal((await state()).inverted, "1");
    assert.notEqual(inverted[0].name, before[0].name);
    await choose("thead button", "calls");
    assert.equal((await state()).order, "calls");
    await back();
    assert.deepEqual(await rowsOf(), inverted);
    await back();
    assert.deepEqual(await rowsOf(), before);
    await forward();
    assert.deepEqual(await rowsOf(), inverted);
  });

  it("has the functions with their callers below, inverted", async () => {
    for (const name of ["called", "sampled", "luacheck"]) {
      await open(name, "view=functions");
      const [self, calls] = await page.$$eval("thead th", (list) =>
        ["self", "calls"].map((title) =>
          list.findIndex((th) => th.textContent === title),
        ),
      );
      const functions = await page.$$eval("tbody tr", (all) =>
        all.slice(0, 12).map((tr) => [...tr.cells].map((c) => c.textContent)),
      );
      assert.equal(functions.length, 12);
      await open(name, "view=tree&inverted=1&open=-");
      const rows = new Map(
        (await rowsOf()).map(({ name: f, cells }) => [
          `${f} ${cells[cells.length - 1].match(/\d*$/)}`,
          cells,
        ]),
      );
      for (const cells of functions) {
        const [f, place] = cells.slice(-2);
        const key = `${f.replace(/ ×[\d,]+$/, "")} ${place.match(/\d*$/)}`;
        const row = rows.get(key);
        assert.ok(row, `${name} ${key}`);
        // several functions may have one name, on one line of their files
        if (row[row.length - 1] !== place) continue;
        assert.deepEqual(
          [row[0], row[1]],
          [cells[self], cells[self + 1]],
          `${name} ${key}`,
        );
        if (calls >= 0) assert.equal(row[5], cells[calls], `${name} ${key}`);
      }
    }
    // the figures of a caller are the sum over all paths through it
    await open("game", "view=tree&inverted=1&open=-");
    await press("Home", "ArrowRight");
    const rows = await rowsOf();
    assert.ok(rows.some((row) => row.level === 2));
    assert.equal(
      rows
        .filter((row) => row.level === 2)
        .reduce((sum, row) => sum + Number(row.cells[5].replace(/,/g, "")), 0),
      Number(rows[0].cells[5].replace(/,/g, "")),
    );
  });

  it("is searched, with what leads to what is found", async () => {
    await open("called", "view=tree&search=copy_range");
    const rows = await rowsOf();
    assert.ok(rows.some((row) => row.name === "copy_range"));
    await page.focus("table");
    await press("End");
    assert.equal((await rowsOf())[await at()].name, "copy_range");
    await press("Home", "n");
    assert.equal((await rowsOf())[await at()].name, "copy_range");
    const all = () => page.$eval("table", (e) => Number(e.ariaRowCount));
    const found = await all();
    await press("ArrowLeft", "ArrowLeft");
    assert.ok((await all()) < found);
    assert.match(await text(".controls [role=status]"), /1 function matches/);
    await open("called", "view=tree&search=no such function");
    assert.match(await text("tbody"), /No function matches/);
  });

  it("is of what filters leave", async () => {
    await open("called", "view=tree&ignore=parse_block");
    assert.ok(!(await rowsOf()).some((row) => row.name === "parse_block"));
    await open("game", "view=tree&focus=draw&open=-");
    const shares = (await rowsOf()).map((row) => Number(row.cells[1]));
    const sum = shares.reduce((all, one) => all + one, 0);
    assert.ok(Math.abs(sum - 100) < 0.2, `${shares}`);
    await open("waits", "view=tree&measure=wait");
    assert.ok((await rowsOf()).some((row) => row.name === "wait"));
  });
});

describe("the call graph", () => {
  it("has callers and callees whose shares add up", async () => {
    await open("luacheck", "view=functions&search=skip_token");
    await click("tbody tr td");
    await choose("nav a", "Call graph");
    for (const n of [1, 3]) {
      addUp(await texts(`section:nth-of-type(${n}) td:nth-child(2)`), 1);
    }
  });

  it("is walked by keys", async () => {
    await open("luacheck", "view=functions&search=skip_token");
    await click("tbody tr td");
    await choose("nav a", "Call graph");
    const first = await text(".centre h1");
    await press("ArrowDown", "Enter");
    const second = await text(".centre h1");
    assert.notEqual(second, first);
    await press("ArrowLeft");
    assert.equal(await text(".centre h1"), first);
    await press("ArrowRight");
    assert.equal(await text(".centre h1"), second);
  });
});

describe("the sources", () => {
  it("go from one hot line to the next", async () => {
    await open("luacheck", "view=source");
    await press("n");
    const first = Number((await state()).line);
    await press("n");
    const second = Number((await state()).line);
    assert.ok(second > first);
    await press("p");
    assert.equal(Number((await state()).line), first);
    await press("ArrowDown");
    assert.equal(Number((await state()).line), first + 1);
  });

  it("have a tab for each file, and heat relative to it", async () => {
    await open("luacheck", "view=source");
    const heat = () =>
      page.$$eval(".codes .code", (list) =>
        Math.max(
          ...list.map((e) => Number(e.style.getPropertyValue("--heat"))),
        ),
      );
    assert.equal(await heat(), 1);
    await click(".files a:nth-of-type(10)");
    assert.ok((await heat()) < 1);
    await choose("button", "File");
    assert.equal(await heat(), 1);
    assert.match(await text(".sheet .aside"), /\d+ of \d+ lines ran/);
  });

  const seen = (selector) =>
    page.$eval(selector, (e) => {
      const { top, bottom } = e.getBoundingClientRect();
      const under = document.elementFromPoint(600, (top + bottom) / 2);
      return top > 0 && bottom < innerHeight && !under.closest(".stuck");
    });

  it("open at the hottest line, and say what shades mean", async () => {
    await open("luacheck");
    const hottest = await text(".columns section:nth-of-type(2) a.code");
    await choose("nav a", "Source");
    const line = await page.$$eval(".codes .code", (list) => {
      const hot = list.find(
        (e) => e.style.getPropertyValue("--heat") === "1.000",
      );
      return { text: hot.textContent.trim(), id: hot.id };
    });
    assert.equal(line.text, hottest);
    assert.ok(await seen(`#${line.id}`));
    const legend = await text(".legend");
    // on a busy machine, some lines wait
    assert.match(legend, /^self and in C, up to [\d.]+ [mµ]s(waiting)?$/);
    assert.match(await text("aside h2"), /% self and in C/);
    await choose("button", "Hits");
    assert.match(await text(".legend"), /^hits, up to [\d,]+$/);
    await page.evaluate(() => scrollTo(0, 0));
    // one that is not open; which one is open depends on times
    await click(".files a:nth-of-type(n + 3):not([aria-current])");
    assert.ok(await seen("#line-" + (await text(".hotlines a .n"))));
  });

  it("scroll sideways where lines are long; figures stay", async () => {
    await open("luacheck", "view=source", [1280, 600]);
    const of = (selector) =>
      page.$eval(selector, (e) => e.getBoundingClientRect().x);
    const now = async () => [
      await of(".block .gauges"),
      await of(".block .codes"),
      await page.$eval(".rail", (e) => e.scrollLeft),
    ];
    const [gauges, codes] = await now();
    await press("ArrowRight", "ArrowRight");
    assert.deepEqual(await now(), [gauges, codes - 160, 160]);
    await press("ArrowLeft");
    assert.deepEqual(await now(), [gauges, codes - 80, 80]);
    // the bar is in sight, although the file is longer than the window
    const { bottom, end } = await page.$eval(".rail", (e) => {
      e.scrollLeft = 50;
      const lines = document.querySelector(".lines").getBoundingClientRect();
      return { bottom: e.getBoundingClientRect().bottom, end: lines.bottom };
    });
    assert.ok(bottom <= 600 && end > 600, `${bottom} ${end}`);
    await drawn();
    assert.deepEqual(await now(), [gauges, codes - 50, 50]);
    // a file whose lines are short has none
    await open("game", "view=source", [1900, 900]);
    assert.ok((await page.$$(".rail:not([hidden])")).length === 0);
  });

  it("have the room of columns that can be spared", async () => {
    for (const [width, spared] of [
      [1400, true],
      [2000, false],
    ]) {
      await open("exact", "view=source", [width, 900]);
      const [shown, cut] = await page.$eval(".listing", (e) => [
        e.querySelector(".heading .spare").offsetWidth > 0,
        e.querySelector(".lines").scrollWidth >
          e.querySelector(".lines").clientWidth,
      ]);
      assert.deepEqual([shown, cut], [!spared, false], String(width));
    }
  });

  it("have bars of files that are shares of the whole", async () => {
    await open("luacheck", "view=source");
    const bars = await page.$$eval(".files a", (list) =>
      list.map((e) => [
        Number(e.querySelector(".percent").textContent),
        parseFloat(e.querySelector(".bar > span").style.width),
      ]),
    );
    assert.ok(bars.length > 10);
    for (const [share, width] of bars)
      assert.ok(Math.abs(share - width) < 0.11);
    assert.equal(
      await page.$eval(".heading span[title^=Relative]", (e) => e.title),
      "Relative to the hottest line of all files",
    );
  });

  it("tell own files from libraries", async () => {
    await open("luacheck", "view=source");
    const list = await page.$$eval(".files > *", (all) =>
      all.map((e) => e.title || e.textContent),
    );
    const at = list.indexOf("Libraries");
    assert.ok(list.indexOf("/usr/bin/luacheck") < at);
    assert.ok(list.indexOf("/usr/share/lua/5.1/luacheck/parser.lua") > at);
  });

  it("keep the controls in sight where a function is", async () => {
    await open("luacheck", "view=functions&search=skip_token");
    await click("tbody tr td");
    await choose(".strip .links a", "Source");
    const controls = await page.$eval(".stuck", (e) => {
      const { top, bottom } = e.getBoundingClientRect();
      return [top, bottom];
    });
    assert.ok(controls[0] > 0);
    const first = await page.$eval(
      ".line.within",
      (e) => e.getBoundingClientRect().top,
    );
    assert.ok(first >= controls[1] && first < 500, `${controls} ${first}`);
    assert.ok(await seen(".line.within"));
  });

  it("keep what a chosen line calls in sight, also on a phone", async () => {
    for (const size of [
      [1280, 700],
      [390, 844],
    ]) {
      await open("luacheck", "view=source", size);
      let told;
      for (let i = 0; i < 30 && !told; i++) {
        await press("n");
        told = await page.$(".about p");
      }
      const { top, bottom } = await page.$eval(".about", (e) => {
        const box = e.getBoundingClientRect();
        return { top: box.top, bottom: box.bottom };
      });
      assert.ok(top > 0 && bottom <= size[1], `${top} ${bottom}`);
    }
  });

  it("lead from a line to what it calls, and who calls it", async () => {
    await open("luacheck", "view=source");
    // a line of a function, as it ran more than once, where most time is, or in
    // another file
    const find = () =>
      page.$$eval(".gauges .line", (list) => {
        const calls = (e) => e.children[7].textContent;
        const line = list.find(
          (e) =>
            e.children[1].textContent > "1" && /^[1-9]\d{0,2}$/.test(calls(e)),
        );
        return line && [line.id.slice(5), calls(line)];
      });
    let n = await find();
    for (let i = 0; !n && i < 20; i++) {
      await page.evaluate((k) => {
        document.querySelectorAll(".files a")[k]?.click();
      }, i);
      await drawn();
      n = await find();
    }
    await page.evaluate((id) => {
      document.querySelector(`#line-${id} a`).click();
    }, n[0]);
    await drawn();
    const [callees, callers] = await texts(".about p");
    assert.ok(callees.startsWith(`Line ${n[0]} calls `), callees);
    assert.match(callees, /[\d,]+ calls?, <?[\d.]+ [nµm]?s/);
    const told = callees.replace(/^Line \d+ calls/, "");
    const sums = [...told.matchAll(/([\d,]+) calls?/g)].map(([, k]) =>
      Number(k.replace(",", "")),
    );
    assert.equal(
      sums.reduce((x, y) => x + y),
      Number(n[1]),
    );
    assert.match(callers, / is called by .*:\d+ [\d,]+ calls?, /);
    await click(".about p:nth-child(2) a");
    assert.notEqual((await state()).line, n[0]);
    assert.ok(await seen(".line.at"));
    assert.match((await texts(".about p")).join(), /calls/);
  });

  // the number in a share, without "<", "%" or its margin of error
  const share = (s) => Number(s.match(/[\d.]+/)?.[0] ?? 0);
  const sum = (list) => list.reduce((all, s) => all + share(s), 0);

  it("have shares that add up to no more than all", async () => {
    await open("luacheck", "view=source");
    const files = await texts(".files .percent");
    assert.ok(files.length > 10);
    // each is rounded
    const sure = sum(files.filter((s) => !s.includes("<")));
    assert.ok(sure <= 100 + files.length * 0.05, `${sure}`);
    const lines = await texts(".gauges .percent");
    const own = share(await text(".files [aria-current] .percent"));
    // a bound is marked, and may be more than the line has
    const known = lines.filter((s) => !s.includes("<"));
    assert.ok(sum(known) <= own + lines.length * 0.05);
    if (known.length === lines.length)
      assert.ok(sum(lines) >= own - lines.length * 0.05);
    let marked = false;
    for (let k = 1; k <= files.length && !marked; k++) {
      await click(`.files a:nth-of-type(${k})`);
      marked = (await texts(".gauges")).join().includes("<");
    }
    assert.ok(marked);
  });

  it("are of a function only, or of all but one, as other views", async () => {
    const parser = "/usr/share/lua/5.1/luacheck/parser.lua";
    const others = async () =>
      (await page.$$eval(".files a", (list) => list.map((e) => e.innerText)))
        .filter((s) => !s.startsWith("parser.lua"))
        .map((s) => s.split("\n").pop());
    const whole = await (async () => {
      await open("luacheck", "view=source");
      return sum(await texts(".files .percent"));
    })();
    await open("luacheck", "view=functions&search=luacheck.lexer.next_token");
    await click("tbody tr td");
    await choose(".links a", "Only this");
    await choose("nav a", "Source");
    assert.match(await text(".limit"), /Only/);
    assert.match(await text(".files [aria-current] .name"), /lexer\.lua/);
    // shares are relative to the function, which has time in few files only
    const here = await texts(".files .percent");
    assert.ok(Math.abs(sum(here) - 100) < 1 + here.length * 0.05);
    assert.ok(here.filter((s) => share(s) > 0).length < 5);
    assert.match(await text(".note"), /the part of their function's time/);
    await shot("luacheck-source-focus");
    await click(".limit a");
    assert.ok(sum(await texts(".files .percent")) - whole < 1);
    const text_of = async (name) =>
      page.$$eval(
        ".files a",
        (list, wanted) => list.find((e) => e.title === wanted)?.innerText,
        name,
      );
    const before = share((await text_of(parser)).split("\n").pop());
    await choose(".links a", "Without this");
    const after = share((await text_of(parser)).split("\n").pop());
    // without the other function, the share of this one is larger
    assert.ok(after > before, `${before} ${after}`);
    assert.ok((await others()).length > 5);
  });

  it("have figures that stay while long lines are scrolled", async () => {
    await open("long", "view=source&line=2", [900, 600]);
    const left = () =>
      page.$$eval(".line.at .n, .code.at", (list) =>
        list.map((e) => Math.round(e.getBoundingClientRect().left)),
      );
    await page.waitForFunction(() => {
      const lines = document.querySelector(".lines");
      return lines.scrollWidth - lines.clientWidth > 3000;
    });
    const [n, code] = await left();
    await page.$eval(".lines", (e) => (e.scrollLeft = 3000));
    await drawn();
    assert.deepEqual(await left(), [n, code - 3000]);
    // also beside lines that are short
    const short = await page.$eval("#line-1 .n", (e) =>
      Math.round(e.getBoundingClientRect().left),
    );
    assert.equal(short, n);
    await fits();
    await shot("long-scrolled");
  });

  it("say what to do where no lines were recorded", async () => {
    await open("called", "view=source");
    assert.match(await text("main"), /cprof run --lines/);
  });

  it("shade parts of lines, and tell what never happened", async () => {
    await open(
      "count",
      "view=source&file=/usr/share/lua/5.1/luacheck/parser.lua",
    );
    assert.ok((await page.$$("span.part")).length > 100);
    assert.match(
      await page.$eval("span.part", (e) => e.title),
      /ran [\d,]+ times?/,
    );
    assert.ok((await page.$$("span.never")).length > 5);
    assert.match((await texts(".branch")).join(), /if: never (true|false)/);
    const before = (await page.$$("span.part")).length;
    await choose("button", "Expressions");
    assert.ok((await page.$$("span.part")).length < before);
    assert.match(await text(".heading"), /instructions/);
  });
});

describe("samples", () => {
  const file = "/usr/share/lua/5.1/luacheck/parser.lua";

  it("are told with their rate and the smallest share", async () => {
    await open("sampled");
    const facts = (await texts(".facts > div")).join("\n");
    assert.match(facts, /^samples[\d,]+$/m);
    assert.match(facts, /^samples a second[\d,]+$/m);
    assert.match(facts, /^smallest share[\d.]+ %$/m);
    assert.doesNotMatch(facts, /^calls/m);
    assert.match(await text("main > .aside"), /margin of error at 95 %/);
  });

  it("stand in place of calls, and shares say how sure they are", async () => {
    await open("sampled", "view=functions&sort=total");
    const heads = await texts("thead th");
    assert.ok(heads.includes("samples") && heads.includes("with callees"));
    assert.ok(!heads.includes("calls") && !heads.includes("per call"));
    const shares = await texts("tbody td.percent");
    assert.ok(shares.length > 20);
    for (const share of shares) assert.match(share, /^\d+\.\d ±\d+\.\d$/);
    const row = (await texts("tbody tr:nth-child(2) td")).slice(6, 8);
    const [own, all] = row.map((s) => Number(s.replaceAll(",", "")));
    assert.ok(own <= all && all > 0);
    await choose("th button", "samples");
    const first = await text("tbody tr:nth-child(1) td:nth-child(7)");
    assert.ok(Number(first) > 1, first);
  });

  it("are told of a function, its callers and its callees", async () => {
    await open("sampled", "view=functions&search=/^skip_token/");
    await click("tbody tr td");
    const told = await text(".strip");
    assert.match(told, /self .* ±.* %/);
    assert.match(told, /samples?, [\d,]+ with callees/);
    const all = Number(told.match(/, ([\d,]+) with callees/)[1]);
    await choose("nav a", "Call graph");
    for (const n of [1, 3]) {
      const own = await texts(`section:nth-of-type(${n}) td:nth-child(4)`);
      assert.equal(
        own.reduce((sum, s) => sum + Number(s), 0),
        all,
      );
    }
    await choose(".links a", "Only this");
    assert.match(await text(".strip"), /total [^(]*\(100\.0 ±/);
  });

  it("weigh a flame graph, which tells those of a node", async () => {
    await open("sampled", "view=flame");
    const before = await pixels("canvas.icicle");
    await choose("button", "Samples");
    assert.notEqual(await pixels("canvas.icicle"), before);
    await point("canvas.icicle", 100, 19 * 3 + 8);
    const tip = await text(".tip");
    assert.match(tip, /here: .*samples?, .* with callees/);
    assert.match(tip, /total .* ±.* %/);
    assert.doesNotMatch(tip, /calls/);
    const share = async () => {
      await page.type("input[type=search]", "parser");
      await drawn();
      return text(".controls [role=status]");
    };
    assert.match(await share(), /, [\d.]+ ±[\d.]+ % of the width/);
  });

  it("shade lines and their parts by time", async () => {
    await open("sampled", `view=source&file=${file}`);
    const heads = await texts(".heading [role=columnheader]");
    // the machine may have made it wait
    const own = heads.filter((head) => head && head !== "waiting");
    assert.deepEqual(own, [
      "line",
      "self",
      "in C",
      "%",
      "heat",
      "callees",
      "source",
    ]);
    assert.equal((await page.$$(".never")).length, 0);
    const shares = (await texts(".line .percent")).filter(Boolean);
    assert.ok(shares.length > 10);
    for (const share of shares) assert.match(share, /^\d+\.\d ±\d+\.\d$/);
    if (!(await page.$("span.part"))) return; // not known: internals are public
    const part = await page.$$eval("span.part", (list) =>
      list.map((e) => [e.title, Number(e.style.getPropertyValue("--heat"))]),
    );
    assert.ok(part.length > 10);
    for (const [title] of part) assert.match(title, /[mnµ]?s, .* ±.* %$/);
    assert.equal(Math.max(...part.map(([, heat]) => heat)), 1);
  });

  it("tell how far a change may be off", async () => {
    await open("sampled-diff", "view=diff");
    const changes = await texts("tbody td:nth-child(3)");
    assert.match(changes[0], /^[+−].* ±[\d.]+ [mnµ]?s$/);
    assert.match((await texts(".notes li")).join(), /mode call.*sample/);
    // a profile with calls has no column of samples
    assert.ok(!(await texts("thead th")).includes("samples"));
    assert.ok(!(await texts(".choice button")).includes("Samples"));
  });

  it("joined with calls have both", async () => {
    await open("joined", "view=functions");
    const heads = await texts("thead th");
    assert.ok(heads.includes("calls") && heads.includes("per call"));
    assert.match((await texts("tbody .percent")).join(), /\d ±\d/);
    await open("joined");
    const said = (await texts(".notes li")).join();
    assert.match(said, /calls are from a run in mode call/);
  });
});

describe("frames", () => {
  it("show what a chosen one has, where that was out of sight", async () => {
    await open("game", "view=frames", [1280, 320]);
    const top = () =>
      page.$eval("h2.result", (e) => e.getBoundingClientRect().top);
    assert.ok((await top()) > 320);
    await page.$eval("tbody tr td", (e) => e.click());
    await drawn();
    assert.match(await text("h2.result"), /^Frame \d+ and the average frame$/);
    assert.ok((await top()) < 320, `${await top()}`);
    assert.ok((await texts("th")).includes("of longest"));
  });

  it("are chosen, and the other views show just them", async () => {
    await open("game", "view=frames");
    await click("section:nth-of-type(1) tbody tr td");
    const { frames } = await state();
    assert.equal(Number(frames) % 20, 0);
    assert.match(await text(".limit"), new RegExp(`Frame ${frames}`));
    const rows = await texts("section:nth-of-type(2) tbody tr");
    assert.match(rows[0], /burn/);
    await choose("nav a", "Functions");
    const row = await page.$$eval("tbody tr", (list) =>
      [...list.find((tr) => /particles/.test(tr.textContent)).cells].map(
        (td) => td.textContent,
      ),
    );
    assert.equal(row[6], "1");
    await choose("nav a", "Flame graph");
    assert.ok(await page.$("canvas"));
  });

  it("are chosen by keys, several by dragging", async () => {
    await open("game", "view=frames");
    await press("ArrowLeft");
    const one = Number((await state()).frames);
    await press("ArrowLeft");
    assert.equal(Number((await state()).frames), one - 1);
    await drag("canvas.frames", [100, 50], [200, 50], [300, 50]);
    assert.match((await state()).frames, /^\d+-\d+$/);
    assert.match(await text(".limit"), /Frames \d+ to \d+/);
  });
});

describe("the view that a page opens on", () => {
  it("is what the profile was recorded for", async () => {
    const opens = {
      luacheck: "Overview",
      sampled: "Overview",
      game: "Frames",
      memory: "Memory",
      diff: "Changes",
      count: "Coverage",
      trace: "Overview",
    };
    for (const [name, view] of Object.entries(opens)) {
      await open(name);
      assert.equal(await text("nav [aria-current]"), view);
      await choose("nav a", "Functions");
      assert.equal(await text("nav [aria-current]"), "Functions");
      await back();
      assert.equal(await text("nav [aria-current]"), view);
    }
  });
});

describe("coverage", () => {
  const rows = () =>
    page.$$eval("section:nth-of-type(1) tbody tr", (list) =>
      list.map((tr) => [
        tr.querySelector(".name").title,
        ...[...tr.cells].slice(1).map((td) => td.textContent),
      ]),
    );

  it("has the figures of cprof coverage", async () => {
    await open("count");
    const told = readFileSync(`${folder}/count.coverage.txt`, "utf8")
      .split("\n")
      .filter((line) => /^ *[\d,]+ of /.test(line))
      .map((line) => line.trim().split(/ {2,}/));
    const byFile = new Map(told.map((cells) => [cells[6], cells]));
    const all = byFile.get("all");
    byFile.delete("all");
    const shown = await rows();
    assert.equal(shown.length, byFile.size);
    for (const [file, lines, , branches, functions, never] of shown) {
      const want = byFile.get(file);
      const shares = [want[1], want[3], want[5]].map((s) =>
        s.replace("-", "–"),
      );
      assert.deepEqual([lines, branches, functions], shares, file);
      const [hit, of] = want[0].replaceAll(",", "").split(" of ");
      assert.equal(Number(never.replace(",", "")), of - hit, file);
    }
    const facts = (await texts(".facts > div")).join(" ");
    for (const figure of [all[0], all[2], all[4]]) {
      assert.ok(facts.includes(figure), `${figure} in ${facts}`);
    }
    await shot("count-coverage-all");
  });

  it("tells what never ran, with its source", async () => {
    await open("count");
    await page.type("input[type=search]", "luacheck/parser.lua");
    await drawn();
    const [[file, , , , , never]] = await rows();
    assert.ok(file.endsWith("luacheck/parser.lua"));
    const said = await texts("section:nth-of-type(2) td:nth-child(2)");
    assert.ok(said.some((s) => /never ran$/.test(s)));
    assert.ok(said.some((s) => /^if: was never/.test(s)));
    // the ranges have all lines that never ran
    const source = Number(never.replace(",", ""));
    assert.match(
      await text("section:nth-of-type(2) .aside"),
      new RegExp(`^${source} lines of`),
    );
    const at = said.findIndex((s) => /never ran$/.test(s));
    await click(
      `section:nth-of-type(2) tbody tr:nth-child(${at + 1}) td:nth-child(2) a`,
    );
    assert.equal(await text("nav [aria-current]"), "Source");
    assert.ok(await page.$(".line.never.at"));
  });
});

describe("memory", () => {
  const size = /^\d[\d.]* [KMG]?B$/;

  it("is named in the overview, with the collector", async () => {
    await open("leak", "view=overview");
    const facts = Object.fromEntries(
      await page.$$eval(".facts > div", (list) =>
        list.map((e) => [e.children[0].textContent, e.children[1].textContent]),
      ),
    );
    for (const key of ["allocated", "in use", "at the peak"]) {
      assert.match(facts[key], size, key);
    }
    assert.match(facts.allocations, /^[\d,]{6,}$/);
    assert.match(facts.collector, /%$/);
    assert.ok(Number(facts.collections.replaceAll(",", "")) >= 1);
    assert.match(facts["longest step"], /[nmµ]?s$/);
  });

  it("has columns beside time, which sort", async () => {
    await open("leak", "view=functions");
    const heads = await texts("thead th");
    for (const head of ["alloc", "allocs", "in use"]) {
      assert.ok(heads.includes(head), head);
    }
    await choose("th button", "in use");
    // what is kept is made by string.rep, string.format and the table
    const first = await text("tbody tr:first-child a.name");
    assert.match(first, /^(remember|string\.format)$/);
    assert.match(await text("tbody tr:first-child td:nth-child(11)"), size);
    await choose("button", "Files");
    assert.match(await text("tbody tr td:nth-child(5)"), size);
  });

  it("takes the place of time in each view", async () => {
    await open("leak", "view=functions");
    await choose(".tabs button", "Allocated");
    assert.equal((await state()).measure, "bytes");
    const row = await page.$$eval("tbody tr", (list) =>
      list
        .map((tr) => [...tr.cells].map((td) => td.textContent))
        .find((cells) => cells.includes("waste")),
    );
    assert.match(row[0], size);
    await choose("tbody a.name", "waste");
    assert.match(await text(".strip"), /self [\d.]+ [KMG]?B .*total/);
    await choose("nav a", "Call graph");
    assert.match(await text(".centre p"), /self [\d.]+ [KMG]?B/);
    await choose("nav a", "Flame graph");
    const bytes = await pixels("canvas.icicle");
    await choose(".tabs button", "In use");
    assert.notEqual(await pixels("canvas.icicle"), bytes);
    assert.equal(await text(".choice [aria-pressed=true]"), "In use");
    await choose(".tabs button", "Allocated");
    await choose("button", "Sandwich");
    assert.equal((await page.$$("canvas.icicle")).length, 2);
    await choose("nav a", "Overview");
    assert.match(await text("section.shape h2"), /bytes are allocated/);
  });

  it("shades lines", async () => {
    await open("leak", "view=source&measure=live");
    assert.equal(await text(".controls [aria-pressed=true]"), "In use");
    const lines = await texts(".hotlines .code");
    assert.match(lines[0], /kept\[#kept \+ 1\]/);
    await choose(".controls button", "Allocated");
    assert.equal((await state()).heat, "bytes");
    const hottest = await page.$$eval(".codes .code", (list) => {
      const heat = (e) => Number(e.style.getPropertyValue("--heat"));
      return list.sort((a, b) => heat(b) - heat(a))[0].textContent;
    });
    assert.match(hottest, /t\[i\] = \{ i \}|kept/);
    const first = await text(".hotlines a .n");
    await press("n");
    assert.ok((await state()).line);
    assert.ok(Number(first) > 0);
  });

  it("leads to sources with memory, where times are one click away", async () => {
    await open("leak", "view=timeline");
    assert.equal(
      await text("main .columns h2"),
      "Where memory in use was allocated",
    );
    await choose("nav a", "Source");
    assert.equal((await state()).heat, "live");
    assert.match(await text(".listing"), /in use/);
    const pressed = '[aria-label="Heat"] [aria-pressed="true"]';
    assert.equal(await text(pressed), "In use");
    await choose('[aria-label="Heat"] button', "Self");
    assert.equal(await text(pressed), "Self");
    await open("leak", "view=overview");
    await choose("nav a", "Source");
    assert.equal((await state()).heat, undefined);
    assert.deepEqual(faults, []);
  });

  it("is read over time, by pointer and keys", async () => {
    await open("leak", "view=timeline");
    await point("canvas.heap", 400, 100);
    const told = /^[\d.]+ [KMG]?B after [\d.]+ [mµ]?s/;
    assert.match(await text(".tip"), told);
    await page.mouse.move(0, 0);
    await page.focus("canvas.heap");
    const before = await pixels("canvas.heap");
    await press("ArrowRight");
    assert.notEqual(await pixels("canvas.heap"), before);
    assert.match(await text("#app > p[role=status]"), /, the peak/);
    await press("Home");
    const first = await text("#app > p[role=status]");
    await press("ArrowRight");
    assert.notEqual(await text("#app > p[role=status]"), first);
    const label = await page.$eval("canvas.heap", (e) => e.ariaLabel);
    assert.match(label, /at most [\d.]+ MB after/);
    await click("details.astable summary");
    const rows = await texts(".astable tbody tr");
    assert.ok(rows.length > 5);
  });

  it("is known of each frame", async () => {
    await open("leak", "view=frames");
    const heads = await texts("section:nth-of-type(1) thead th");
    assert.ok(heads.includes("alloc") && heads.includes("collector"));
    await press("ArrowLeft");
    const said = await text("#app > p[role=status]");
    assert.match(said, /[\d.]+ [KM]B allocated/);
    await choose("nav a", "Functions");
    // trees of frames know times only, functions know bytes, too
    assert.equal(await page.$(".tabs > .choice"), null);
    assert.ok((await texts("thead th")).includes("alloc"));
  });
});

describe("a trace", () => {
  it("is zoomed, searched and walked, by coroutine", async () => {
    await open("trace", "view=trace");
    const whole = await pixels("canvas.icicle");
    await point("canvas.icicle", 300, 45);
    assert.match(await text(".tip"), /after .* took [\d.]+ [mµn]?s/);
    const seen = await text(".controls .rest > .aside");
    assert.match(seen, /^0 to .* in all$/);
    await page.mouse.wheel({ deltaY: -400 });
    await drawn();
    assert.notEqual(await pixels("canvas.icicle"), whole);
    assert.notEqual(await text(".controls .rest > .aside"), seen);
    await choose("button", "Zoom out");
    await page.focus("canvas.icicle");
    await press("ArrowDown", "ArrowDown", "ArrowRight");
    assert.match(await text("#app > p[role=status]"), /took/);
    await press("Enter");
    assert.ok((await state()).function);
    await press("Escape", "Escape");
    const names = await page.$$eval("select option", (list) =>
      list.map((e) => [e.value, e.textContent]),
    );
    assert.ok(names.length > 1);
    const other = names.find(([tid]) => tid !== "" && tid !== "1")[0];
    await page.select("select", other);
    await drawn();
    assert.equal((await state()).thread, other);
    assert.notEqual(await pixels("canvas.icicle"), whole);
  });
});

describe("the lanes of a trace", () => {
  const figures = async () =>
    new Map(
      await page.$$eval("tbody tr", (rows) =>
        rows.map((tr) => {
          const cells = [...tr.cells].map((td) => td.textContent);
          return /** @type {[any, any]} */ ([cells[6], cells]);
        }),
      ),
    );
  // changes the visible time, and waits until its sums are shown
  const counted = async (change) => {
    const told = () => text("main p[role=status]");
    const old = await told();
    await change();
    await page.waitForFunction(
      (was) =>
        document.querySelector("main p[role=status]").textContent !== was,
      {},
      old,
    );
    return told();
  };

  it("are coroutines, with waits, and show the same time", async () => {
    await open("trace", "view=trace");
    assert.equal((await page.$$("canvas.icicle")).length, 2);
    const whole = await pixels("canvas.icicle");
    const told = await text("main p[role=status]");
    assert.match(
      told,
      /^From 0 to .*: 1,\d+ calls of 8 functions, [\d,]+ steps of the garbage collector\.$/,
    );
    // zooming in one lane is zooming in all
    await page.type("input[type=search]", "coroutine.yield");
    await page.$eval("input", (e) => e.blur());
    const near = await counted(() => press("n"));
    assert.match(
      await text("#app > p[role=status]"),
      /^coroutine\.yield .*; suspended$/,
    );
    await drawn();
    assert.notEqual(await pixels("canvas.icicle"), whole);
    assert.equal((await state()).lane, "2");
    const seen = await text(".controls .rest > .aside");
    await reload("canvas.icicle");
    assert.equal(await text(".controls .rest > .aside"), seen);
    assert.equal(await text("main p[role=status]"), near);
    await shot("trace-lanes");
  });

  it("have the figures of what is seen", async () => {
    await open("trace", "view=trace");
    const all = await figures();
    assert.equal(all.get("work")[5], "40");
    assert.equal(all.get("coroutine.yield")[0], "suspended");
    assert.equal(all.get("coroutine.wrap function")[5], "20");
    // one call of work by the main function, with the 50 calls in it
    await page.focus("canvas.icicle");
    await counted(() => press("ArrowDown", "ArrowDown", "ArrowRight", "Enter"));
    const one = await figures();
    assert.equal(one.get("work")[5], "1");
    assert.equal(one.get("leaf")[5], "50");
    assert.ok(Number(one.get("leaf")[1]) <= 100);
  });

  it("show the steps of the garbage collector, which are not calls", async () => {
    await open("trace", "view=trace");
    const legend = await page.$$eval(".lanes + .legend > span", (list) =>
      list.map((e) => e.textContent),
    );
    assert.deepEqual(legend, [
      "the coroutine is suspended, or another one runs",
      "a step of the garbage collector",
    ]);
    const facts = new Map(
      await page.$$eval(".facts > div", (list) =>
        list.map(
          (e) =>
            /** @type {[string, string]} */ ([
              e.querySelector("dt").textContent,
              e.querySelector("dd").textContent,
            ]),
        ),
      ),
    );
    const steps = facts.get("collector steps");
    const row = (await figures()).get("(garbage collector)");
    assert.equal(row[5], `${steps} steps`);
    assert.match(row[0], /^\d/);
    assert.ok(
      (await text("main p[role=status]")).endsWith(
        `calls of 8 functions, ${steps} steps of the garbage collector.`,
      ),
    );
    await point("canvas.icicle", 300, 8);
    assert.match(
      await text(".tip"),
      /coroutine 1: [\d,]+ calls and [\d,]+ steps of the garbage collector/,
    );
    // from step to step
    await page.type("input[type=search]", "garbage collector");
    await page.$eval("input", (e) => e.blur());
    assert.equal(
      await text(".controls [role=status]"),
      `${steps} steps of the garbage collector match; n and p go to the next ` +
        "and the previous one",
    );
    await counted(() => press("n"));
    assert.match(
      await text("#app > p[role=status]"),
      /^\(garbage collector\); after .*: took \d/,
    );
    const one = (await figures()).get("(garbage collector)");
    assert.equal(one[5], "1 step");
  });

  it("are searched, and steered by keys", async () => {
    await open("trace", "view=trace&search=work");
    const said = await text(".controls [role=status]");
    assert.match(said, /^40 calls match; n and p go/);
    const at = async (key) => {
      await press(key);
      const text_ = await text("#app > p[role=status]");
      assert.match(text_, /^work /);
      return text_.match(/after (.*): took/)[1];
    };
    const first = await at("n");
    const next = await at("n");
    assert.notEqual(next, first);
    assert.equal(await at("p"), first);
    await press("Escape", "Escape");
    const seen = () => text(".controls .rest > .aside");
    await choose("button", "Zoom out");
    const whole = await seen();
    await press("w", "w");
    const near = await seen();
    assert.notEqual(near, whole);
    await press("d");
    assert.notEqual(await seen(), near);
    await press("a", "s", "s");
    assert.equal(await seen(), whole);
    // from lane to lane by the keyboard
    await page.focus("canvas.icicle");
    await press("Tab");
    const focus = () =>
      page.evaluate(() => document.activeElement.getAttribute("aria-label"));
    assert.match(await focus(), /^Coroutine 2: calls/);
    await press("ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp");
    assert.match(await focus(), /^Coroutine 1: calls/);
  });
});

describe("another page", () => {
  const rows = () =>
    page.$$eval("tbody tr", (list) => list.map((tr) => tr.innerText));

  it("is compared with, as the earlier profile", async () => {
    await open("diff", "view=diff");
    const told = await rows();
    const summary = await text("main h1, main .lead, main dl");
    assert.ok(told.length > 2);
    await open("after", "view=functions");
    assert.ok(!(await texts("nav a")).includes("Changes"));
    await upload(`${folder}/before.html`);
    await page.waitForSelector(".view-diff");
    await drawn();
    assert.deepEqual(await rows(), told);
    assert.equal(await text("main h1, main .lead, main dl"), summary);
    assert.equal(await text(".strip .limit"), "Compared with before.html×");
    await shot("compared");
    // what is gone is in the views, too
    await choose("nav a", "Functions");
    await click(".limit button");
    assert.equal(await page.$(".limit"), null);
    assert.ok(!(await texts("nav a")).includes("Changes"));
  });

  it("tells by colour what was added from what was removed", async () => {
    await open("diff", "view=diff");
    const colors = await page.$$eval(".tag", (list) => [
      ...new Set(
        list.map((e) => `${e.textContent} ${getComputedStyle(e).color}`),
      ),
    ]);
    const of = (word) =>
      colors.find((s) => s.startsWith(word))?.slice(word.length);
    assert.equal(colors.length, 2, colors.join());
    assert.notEqual(of("added"), of("removed"));
  });

  it("is dropped on this one", async () => {
    await open("after", "", [390, 844], "dark");
    const content = readFileSync(`${folder}/before.html`, "utf8");
    await drop("notes.html", "<p>no page of cprof</p>");
    await page.waitForSelector("#app > .refused:not([hidden])");
    assert.equal(
      await text("#app > .refused"),
      "notes.html cannot be compared: it is not a page of cprof html.",
    );
    await drop("before.html", content);
    await page.waitForSelector(".view-diff");
    await drawn();
    assert.ok(await page.$eval("#app > .refused", (e) => e.hidden));
    await fits();
    await shot("compared-phone");
    await drop("count.html", readFileSync(`${folder}/count.html`, "utf8"));
    await page.waitForSelector("#app > .refused:not([hidden])");
    assert.match(await text("#app > .refused"), /instructions\.$/);
  });
});

describe("the drawn call graph", () => {
  const boxes = () =>
    page.$$eval(".drawn a", (list) =>
      list.map((a) => {
        const { x, y, width, height } = a
          .querySelector("rect")
          .getBoundingClientRect();
        const [name, told] = [...a.querySelectorAll("text")].map(
          (e) => e.textContent,
        );
        return {
          ...{ name, told, x, y, width, height },
          label: a.getAttribute("aria-label"),
        };
      }),
    );
  const apart = (list) => {
    for (const a of list) {
      for (const b of list) {
        if (a === b) continue;
        const over =
          Math.abs(a.x - b.x) < a.width && Math.abs(a.y - b.y) < a.height;
        assert.ok(!over, `${a.name} is over ${b.name}`);
      }
    }
  };

  it("has callers above their callees, with their figures", async () => {
    await open("game", "view=callgraph");
    await choose("button", "Drawn");
    const list = await boxes();
    apart(list);
    const of = (name) => list.find((one) => one.name === name);
    assert.ok(
      of("update").y < of("burn").y && of("particles").y < of("burn").y,
    );
    const [, share] = of("burn").told.match(/^([\d.]+) %, self/);
    assert.match(of("burn").label, /^burn \(.*: self .*total .*calls/);
    const lines = await page.$$eval(".drawn path title", (all) =>
      all.map((e) => e.textContent),
    );
    assert.ok(
      lines.some((s) => /^update calls burn: .* %\), 300 calls$/.test(s)),
      lines.join("\n"),
    );
    // a click chooses a function; the table has the same figures
    await page.evaluate(() => {
      const all = [...document.querySelectorAll(".drawn a")];
      const burn = all.find((a) => a.textContent.includes("burn"));
      burn.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    });
    await drawn();
    assert.equal(await text(".strip .name"), "burn");
    assert.ok((await text(".strip")).includes(`total`));
    assert.ok((await text(".strip")).includes(`(${share} %)`));
    await shot("game-drawn");
    await choose("button", "Tables");
    assert.equal(await text(".centre h1"), "burn");
  });

  it("is of a large program or around a function, also on a phone", async () => {
    for (const [size, theme] of [
      [[1400, 900], "light"],
      [[390, 844], "dark"],
    ]) {
      await open("luacheck", "view=callgraph&graph=drawn", size, theme);
      const all = await boxes();
      assert.equal(all.length, 40);
      apart(all);
      assert.match(await text("main p.aside"), /^The 40 functions .* of \d+\./);
      await shot(`luacheck-drawn-${theme}`);
      await press("ArrowDown");
      const focus = () =>
        page.evaluate(() => document.activeElement.getAttribute("aria-label"));
      const seen = [await focus()];
      for (let i = 0; i < 6; i++) {
        await press("ArrowDown");
        seen.push(await focus());
      }
      assert.ok(new Set(seen).size > 4, seen.join("\n"));
      await press("ArrowUp");
      const at = await focus();
      assert.ok(all.some(({ label }) => label === at));
      await press("Enter");
      const name = await text(".strip .name");
      assert.ok(at.startsWith(name), `${at}: ${name}`);
      const around = await boxes();
      apart(around);
      assert.ok(around.length > 1 && around.length <= 40);
      assert.match(
        await text("main p.aside"),
        /^\d+ functions around .*, of \d+\./,
      );
      await fits();
      await choose("button", "Whole program");
      assert.equal((await boxes()).length, 40);
    }
  });
});

describe("the address", () => {
  const crumbs = async () => (await texts(".crumbs button")).join(" › ");

  it("has the zoom of the flame graph", async () => {
    await open("luacheck", "view=flame");
    const whole = await crumbs();
    const box = await (await page.$("canvas.icicle")).boundingBox();
    await page.mouse.click(box.x + 200, box.y + 19 * 17 + 8);
    await drawn();
    const deep = await crumbs();
    assert.notEqual(deep, whole);
    await reload();
    assert.equal(await crumbs(), deep);
    await back();
    assert.equal(await crumbs(), whole);
    assert.equal((await state()).function, undefined);
    await forward();
    assert.equal(await crumbs(), deep);
    // moved by hand, in a graph with the mouse away from it
    await page.mouse.move(box.x + 600, box.y + 100);
    await page.mouse.wheel({ deltaY: -300 });
    await page.waitForFunction(() => /zoom=\d+%2F\d+%2F0/.test(location.hash));
    // what lies at points of the graph
    const points = async () => {
      const names = [];
      for (let x = 5; x < box.width; x += 35) {
        const y = 19 * (14 + ((x / 5) % 12)) + 8;
        await page.mouse.move(box.x + x, box.y + y);
        await drawn();
        const seen = await page.$eval(".tip", (e) => !e.hidden && e.innerText);
        names.push(seen);
      }
      return names;
    };
    const moved = await points();
    assert.ok(new Set(moved).size > 3);
    await reload();
    assert.deepEqual(await points(), moved);
    // another tree begins at its root
    await choose("button", "Merge recursion");
    assert.equal(await crumbs(), whole);
  });

  it("has the zoom of the trace", async () => {
    await open("trace", "view=trace");
    const seen = () => text(".controls .aside");
    const whole = await seen();
    await page.focus("canvas.icicle");
    await press("ArrowDown", "ArrowDown", "Enter");
    const near = await seen();
    assert.notEqual(near, whole);
    await reload();
    assert.equal(await seen(), near);
    await back();
    assert.equal(await seen(), whole);
  });

  it("has the theme", async () => {
    await open("luacheck", "", [900, 700], "light");
    const worn = () =>
      page.evaluate(() => document.documentElement.dataset.theme);
    await press("t");
    assert.equal(await worn(), "dark");
    assert.equal((await state()).theme, "dark");
    const { hash } = new URL(page.url());
    await page.evaluate(() => localStorage.clear());
    await open("luacheck", hash.slice(1), [900, 700], "light");
    assert.equal(await worn(), "dark");
  });
});

describe("changes", () => {
  it("are in a table: more, added and removed", async () => {
    await open("diff", "view=diff");
    const rows = await texts("tbody tr");
    assert.ok(rows.find((row) => /fresh/.test(row) && /added/.test(row)));
    assert.ok(rows.find((row) => /old/.test(row) && /removed/.test(row)));
    assert.ok(rows.find((row) => /other/.test(row) && /\+/.test(row)));
    const before = await pixels("canvas");
    await choose("button", "before");
    assert.notEqual(await pixels("canvas"), before);
  });
});

describe("the measures of a program that waits", () => {
  const first = async () => (await texts("tbody tr"))[0];

  it("tell waiting from CPU time in every view", async () => {
    await open("waits", "view=functions");
    assert.match(await first(), /read/);
    await choose("button", "CPU");
    assert.match(await first(), /burn|compute/);
    await choose("button", "Waiting");
    assert.match(await first(), /read/);
    await shot("waits-waiting");
    for (const view of views) {
      for (const measure of ["cpu", "wait"]) {
        await open("waits", `view=${view}&measure=${measure}`);
        assert.doesNotMatch(await text("#app"), /NaN|undefined/);
      }
    }
  });

  it("are those of lines, too", async () => {
    const hottest = async () => (await texts(".hotlines .code"))[0];
    await open("waits", "view=source&measure=wait");
    assert.match(await hottest(), /read/);
    const heads = async () => texts(".heading [role=columnheader]");
    assert.ok((await heads()).includes("waiting"));
    await choose("button", "CPU");
    assert.doesNotMatch(await hottest(), /read/);
    await open("waits", "view=overview&measure=wait");
    const rows = await texts("tbody tr");
    assert.ok(
      rows.find((row) => /pages\.lua:\d+/.test(row) && /read/.test(row)),
    );
  });
});

describe("bars of a program that waits", () => {
  // which part of the bar of the first row with this text is waiting, in %
  const waits = (row, text) =>
    page.$$eval(
      row,
      (list, wanted) => {
        const it = list.find((e) => e.textContent.includes(wanted));
        const bar = it.querySelector(".bar > span");
        return parseFloat(bar.style.getPropertyValue("--waits") || "0");
      },
      text,
    );

  it("have waiting in the colour that it has elsewhere", async () => {
    for (const view of ["overview", "functions"]) {
      await open("waits", `view=${view}`);
      assert.ok((await waits("tbody tr", "file:read")) > 90, view);
      assert.ok((await waits("tbody tr", "burn")) < 10, view);
    }
    await open("waits", "view=source");
    const code = (text) =>
      page.$$eval(
        ".listing .codes > .code",
        (list, wanted) => {
          const it = list.find((e) => e.textContent.includes(wanted));
          return parseFloat(it.style.getPropertyValue("--waits"));
        },
        text,
      );
    assert.ok((await code('pipe:read "a"')) > 90);
    assert.equal(await code("for i = 1, n do"), 0);
    assert.match(await text(".legend"), /up to .*waiting/);
    await open("sampled", "view=functions&measure=cpu");
    assert.equal(await page.$(".bar > span[style*=waits]"), null);
  });
});

describe("names that are markup elsewhere", () => {
  it("are text in every view", async () => {
    for (const view of views) {
      await open("hostile", `view=${view}`);
      assert.equal((await page.$$("main img, main b, main script")).length, 0);
    }
    await open("hostile", "view=functions");
    const names = (await texts("tbody a.name")).join("\n");
    assert.ok(names.includes("</script><img src=x onerror=hacked()>"));
    assert.ok(names.includes("__proto__"));
    assert.ok(names.includes("{{DATA}}"));
    const rows = await page.$$("tbody tr");
    for (let i = 1; i <= rows.length; i++) {
      await click(`tbody tr:nth-child(${i}) td`);
      const row = await text(`tbody tr:nth-child(${i}) a.name`);
      assert.equal(await text(".strip .name"), row);
    }
    await reload(".strip .name");
  });

  it("leave room for the names of functions", async () => {
    await open("hostile");
    const [cut, legend] = await page.evaluate(() => {
      const names = [...document.querySelectorAll(".figures td.left .name")];
      const name = names.find((e) => e.textContent.includes("within"));
      const cell = name.closest("td");
      return [
        cell.scrollWidth > cell.clientWidth,
        document.querySelector(".legend").scrollWidth - innerWidth,
      ];
    });
    assert.ok(!cut);
    assert.ok(legend <= 0, `${legend}`);
  });

  it("could not run if they were code", async () => {
    await open("luacheck");
    await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "window.hacked = true";
      document.body.append(script);
      const image = document.createElement("img");
      image.setAttribute("onerror", "window.hacked = true");
      image.src = "https://example.invalid/x.png";
      document.body.append(image);
    });
    await drawn();
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.match(faults.splice(0).join(), /Content Security Policy/);
  });
});

describe("the page itself", () => {
  it("is light or dark as it is chosen, and remembers it", async () => {
    await open("luacheck", "", [1400, 900], "dark");
    const ground = () =>
      page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await ground();
    await press("t");
    const light = await ground();
    assert.notEqual(light, dark);
    await reload();
    assert.equal(await ground(), light);
    await press("t");
    assert.equal(await ground(), dark);
  });

  it("has tabs that stay where they are, whichever is chosen", async () => {
    await open("luacheck");
    const tabs = () =>
      page.$$eval("nav a", (list) =>
        list.map((e) => e.getBoundingClientRect().x),
      );
    const before = await tabs();
    for (const name of (await texts("nav a")).reverse()) {
      await choose("nav a", name);
      assert.deepEqual(await tabs(), before);
    }
  });

  it("goes to each view by its number, and lists the keys", async () => {
    await open("game");
    const seen = [];
    for (const key of ["2", "3", "4", "5", "6", "7", "8", "1"]) {
      await press(key);
      seen.push((await state()).view);
    }
    assert.deepEqual(seen, [
      "heatmap",
      "functions",
      "flame",
      "tree",
      "callgraph",
      "source",
      "frames",
      "overview",
    ]);
    await press("?");
    assert.ok(await page.$("dialog[open]"));
    await press("Escape");
    assert.equal(await page.$("dialog[open]"), null);
  });

  it("prints dark pages light, charts as well", async () => {
    const look = async () => [
      await page.evaluate(() => getComputedStyle(document.body).color),
      await pixels("canvas"),
    ];
    // what another test has chosen
    await open("luacheck");
    await page.evaluate(() => localStorage.clear());
    for (const [name, view] of [
      ["luacheck", "flame"],
      ["leak", "timeline"],
      ["game", "frames"],
    ]) {
      await open(name, `view=${view}`);
      const light = await look();
      await press("t");
      const dark = await look();
      assert.notDeepEqual(dark, light);
      const printed = await page.evaluate(() => {
        dispatchEvent(new Event("beforeprint"));
        return getComputedStyle(document.body).color;
      });
      assert.deepEqual([printed, await pixels("canvas")], light, view);
      await page.evaluate(() => dispatchEvent(new Event("afterprint")));
      await drawn();
      assert.deepEqual(await look(), dark, view);
      await press("t");
    }
  });

  it("prints all lines of a source", async () => {
    await open(
      "luacheck",
      "view=source&file=/usr/share/lua/5.1/luacheck/parser.lua",
    );
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    const lines = (await page.$$(".line")).length;
    assert.ok(lines > 1000, `${lines}`);
  });
});

describe("a million nodes", () => {
  it("are less than 15 MB, and drawn as fast as few are", async () => {
    const { size } = statSync(`${folder}/million.html`);
    assert.ok(size < 15e6, `${size}`);
    const painting = async (name) => {
      const begun = performance.now();
      await open(name, "view=flame");
      const opened = performance.now() - begun;
      const box = await (await page.$("canvas.icicle")).boundingBox();
      await page.mouse.move(box.x + 700, box.y + 60);
      const frames = await page.evaluate(
        () =>
          new Promise((done) => {
            const canvas = document.querySelector("canvas.icicle");
            const times = [];
            const { left, top } = canvas.getBoundingClientRect();
            let n = 0;
            const step = () => {
              const begun = performance.now();
              canvas.dispatchEvent(
                new WheelEvent("wheel", {
                  deltaY: n < 30 ? -60 : 60,
                  clientX: left + 700,
                  clientY: top + 60,
                  cancelable: true,
                }),
              );
              requestAnimationFrame(() => {
                times.push(performance.now() - begun);
                if (n++ < 60) step();
                else done(times.sort((a, b) => a - b));
              });
            };
            step();
          }),
      );
      const heap = await memory();
      const median = frames[frames.length >> 1];
      process.stdout.write(
        `${name}: opened in ${opened.toFixed(0)} ms, a frame in ` +
          `${median.toFixed(1)} ms, ${(heap / 1e6).toFixed(0)} MB of memory\n`,
      );
      return { median, heap };
    };
    const few = await painting("game");
    const many = await painting("million");
    await open("million", "view=tree&recursion=spread&search=work7.lua");
    const rows = Number(await page.$eval("table", (e) => e.ariaRowCount));
    assert.ok(rows > 100000, `${rows}`);
    assert.ok((await page.$$("tbody tr")).length < 60);
    // the last row of all is found at the end of the way
    await page.focus("table");
    await press("End");
    assert.equal(
      await page.$eval("tr[aria-selected]", (e) => e.ariaRowIndex),
      String(rows),
    );
    const indices = () =>
      page.$$eval("tbody tr", (all) => all.map((e) => +e.ariaRowIndex));
    const shown = await indices();
    assert.equal(shown[shown.length - 1], rows);
    await press("Home");
    assert.equal((await indices())[0], 2);
    // what grew with the nodes would take a thousand times as long; on a busy
    // machine, any frame may be late
    assert.ok(
      many.median < few.median * 20 + 250,
      `${many.median} ${few.median}`,
    );
    assert.ok(many.heap > 0 && many.heap < 1e9, `${many.heap}`);
  });
});
