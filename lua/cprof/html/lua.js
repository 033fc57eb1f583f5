// Splits Lua source into pieces of text, each with a class, line by line.

const pieces = new RegExp(
  [
    String.raw`(--\[(=*)\[[\s\S]*?\]\2\]|--[^\n]*)`,
    String.raw`(\[(=*)\[[\s\S]*?\]\4\]|"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*')`,
    String.raw`\b(and|break|do|else|elseif|end|false|for|function|goto|if|in|local|nil|not|or|repeat|return|then|true|until|while)\b`,
    String.raw`\b(0[xX][\da-fA-F.pP]+|\d[\d.]*(?:[eE][+-]?\d+)?)\b`,
  ].join("|"),
  "g",
);

// For each line, a list of [class, text].
export function highlight(lines) {
  const text = lines.join("\n");
  /** @type {[string, string][][]} */
  const out = [[]];
  function put(kind, s) {
    const parts = s.split("\n");
    parts.forEach((part, i) => {
      if (i > 0) out.push([]);
      if (part) out[out.length - 1].push([kind, part]);
    });
  }
  let at = 0;
  for (const m of text.matchAll(pieces)) {
    put("", text.slice(at, m.index));
    const kind = m[1]
      ? "comment"
      : m[3]
        ? "string"
        : m[5]
          ? "keyword"
          : "number";
    put(kind, m[0]);
    at = m.index + m[0].length;
  }
  put("", text.slice(at));
  return out;
}

// Cuts a line's pieces at these columns, counted from 0: lists of [class, text,
// column].
export function cut(list, columns) {
  const out = [];
  let at = 0;
  for (const [kind, s] of list) {
    let from = 0;
    for (const column of columns) {
      const to = column - at;
      if (to > from && to < s.length) {
        out.push([kind, s.slice(from, to), at + from]);
        from = to;
      }
    }
    out.push([kind, s.slice(from), at + from]);
    at += s.length;
  }
  return out;
}
