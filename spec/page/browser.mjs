// A browser without a window, as the specs and the screenshot need it. Also
// on a slow machine, as root, without a session and with little shared
// memory.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

export const build = resolve(process.env.CPROF_BUILD || "build");
export const folder = `${build}/page`;

const minutes = 60000;

// how long to wait for what may come late on a busy machine
export const patience = 3 * minutes;

const program = process.env.CHROMIUM || "/usr/bin/chromium";

// the end of what the browser has said
function listener(browser) {
  let said = "";
  browser.process()?.stderr?.on("data", (data) => {
    said = (said + data).slice(-2000);
  });
  return () => said.trim();
}

// A spec that hangs fails, and is named.
function hurry() {
  const hangs = () => {
    process.stderr.write(`${process.argv[1]} does not come to an end\n`);
    process.exit(1);
  };
  setTimeout(hangs, 20 * minutes).unref();
}

// Starts it, or ends with a message that says what to do. Nothing goes on when
// it ends before it is closed.
export async function start() {
  const path = `${build}/npm/node_modules/puppeteer-core/lib/esm/puppeteer`;
  const { default: puppeteer } = await import(
    pathToFileURL(`${path}/puppeteer-core.js`).href
  );
  let browser;
  hurry();
  try {
    browser = await puppeteer.launch({
      executablePath: program,
      timeout: patience,
      protocolTimeout: 5 * minutes,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-extensions",
        "--no-first-run",
        "--force-color-profile=srgb",
      ],
    });
  } catch (error) {
    const [why] = error.message.split(/\s*TROUBLESHOOTING:/);
    process.stderr.write(
      `cannot start ${program}: ${why}\n` +
        "CHROMIUM=path names another chromium or Chrome; " +
        "'make deps-browser' installs Debian's.\n",
    );
    process.exit(1);
  }
  const said = listener(browser);
  let closing = false;
  browser.on("disconnected", () => {
    if (closing) return;
    const { exitCode, signalCode } = browser.process() || {};
    const how = signalCode ? `by ${signalCode}` : `with status ${exitCode}`;
    process.stderr.write(`${program} ended ${how}:\n${said()}\n`);
    process.exit(1);
  });
  return {
    browser,
    close: () => {
      closing = true;
      return browser.close();
    },
  };
}

// A page of the folder, in a window of this size.
export async function visit(browser, name, { hash, size, theme, listen }) {
  const page = await browser.newPage();
  page.setDefaultTimeout(patience);
  await listen?.(page);
  await page.setViewport({ width: size[0], height: size[1] });
  await page.emulateMediaFeatures([
    { name: "prefers-color-scheme", value: theme },
    { name: "prefers-reduced-motion", value: "reduce" },
  ]);
  const url = pathToFileURL(`${folder}/${name}.html`).href;
  await page.goto(hash ? `${url}#${hash}` : url);
  await page.waitForSelector("header nav a");
  await drawn(page);
  return page;
}

// What was asked for is on the screen.
export function drawn(page) {
  return page.evaluate(
    () =>
      new Promise((done) =>
        requestAnimationFrame(() =>
          requestAnimationFrame(() => setTimeout(done, 20)),
        ),
      ),
  );
}

// Nothing is wider than the window.
export async function fits(page) {
  const [wide, width] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    innerWidth,
  ]);
  assert.ok(wide <= width, `${page.url()}: ${wide} of ${width}`);
}

// Screenshots are for people.
export function shot(page, name) {
  const pictures = `${build}/screenshots`;
  mkdirSync(pictures, { recursive: true });
  return page.screenshot({ path: `${pictures}/${name}.png` });
}

// Adds to `faults` what the page complains of.
export function note(page, faults) {
  const add = (what) => faults.push(`${page.url()}: ${what}`);
  page.on("console", (message) => {
    const said = message.text();
    const ours = !said.startsWith("Canvas2D: Multiple readback");
    if (ours && ["error", "warn"].includes(message.type())) add(said);
  });
  page.on("pageerror", (error) => add(error.stack || error));
  page.on("dialog", (dialog) => {
    add(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
}
