// Names that are looked for: a part of them, or /a pattern/, as by
// cprof/text/patterns.lua, but for capitals and with patterns of JavaScript.

import { h } from "./dom.js";

// A test of names; null: the pattern is not valid. Without anything to look
// for, undefined.
export function matcher(text) {
  if (!text) return undefined;
  const pattern = text.match(/^\/(.+)\/$/)?.[1];
  const part = (pattern ?? text).toLowerCase();
  const has = (f) => f.title.toLowerCase().includes(part);
  if (!pattern) return has;
  try {
    const wanted = new RegExp(pattern, "i");
    return (f) => has(f) || wanted.test(f.title);
  } catch {
    return null;
  }
}

// The field to type it into; change(text) is called as it is typed.
export function field(value, change) {
  const input = h("input", {
    type: "search",
    placeholder: "Search, or /pattern/",
    "aria-label": "Search for functions by a part of the name, or /pattern/",
    spellcheck: "false",
    autocomplete: "off",
    oninput: () => {
      const bad = matcher(input.value) === null;
      input.setAttribute("aria-invalid", String(bad));
      if (!bad) change(input.value);
    },
  });
  input.value = value || "";
  return input;
}

// A row of controls: the field, which keeps the focus, and a place for others.
export function searched(value, change) {
  const rest = h("span", { class: "rest" });
  const input = field(value, change);
  const element = h("div", { class: "controls" }, input, rest);
  return { element, input, rest };
}
