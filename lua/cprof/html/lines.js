// The lines of sources.

// The hottest lines of sources: by self and what C functions called there took,
// or by what they have allocated.
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

// The lines of a source that have at least this share of its time, or of what
// it has allocated, in order.
export function hot(source, least, key = "spent") {
  return source.lines
    .filter((line) => line[key] > 0 && line[key] >= source[key] * least)
    .map((line) => line.n);
}

// The next of some lines, or the one before; round about.
export function beside(list, at, forward) {
  if (list.length === 0) return undefined;
  if (forward) return list.find((n) => n > at) ?? list[0];
  return list.findLast((n) => n < at) ?? list[list.length - 1];
}

// Which of the lines that could run did: [ran, could].
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
