// Search for names by a part of the name or a /pattern/. Unlike in
// cprof/text/patterns.lua, patterns are JavaScript's, and case is ignored.

import { h } from "./dom.js";

// The function that tests whether a function matches; null: the pattern is not
// valid; undefined: there is nothing to search for.
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

// Which functions a search finds, by their numbers, as 1 or 0; undefined: it is
// empty, or not a pattern.
export function wantedIn(functions, text) {
  const passes = matcher(text);
  if (!passes) return undefined;
  return Uint8Array.from(functions, (f) => (passes(f) ? 1 : 0));
}

// What is wrong with a pattern; "": nothing.
export function fault(text) {
  try {
    new RegExp(text.match(/^\/(.+)\/$/)?.[1] ?? "", "i");
    return "";
  } catch (error) {
    return "Not a pattern: " + String(error).replace(/^.*\/: /, "");
  }
}

// A search field; change(text) is called at each change of the text, said(text)
// with what is wrong with it.
export function field(value, change, said) {
  const input = h("input", {
    type: "search",
    placeholder: "Search, or /pattern/",
    "aria-label": "Search for functions by a part of the name, or /pattern/",
    spellcheck: "false",
    autocomplete: "off",
    oninput: () => {
      const bad = matcher(input.value) === null;
      input.setAttribute("aria-invalid", String(bad));
      said?.(fault(input.value));
      if (!bad) change(input.value);
    },
  });
  input.value = value || "";
  return input;
}

// A row of controls: a search field, which keeps its focus when others are
// redrawn, and a place for others.
export function searched(app) {
  const rest = h("span.rest");
  const wrong = h("span.wrong", { role: "alert" });
  const input = field(
    app.state.search,
    (text) => app.set({ search: text || undefined }, true),
    (text) => (wrong.textContent = text),
  );
  const element = h("div.controls", input, wrong, rest);
  // shows a text that was chosen elsewhere, unless one is being typed
  const show = (text) => {
    if (document.activeElement !== input) input.value = text || "";
  };
  return { element, input, rest, show };
}
