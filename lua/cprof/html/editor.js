// Links that open a source in an editor, if the page was made with one.

import { h } from "./dom.js";

// A link for a line of a file; undefined: there is none.
export function opener(app, place, line) {
  const { editor } = app.model.header;
  const file = editor?.files[place];
  if (!file) return undefined;
  const href = editor.address
    .replaceAll("{file}", () => file)
    .replaceAll("{line}", String(Math.max(1, line || 1)));
  return h(
    "a.editor",
    { href, title: `Open line ${line || 1} in the editor (o)` },
    "Open in editor",
  );
}
