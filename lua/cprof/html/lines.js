// Lines of sources.

// The hottest lines of sources, by a measure. "spent" is self time and the
// time of C functions that the line calls.
export function hottest(sources, limit, measure = "spent") {
  const out = [];
  for (const source of sources) {
    for (const line of source.lines) {
      if (line[measure] > 0) out.push({ source, line });
    }
  }
  out.sort((a, b) => b.line[measure] - a.line[measure]);
  return out.slice(0, limit);
}

// The numbers of the lines that have at least the share `least` of a source's
// figure `key`, in order.
export function hot(source, least, key = "spent") {
  return source.lines
    .filter((line) => line[key] > 0 && line[key] >= source[key] * least)
    .map((line) => line.n);
}

// The next or the previous of some lines; wraps around.
export function beside(list, at, forward) {
  if (list.length === 0) return undefined;
  if (forward) return list.find((n) => n > at) ?? list[0];
  return list.findLast((n) => n < at) ?? list[list.length - 1];
}

// How many lines ran and how many could run: [ran, could].
export function coverage(source) {
  let ran = 0;
  let could = 0;
  for (let i = 0; i < source.active.length; i++) {
    if (source.active[i] !== "1") continue;
    could++;
    const line = source.byLine.get(i + 1);
    if (line && (line.hits > 0 || line.self > 0)) ran++;
  }
  return [ran, could];
}
