// The live page as people use it, over a program that runs.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, afterEach, describe, it } from "node:test";
import { drawn, fits, note, patience, shot, start } from "./browser.mjs";
import { legible, watch } from "./legible.mjs";

const { browser, close } = await start();
const folder = mkdtempSync(join(tmpdir(), "cprof-live-"));
const servers = [];

const faults = [];

afterEach(async () => {
  // all but the first page, which the browser itself has opened
  for (const page of (await browser.pages()).slice(1)) await page.close();
  for (const server of servers.splice(0)) server.kill("SIGTERM");
  assert.deepEqual(faults.splice(0), []);
});

after(async () => {
  await close();
  // a server that ends may still make files there
  rmSync(folder, { recursive: true, maxRetries: 20 });
});

// runs until there is a file "stop"; most of its time is in `hot`
const program = (hot) => `
local function alpha(n)
  local x = 0
  for i = 1, n do x = x + i end
  return x
end
local function beta(n)
  local x = 0
  for i = 1, n do x = x + i % 3 end
  return x
end
local functions = {}
for i = 1, 60 do
  functions[i] = assert(load(("local f, n = ... local function small_%d() " ..
    "return f(n) end return small_%d"):format(i, i), "=small" .. i))
end
local function round()
  alpha(${hot === "alpha" ? 20000 : 10})
  beta(${hot === "beta" ? 20000 : 10})
  for i, f in ipairs(functions) do f(alpha, 10)() end
end
while not io.open "stop" do round() end
os.exit(4)
`;

// A server of its own, whose address is given.
async function serve(name, ...words) {
  return run(name, program("alpha"), ...words);
}

async function run(name, text, ...words) {
  writeFileSync(join(folder, name), text);
  rmSync(join(folder, "stop"), { force: true });
  const lua = process.env.SPEC_LUA || "lua5.4";
  const command = resolve("lua/cprof/bin/cprof");
  const server = spawn(
    lua,
    [command, "serve", "--interval", "0.2"].concat(words),
    {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, TMPDIR: folder, XDG_RUNTIME_DIR: "" },
    },
  );
  servers.push(server);
  let said = "";
  const url = await new Promise((done, fail) => {
    server.stderr.on("data", (data) => {
      said += data;
      const found = said.match(/http:\S+/);
      if (found) done(found[0]);
    });
    server.on("exit", () => fail(new Error(said)));
  });
  return { server, url };
}

async function open(url, hash = "") {
  const page = await browser.newPage();
  await watch(page);
  note(page, faults);
  page.setDefaultTimeout(patience);
  await page.setViewport({ width: 1300, height: 800 });
  await page.goto(hash ? `${url}#${hash}` : url);
  await page.waitForSelector("nav a");
  await drawn(page);
  return page;
}

// what the overview calls a figure
const fact = (page, title) =>
  page.evaluate((wanted) => {
    const term = [...document.querySelectorAll(".facts dt")].find(
      (dt) => dt.textContent === wanted,
    );
    return term.nextElementSibling.textContent;
  }, title);
const calls = async (page) =>
  Number((await fact(page, "calls")).replaceAll(",", ""));

// waits until a function of the page gives something else than now
async function changed(page, ask, ...args) {
  // a page behind another one is not drawn
  await page.bringToFront();
  const before = await ask(page, ...args);
  const end = Date.now() + patience;
  while (Date.now() < end) {
    await new Promise((done) => setTimeout(done, 50));
    const now = await ask(page, ...args);
    if (now !== before) return now;
  }
  throw new Error(`nothing changed: ${before}`);
}

async function until(page, test, ...args) {
  await page.bringToFront();
  await page.waitForFunction(test, { polling: 50 }, ...args);
}

async function press(page, label) {
  await page.bringToFront();
  await page.evaluate((wanted) => {
    const buttons = [...document.querySelectorAll(".live button")];
    buttons.find((b) => b.textContent === wanted).click();
  }, label);
}

// makes tables and coroutines until there is a file "stop"
const busy = `
local kept = {}
local function make(n)
  for i = 1, n do kept[#kept + 1] = { i } end
  if #kept > 20000 then kept = {} end
end
local function task(n)
  for i = 1, n do
    make(20)
    coroutine.yield()
  end
end
while not io.open "stop" do
  local resume = coroutine.wrap(task)
  for i = 1, 5 do resume(10) end
end
`;

