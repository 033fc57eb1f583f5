// Reads the data and shows the view that the address names.

import { decode } from "./decode.js";
import { fill, h } from "./dom.js";
import { bytes } from "./format.js";
import { Model } from "./model.js";
import { Shell } from "./shell.js";

const app = document.getElementById("app");

// resolves when the browser has drawn the page
function painted() {
  return new Promise((done) =>
    requestAnimationFrame(() => setTimeout(done, 0)),
  );
}

async function main() {
  /** @type {any} */
  const data = document.getElementById("data");
  const size = data.textContent.length;
  if (size > 2e6) {
    const said = h("p.loading", { role: "status" });
    said.textContent = `Reading the profile, ${bytes(size)} …`;
    fill(app, said);
    await painted();
  }
  const { header, trees } = await decode(
    data.textContent.trim(),
    data.dataset.encoding,
  );
  data.remove();
  const shell = new Shell(app, new Model(header, trees));
  shell.start();
}

main().catch((error) => {
  fill(
    app,
    h(
      "p.loading",
      { role: "alert" },
      `This page cannot be shown: ${error.message}`,
    ),
  );
  throw error;
});
