// V8's .cpuprofile: nodes of a call tree, and samples of them with the time
// from one to the next.

import { Stacks } from "./stacks.js";

const numbers = (list) => list.every((n) => Number.isFinite(n));

// The ns from each sample to the next one: [sample, ns]. Samples may be out of
// order.
function spans({ samples, timeDeltas, startTime, endTime }) {
  const ns = timeDeltas.map((us) => Math.round(1000 * us));
  let sum = 0;
  const at = ns.map((delta) => (sum += delta));
  const order = at.map((_, i) => i);
  if (ns.some((delta) => delta < 0)) order.sort((a, b) => at[a] - at[b]);
  const end = Math.round(1000 * (endTime - startTime)) || 0;
  return order.map((i, k) => {
    const next = k + 1 < order.length ? at[order[k + 1]] : end;
    return [samples[i], next - at[i]];
  });
}

const decoded = (path) => {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
};

// The number of a node's function.
function functionOf(stacks, { functionName, url, lineNumber }) {
  const name = functionName ? String(functionName) : "(anonymous)";
  const place = String(url || "");
  return stacks.add({
    name,
    place: place.startsWith("file://") ? decoded(place.slice(7)) : place,
    line: Number(lineNumber) + 1 || 0,
  });
}

/**
 * Reads a .cpuprofile; fails with a message.
 * @param {string} text
 */
export function cpuprofile(text) {
  let data;
  try {
    data = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`it is damaged JSON: ${why}`);
  }
  const { nodes, samples, timeDeltas } = data;
  if (!Array.isArray(nodes) || !nodes[0]?.callFrame) {
    throw new Error(
      "it is JSON, but not a .cpuprofile: it lacks 'nodes' with 'callFrame'",
    );
  }
  const timed = Array.isArray(samples) && Array.isArray(timeDeltas);
  if (timed && (samples.length !== timeDeltas.length || !numbers(timeDeltas))) {
    throw new Error("its 'samples' and 'timeDeltas' do not go together");
  }
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const above = new Map();
  for (const node of nodes) {
    if (node.parent !== undefined) above.set(node.id, node.parent);
    for (const child of node.children || []) above.set(child, node.id);
  }
  const stacks = new Stacks(1);
  const made = new Map();
  // the node of the tree for one of the file
  const find = (id) => {
    const path = [];
    for (let at = id; !made.has(at); at = above.get(at)) {
      if (!byId.has(at)) throw new Error(`it has no node ${at}`);
      // the number of nodes is more than any path has
      if (path.push(at) > nodes.length) {
        throw new Error(`its node ${at} is below itself`);
      }
      if (!above.has(at)) break;
    }
    let node = made.get(above.get(path.at(-1))) ?? 0;
    for (const one of path.reverse()) {
      node = stacks.child(node, functionOf(stacks, byId.get(one).callFrame));
      made.set(one, node);
    }
    return made.get(id);
  };
  if (timed) {
    for (const [id, ns] of spans(data)) stacks.count(find(id), 0, ns);
  } else {
    const hits = Array.isArray(samples)
      ? samples.map((id) => [id, 1])
      : nodes.map(({ id, hitCount }) => [id, Number(hitCount) || 0]);
    for (const [id, n] of hits) stacks.count(find(id), 0, n);
  }
  return {
    format: ".cpuprofile",
    stacks,
    types: [
      timed
        ? { title: "Time", unit: "ns" }
        : { title: "Samples", unit: "samples" },
    ],
    main: 0,
    notes: [],
  };
}
