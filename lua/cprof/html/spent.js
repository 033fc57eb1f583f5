// What a function's own time was spent in, as a bar and a list. That is known
// only for the whole recording.

import { h } from "./dom.js";
import { percent, time } from "./format.js";

// A section; undefined: the profile does not tell.
export function spent(app, f) {
  const all = app.model.header.spent;
  const at = all ? Array.prototype.indexOf.call(all.f, f.id) : -1;
  if (at < 0) return undefined;
  const parts = Array.from(all.what[at], (what, i) => ({
    what,
    ns: all.ns[at][i],
  }));
  const sum = parts.reduce((n, part) => n + part.ns, 0);
  return h(
    "section.spent",
    h(
      "h2",
      "What its own time without waiting was spent in" +
        (all.part ? ", in the whole recording" : ""),
    ),
    h(
      "div.parts",
      { "aria-hidden": "true" },
      parts.map((part) => {
        const width = ((part.ns / sum) * 100).toFixed(2) + "%";
        return h("span", { style: { width }, title: part.what });
      }),
    ),
    h(
      "ul",
      parts.map((part) =>
        h("li", `${part.what}: ${time(part.ns)}, ${percent(part.ns, sum)} %`),
      ),
    ),
    parts.some(({ what }) => /, which has no symbol for it$/.test(what)) &&
      h(
        "p.aside",
        "A file without symbols has no names for its C functions. To see " +
          "them, install its debug symbols (a package whose name ends in " +
          "-dbgsym or -debuginfo), and make a new page.",
      ),
  );
}
