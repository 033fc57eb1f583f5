// Folded stacks: a line such as "main;work 12" for each stack, as many tools
// write them and flamegraph.pl reads them. Luau's are "12 file,work,3;file,,":
// microseconds first, and callees before their callers.

import { Stacks } from "./stacks.js";

// The frames of a line, callers first, and its figure; undefined: not a stack.
function usual(line) {
  const at = line.lastIndexOf(" ");
  const text = line.slice(at + 1);
  if (at < 1 || !/^\d+(\.\d+)?$/.test(text)) return undefined;
  return { frames: line.slice(0, at).trimEnd().split(";"), n: Number(text) };
}

function luau(line) {
  const [, text, stack] = line.match(/^(\d+) (.*,.*)$/) || [];
  const frames = stack?.split(";").reverse();
  if (!frames?.every((frame) => /,[^,]*,\d*$/.test(frame))) return undefined;
  return { frames, n: Number(text) };
}

// The number of Luau's "file,name,line".
function ofLuau(stacks, frame) {
  const [, place, name, line] = frame.match(/^(.*),([^,]*),(\d*)$/);
  if (place === "GC") return stacks.add({ name: "(garbage collector)" });
  if (place === "[C]") return stacks.add({ name: name || "?", kind: "C" });
  const known = name || (line ? `<fn:${line}>` : place);
  return stacks.add({ name: known, place, line: Number(line) || 1 });
}

/**
 * Reads folded stacks; fails with a message.
 * @param {string} text
 */
export function folded(text) {
  const lines = text.split(/\r?\n/);
  const first = lines.find((line) => line.trim() !== "") || "";
  const reads = luau(first) ? luau : usual;
  const stacks = new Stacks(1);
  let good = 0;
  const bad = [];
  lines.forEach((line, i) => {
    if (line.trim() === "" || line.startsWith("#")) return;
    const row = reads(line);
    if (!row) return bad.push(i + 1);
    good++;
    let node = 0;
    for (const frame of row.frames) {
      const f =
        reads === luau
          ? ofLuau(stacks, frame)
          : // cprof writes a ";" within a name like this
            stacks.called(frame.replaceAll("\\059", ";") || '""');
      node = stacks.child(node, f);
    }
    stacks.count(node, 0, row.n);
  });
  if (bad.length >= Math.max(good, 1)) {
    const shown = lines[bad[0] - 1].slice(0, 60);
    throw new Error(
      `its line ${bad[0]}, '${shown}', is not a stack such as 'main;work 12'`,
    );
  }
  if (good === 0) throw new Error("it has no stacks");
  const left =
    bad.length === 1
      ? "1 line is not a stack and was left out"
      : `${bad.length} lines are not stacks and were left out`;
  return {
    format: reads === luau ? "folded stacks of Luau" : "folded stacks",
    stacks,
    types: [{ title: "Samples", unit: reads === luau ? "µs" : "samples" }],
    main: 0,
    // the file does not tell what its figures are
    units: ["samples", "ns", "µs", "ms", "bytes"],
    notes: bad.length > 0 ? [`${left}; the first is line ${bad[0]}`] : [],
  };
}
