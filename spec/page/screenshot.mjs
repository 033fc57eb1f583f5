// The picture of a page for the README: node screenshot.mjs PAGE OUT

import { start, visit } from "./browser.mjs";

const [name, out] = process.argv.slice(2);
const { browser, close } = await start();
try {
  const page = await visit(browser, name, {
    size: [1160, 700],
    theme: "light",
  });
  await page.screenshot({ path: out });
} finally {
  await close();
}