// waits until the strip of the past has n looks, each from one message
const looks = (page, n) =>
  until(
    page,
    (wanted) =>
      Number(document.querySelector(".past canvas")?.dataset.looks) >= wanted,
    n,
  );

// Drags over a part of the past, from 0 to 1; a click if both are the same.
async function drag(page, from, to) {
  await page.bringToFront();
  const box = await (await page.$(".past canvas")).boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + from * box.width, y);
  await page.mouse.down();
  await page.mouse.move(box.x + to * box.width, y, { steps: 4 });
  await page.mouse.up();
  await drawn(page);
}

const rangeOf = (page) =>
  page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get("range"));

const totals = (page) =>
  page.$$eval("tbody tr", (rows) =>
    rows.map((tr) => tr.textContent).join("\n"),
  );
const state = (page) => page.$eval(".live .state", (e) => e.textContent);

describe("the live page", { timeout: 10 * patience }, () => {
  it("follows the program in each view, without a fault", async () => {
    const { url } = await serve("a.lua", "--", "--lines", "a.lua");
    const page = await open(url);
    assert.equal(await state(page), "running");
    const before = await calls(page);
    await changed(page, calls);
    assert.ok((await calls(page)) > before);
    for (const view of ["functions", "callgraph", "source"]) {
      await page.evaluate((v) => (location.hash = "view=" + v), view);
      await until(page, (v) => document.querySelector(".view-" + v), view);
      const text = (p) => p.$eval("main", (e) => e.textContent);
      await changed(page, text);
      assert.equal(await page.evaluate(() => location.hash), "#view=" + view);
    }
    await shot(page, "live-source");
  });

  it("keeps choice, zoom, scroll, focus and what is typed", async () => {
    const { url } = await serve("b.lua", "--", "--lines", "b.lua");
    let page = await open(url, "view=functions");
    // all functions were called
    await until(page, () => document.body.scrollHeight > 2 * innerHeight);
    await page.type("input[type=search]", "a");
    await page.evaluate(() => scrollTo(0, 400));
    await page.focus("input[type=search]");
    const y = await page.evaluate(() => scrollY);
    assert.ok(y > 100);
    const input = await page.$("input[type=search]");
    const row = await page.$("tbody tr");
    for (let i = 0; i < 3; i++) await changed(page, totals);
    assert.equal(await page.evaluate(() => scrollY), y);
    assert.equal(await input.evaluate((e) => e.value), "a");
    assert.ok(await input.evaluate((e) => e === document.activeElement));
    // after an update, the row is still the same element
    assert.ok(await row.evaluate((e) => e.isConnected));
    assert.equal(
      await page.evaluate(() => location.hash),
      "#view=functions&search=a",
    );
    // a row that has the focus keeps it, wherever it goes
    await page.evaluate(() =>
      [...document.querySelectorAll("tbody tr")]
        .find((tr) => tr.textContent.includes("beta"))
        .focus({ preventScroll: true }),
    );
    for (let i = 0; i < 3; i++) await changed(page, totals);
    assert.ok(
      await page.evaluate(() =>
        document.activeElement.textContent.includes("beta"),
      ),
    );
    await page.close();

    page = await open(url, "view=flame");
    const crumbs = (p) => p.$eval(".crumbs", (e) => e.textContent);
    await page.focus("canvas.icicle");
    for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await drawn(page);
    const path = await crumbs(page);
    assert.match(path, / › /);
    const hash = await page.evaluate(() => location.hash);
    assert.match(hash, /function=/);
    await page.click("details summary");
    await page.waitForSelector(".astable table");
    const table = (p) => p.$eval(".astable table", (e) => e.textContent);
    for (let i = 0; i < 3; i++) await changed(page, table);
    assert.equal(await crumbs(page), path);
    assert.equal(await page.evaluate(() => location.hash), hash);
    assert.match(await page.$eval(".strip", (e) => e.textContent), /self/);
    await page.close();
    page = await open(url, "view=source&file=b.lua&line=4");
    await page.evaluate(() => {
      document.querySelector("#line-4").seen = true;
      document.querySelector(".lines").firstChild.seen = true;
    });
    const line = (p) => p.$eval("#line-4", (e) => e.textContent);
    await changed(page, line);
    assert.ok(
      await page.evaluate(
        () =>
          document.querySelector(".lines").firstChild.seen &&
          document.querySelector("#line-4").classList.contains("at"),
      ),
    );
  });

  it("pauses, marks, resets, and is refreshed as often as is chosen", async () => {
    const { url } = await serve("c.lua", "--", "c.lua");
    const page = await open(url);
    const other = await open(url);
    await changed(page, calls);
    await press(page, "Pause");
    const paused = await calls(page);
    await changed(other, calls);
    await changed(other, calls);
    assert.equal(await calls(page), paused);
    assert.match(await state(page), /paused here/);
    assert.equal(await state(other), "running");
    await press(page, "Resume");
    await changed(page, calls);

    const before = await calls(page);
    await press(page, "Pause");
    await press(page, "From here");
    assert.match(await state(page), /since the mark/);
    assert.equal(await calls(page), 0);
    await press(page, "Resume");
    await changed(page, calls);
    const since = await calls(page);
    await press(page, "Since the start");
    assert.ok((await calls(page)) >= before + since);

    await changed(other, calls);
    await press(page, "Reset");
    for (const p of [page, other]) {
      await until(p, () =>
        document.querySelector(".live").textContent.includes("reset"),
      );
      assert.ok((await calls(p)) < before * 100);
    }
    await changed(other, calls);

    await page.select(".live select", "30");
    // updates that are under way may still arrive
    let slow;
    for (let i = 0; i < 10 && slow !== (await calls(page)); i++) {
      slow = await calls(page);
      await changed(other, calls);
      await changed(other, calls);
    }
    assert.equal(await calls(page), slow);
    await page.select(".live select", "0.2");
    await changed(page, calls);
  });

  it("has the figures of the last seconds, as the address says", async () => {
    const { url } = await serve("w.lua", "--", "--lines", "w.lua");
    const page = await open(url);
    const window = "select[aria-label='Time that the figures are of']";
    await page.select(window, "5");
    const told = "the last 5 s";
    await until(
      page,
      (wanted) =>
        [...document.querySelectorAll(".live .limit")].some(
          (e) => e.textContent === wanted,
        ),
      told,
    );
    assert.match(await page.evaluate(() => location.hash), /window=5/);
    await changed(page, calls);
    await press(page, "Pause");
    const some = await calls(page);
    await page.select(window, "");
    await until(page, () => !document.querySelector(".live .limit"));
    const all = await calls(page);
    assert.ok(some < all, `${some} of ${all}`);
    // what is paused has the same figures each time
    await page.select(window, "5");
    await until(page, () => document.querySelector(".live .limit"));
    assert.equal(await calls(page), some);
    // a mark takes the place of a window
    await press(page, "From here");
    assert.match(await state(page), /since the mark/);
    assert.doesNotMatch(await state(page), /the last/);
    assert.equal(await page.$eval(window, (e) => e.value), "");
    await page.setViewport({ width: 390, height: 844 });
    await drawn(page);
    await fits(page);
    await shot(page, "live-phone");
  });

  it("shows the figures of a part of its past, chosen by mouse or keys", async () => {
    const { url } = await serve("p.lua", "--", "--lines", "p.lua");
    const page = await open(url);
    await changed(page, calls);
    await looks(page, 8);
    await press(page, "Pause");
    assert.match(
      await page.$eval(".past", (e) => e.textContent),
      /The last [\d.]+ m?s, of what this page has seen since it was opened\./,
    );
    const all = await calls(page);
    await drag(page, 0.3, 0.7);
    const range = await rangeOf(page);
    assert.match(range, /^[\d.]+s\.\.[\d.]+s$/);
    const label = () => page.$eval(".strip .limit", (e) => e.textContent);
    assert.equal(await label(), `${range.replace("..", " to ")}×`);
    const some = await calls(page);
    assert.ok(some <= all, `${some} of ${all}`);
    // each view shows the chosen range
    await page.evaluate(() => {
      const state = location.hash.replace(/view=\w+&?/, "");
      location.hash = state + "&view=source&file=p.lua";
    });
    await page.waitForSelector(".view-source .lines");
    assert.equal(await rangeOf(page), range);
    await shot(page, "live-range");
    // the parts of the past add up to what came since the first look
    await page.evaluate(() => (location.hash = "view=overview"));
    await until(page, () => !document.querySelector(".strip .limit"));
    assert.equal(await calls(page), all);
    const within = async (from, to) => {
      await drag(page, from, to);
      return calls(page);
    };
    const whole = await within(0, 1);
    await page.focus(".past canvas");
    await page.keyboard.press("Home");
    let sum = 0;
    const n = await page.$eval(".past canvas", (e) => Number(e.dataset.looks));
    for (let i = 0; i < n; i++) {
      await page.keyboard.press("Enter");
      await drawn(page);
      sum += await calls(page);
      await page.keyboard.press("ArrowRight");
    }
    assert.equal(sum, whole);
    assert.ok(whole > 0 && whole <= all, `${whole} of ${all}`);
    await page.keyboard.press("Home");
    for (let i = 1; i < n; i++) {
      await page.keyboard.down("Shift");
      await page.keyboard.press("ArrowRight");
      await page.keyboard.up("Shift");
    }
    await drawn(page);
    assert.equal(await calls(page), whole);
    await page.keyboard.press("Escape");
    await until(page, () => !document.querySelector(".strip .limit"));
    assert.equal(await calls(page), all);
    // a click chooses one bar, whose figures stay while the program goes on
    await drag(page, 0.5, 0.5);
    const one = await calls(page);
    assert.ok(one <= whole);
    const chosen = await rangeOf(page);
    await press(page, "Resume");
    await looks(page, n + 3);
    assert.equal(await calls(page), one);
    assert.equal(await rangeOf(page), chosen);
    // a window and a mark take its place
    await page.select("select[aria-label='Time that the figures are of']", "5");
    await until(page, () => /the last 5 s/.test(document.body.textContent));
    assert.equal(await rangeOf(page), null);
    await drag(page, 0.2, 0.4);
    assert.doesNotMatch(await state(page), /the last/);
    await press(page, "From here");
    assert.equal(await rangeOf(page), null);
    assert.match(await state(page), /since the mark/);
    // a page does not know what ran before it was opened
    const other = await open(url, `range=${chosen}`);
    await until(other, () =>
      document.querySelector(".live").textContent.includes("not known here"),
    );
    assert.ok((await calls(other)) >= one);
    await page.bringToFront();
    for (const width of [390, 1440]) {
      await page.setViewport({ width, height: 844 });
      await drawn(page);
      await fits(page);
    }
  });

  it("has no text that is hard to read, light or dark", async () => {
    const { url } = await run(
      "t.lua",
      busy,
      ...["--", "--memory=all", "--tasks", "t.lua"],
    );
    for (const theme of ["light", "dark"]) {
      const page = await open(url, `view=overview&theme=${theme}`);
      await looks(page, 4);
      const clear = async (what) => {
        await drawn(page);
        const { faint, drawn: many } = await legible(page);
        assert.deepEqual(faint, [], `${what} ${theme}`);
        return many;
      };
      await clear("all");
      await drag(page, 0.5, 0.5);
      await clear("a range");
      await page.mouse.move(5, 5);
      for (const view of ["timeline", "tasks"]) {
        await page.evaluate(
          (hash) => (location.hash = hash),
          `view=${view}&theme=${theme}`,
        );
        await until(page, (v) => document.querySelector(".view-" + v), view);
        assert.ok((await clear(view)) > 0);
      }
      await press(page, "Pause");
      await press(page, "From here");
      await clear("paused and marked");
      await page.close();
    }
    // a range that is not known, a window, and a program that has ended
    const page = await open(url, "range=0s..0.01s");
    writeFileSync(join(folder, "stop"), "");
    await until(page, () =>
      document.querySelector(".state").textContent.startsWith("ended"),
    );
    for (const theme of ["light", "dark"]) {
      for (const more of ["range=0s..0.01s", "window=300"]) {
        await page.evaluate(
          (hash) => (location.hash = hash),
          `${more}&theme=${theme}`,
        );
        await drawn(page);
        const { faint } = await legible(page);
        assert.deepEqual(faint, [], `${more} ${theme}`);
      }
    }
  });

  it("has memory and tasks, which follow the program", async () => {
    const { url } = await run(
      "m.lua",
      busy,
      ...["--", "--memory=all", "--tasks", "m.lua"],
    );
    const page = await open(url, "view=timeline");
    await looks(page, 3);
    const main = () => page.$eval("main", (e) => e.textContent);
    const has = (text) =>
      until(
        page,
        (wanted) => document.querySelector("main").textContent.includes(wanted),
        text,
      );
    await has("Memory in use over time");
    await has("Where bytes are allocated");
    assert.match(await main(), /written when the recording ends/);
    assert.match(await main(), /make/);
    const allocated = () => fact(page, "allocations");
    await changed(page, allocated);
    await shot(page, "live-memory");
    // what was allocated in a part of the past is known, what is in use not
    await looks(page, 6);
    await press(page, "Pause");
    const number = async () => Number((await allocated()).replaceAll(",", ""));
    const all = await number();
    assert.match(await main(), /in use/);
    await drag(page, 0, 1);
    const some = await number();
    assert.ok(some > 0 && some <= all, `${some} of ${all}`);
    assert.ok(
      !(await page.$$eval(".facts dt", (list) =>
        list.some((dt) => dt.textContent === "in use"),
      )),
    );
    await page.evaluate(() => (location.hash = "view=flame&measure=bytes"));
    await until(page, () => document.querySelector(".view-flame .choice"));
    assert.match(
      await page.$eval(".tabs .choice", (e) => e.textContent),
      /Allocated.*In use.*At peak/,
    );
    await page.evaluate(() => (location.hash = "view=tasks"));
    await has("Where they were suspended");
    await press(page, "Resume");
    const cell = (p) => p.$eval("main tbody tr", (e) => e.textContent);
    assert.match(await cell(page), /task/);
    await changed(page, cell);
    // a row keeps the focus, and is walked by keys, when new figures come
    await page.focus("main tbody tr");
    await changed(page, cell);
    assert.ok(
      await page.evaluate(() => document.activeElement.matches("tbody tr")),
    );
    await shot(page, "live-tasks");
    // the heap over time comes at the end
    await page.evaluate(() => (location.hash = "view=timeline"));
    writeFileSync(join(folder, "stop"), "");
    await has("The heap over time");
    assert.doesNotMatch(await main(), /written when the recording ends/);
  });

  it("runs the program again, and the heat moves", async () => {
    const { url } = await serve("d.lua", "--", "--lines", "d.lua");
    const page = await open(url, "view=source&file=d.lua");
    // just after the start, the line that loads functions leads
    const hottest = (line) =>
      until(
        page,
        (n) => document.querySelector(".hotlines .n")?.textContent === n,
        line,
      );
    await hottest("4");
    // the beginning of a recording is known only to the second
    await new Promise((done) => setTimeout(done, 1100));
    writeFileSync(join(folder, "d.lua"), program("beta"));
    await press(page, "Restart");
    await hottest("9");
    assert.match(await state(page), /^running.*begun again at \d/);
    const heat = (n) =>
      page.$eval(`#code-${n}`, (e) =>
        Number(e.style.getPropertyValue("--heat")),
      );
    assert.ok((await heat(9)) > (await heat(4)));
    assert.equal(
      await page.evaluate(() => location.hash),
      "#view=source&file=d.lua",
    );
    writeFileSync(join(folder, "stop"), "");
    await until(page, () =>
      document
        .querySelector(".live .state")
        .textContent.startsWith("ended, exit status 4"),
    );
    assert.match(
      await page.$eval(".live .actions", (e) => e.textContent),
      /Run again/,
    );
  });

  it("is refreshed in the page that is seen, of as many as there are", async () => {
    const { url } = await serve("g.lua", "--", "g.lua");
    const pages = [];
    for (let i = 0; i < 9; i++) pages.push(await open(url));
    for (const page of [...pages.slice(7), ...pages.slice(0, 2)]) {
      await changed(page, calls);
      assert.equal(await state(page), "running");
    }
  });

  it("says when the server is gone", async () => {
    const { server, url } = await serve("e.lua", "--", "--quiet", "e.lua");
    const page = await open(url);
    const before = await calls(page);
    server.kill("SIGTERM");
    await until(page, () => document.querySelector(".live[data-state=lost]"));
    assert.ok((await calls(page)) >= before);
    assert.match(await state(page), /does not answer/);
    await page.close();
    // the browser may complain about the connection
    faults.length = 0;
  });

  it("shows what the program has named as text", async () => {
    const hostile = "</script><img src=x onerror=hacked()>";
    const file = "f.lua";
    const { url } = await serve(file, "--", "--quiet", file, hostile);
    const page = await open(url);
    assert.match(await page.$eval(".program", (e) => e.textContent), /onerror/);
    assert.equal((await page.$$("img")).length, 0);
  });
});
