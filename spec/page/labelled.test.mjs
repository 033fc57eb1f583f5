// The view of labels, in a browser without a window. The pages are those of
// spec/page/labelled.lua.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { drawn, open, page, state, texts } from "./page.mjs";

// the rows of the table of a key
const rows = (key) =>
  page.evaluate((wanted) => {
    const table = [...document.querySelectorAll("table")].find((t) =>
      t.caption.textContent.endsWith(`each value of ${wanted}`),
    );
    return [...table.tBodies[0].rows].map((tr) =>
      [...tr.cells].map((td) => td.textContent).filter(Boolean),
    );
  }, key);

describe("the view of labels", () => {
  it("has a table for each key, which adds up to the whole", async () => {
    await open("labelled", "view=labels");
    assert.deepEqual(await texts("section > h2"), ["endpoint", "user"]);
    assert.deepEqual(await rows("endpoint"), [
      ["30.0 ms", "30.0", "2", "/login"],
      ["30.0 ms", "30.0", "1", "/search"],
      ["40.0 ms", "40.0", "(no label)"],
    ]);
    assert.deepEqual(await rows("user"), [
      ["50.0 ms", "50.0", "2", "ann"],
      ["10.0 ms", "10.0", "1", 'a "b", c'],
      ["40.0 ms", "40.0", "(no label)"],
    ]);
  });

  it("limits all views to a value that is chosen", async () => {
    await open("labelled", "view=labels");
    await page.evaluate(() => {
      const cell = [...document.querySelectorAll("td")].find(
        (td) => td.textContent === "/login",
      );
      cell.click();
    });
    await drawn();
    const { focus } = await state();
    assert.match(focus, /^\{endpoint=\/login, user=.*\n\{endpoint=\/login/);
    assert.deepEqual(
      (await rows("endpoint")).map((row) => row.at(-1)),
      ["/login"],
    );
    assert.deepEqual(
      (await rows("user")).map((row) => [row[0], row.at(-1)]),
      [
        ["20.0 ms", "ann"],
        ["10.0 ms", 'a "b", c'],
      ],
    );
  });

  it("has samples in place of calls", async () => {
    await open("labelled-samples", "view=labels");
    const list = await rows("endpoint");
    assert.deepEqual(
      list.map((row) => [row.at(-2), row.at(-1)]),
      [
        ["30", "/login"],
        ["30", "/search"],
        [list[2].at(-2), "(no label)"],
      ],
    );
    assert.ok(Number(list[2].at(-2)) >= 40);
  });
});
