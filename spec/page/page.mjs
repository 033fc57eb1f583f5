// The page that a file of specs has open, one at a time, and what a user does
// and sees there. An error or a warning of the page fails the spec.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, afterEach } from "node:test";
import * as browsers from "./browser.mjs";

export const { browser, close } = await browsers.start();

export let page;
export const faults = [];

// Opens a page of the folder in place of the one before. `listen` gets it
// before it is loaded.
export async function open(
  name,
  hash = "",
  size = [1400, 900],
  theme = "light",
  listen,
) {
  await page?.close();
  blameless();
  page = await browsers.visit(browser, name, {
    ...{ hash, size, theme },
    listen: async (to) => {
      browsers.note(to, faults);
      // the page loads nothing but itself
      to.on("request", (request) => {
        const { href, pathname, protocol } = new URL(request.url());
        if (protocol !== "data:" && !pathname.endsWith(`/${name}.html`)) {
          faults.push(`asks for ${href}`);
        }
      });
      await listen?.(to);
    },
  });
}

function blameless() {
  assert.deepEqual(faults.splice(0), []);
}

afterEach(blameless);
after(close);

export const drawn = () => browsers.drawn(page);
export const fits = () => browsers.fits(page);
export const shot = (name) => browsers.shot(page, name);

export const texts = (selector) =>
  page.$$eval(selector, (list) => list.map((e) => e.textContent));
export const text = async (selector) => (await texts(selector))[0];
export const state = () =>
  page.evaluate(() =>
    Object.fromEntries(new URLSearchParams(location.hash.slice(1))),
  );

// the texts of the cells of each row
export const cellsOf = (selector = "tbody tr") =>
  page.$$eval(selector, (list) =>
    list.map((tr) => [...tr.cells].map((td) => td.textContent)),
  );

// a number for the pixels of a canvas, which differs if they differ
export const pixels = (selector) =>
  page.$eval(selector, (canvas) => {
    const { data } = canvas
      .getContext("2d")
      .getImageData(0, 0, canvas.width, canvas.height);
    return data.reduce((sum, n) => (Math.imul(sum, 31) + n) | 0, 0);
  });

export async function press(...keys) {
  for (const key of keys) await page.keyboard.press(key);
  await drawn();
}

export async function click(selector, options) {
  await page.click(selector, options);
  await drawn();
}

// clicks what has this text
export async function choose(selector, wanted) {
  const found = await page.evaluateHandle(
    (s, w) =>
      [...document.querySelectorAll(s)].find((e) => e.textContent.trim() === w),
    selector,
    wanted,
  );
  const element = found.asElement();
  assert.ok(element, `${selector} '${wanted}'`);
  await element.click();
  await drawn();
}

// Moves the pointer to a place in an element.
export async function point(selector, x, y) {
  const box = await (await page.$(selector)).boundingBox();
  await page.mouse.move(box.x + x, box.y + y);
  await drawn();
}

// Drags from one of these points to the next and on, in an element.
export async function drag(selector, ...points) {
  const box = await (await page.$(selector)).boundingBox();
  for (const [i, [x, y]] of points.entries()) {
    await page.mouse.move(box.x + x, box.y + y);
    if (i === 0) await page.mouse.down();
  }
  await page.mouse.up();
  await drawn();
}

export async function back() {
  await page.goBack();
  await drawn();
}

export async function forward() {
  await page.goForward();
  await drawn();
}

export async function reload(selector = "header nav a") {
  await page.reload();
  await page.waitForSelector(selector);
  await drawn();
}

export const upload = async (path) =>
  (await page.$("input[type=file]")).uploadFile(path);

export const drop = (name, content) =>
  page.evaluate(
    (file, body) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([body], file));
      const more = { dataTransfer, bubbles: true, cancelable: true };
      document.body.dispatchEvent(new DragEvent("dragover", more));
      document.body.dispatchEvent(new DragEvent("drop", more));
    },
    name,
    content,
  );

// what a command printed for the page, as lines
export const report = (name) =>
  readFileSync(`${browsers.folder}/${name}.txt`, "utf8").split("\n");

// The rows below a report's heading of functions, as cells; their heading is
// the first.
export function functionsOf(lines) {
  const at = lines.findIndex((line) => /^ *self +self %/.test(line));
  return lines
    .slice(at, lines.indexOf("", at))
    .map((line) => line.trim().split(/ {2,}/));
}

// times as text reports write them
export const tight = (s) => s.replace(/(\d) (?=[nµm]?s\b)/g, "$1");
