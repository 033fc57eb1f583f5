// Tasks by samples of a range of time: how long coroutines ran in it, and their
// longest times, found as src/profile/streaks.c finds them.

// how many of the longest times are shown: of each task, and of all
const [few, most] = [10, 50];

// The nodes with which coroutines begin: of each node, its task, or -1, and the
// nearest one, itself or above, that counts, or 0.
function bodiesOf({ list, bodies }, { n, func, parent }) {
  const task = new Int32Array(n).fill(-1);
  bodies.node.forEach((i, at) => {
    // small nodes were added up, with those of other functions
    if (func[i] === list[bodies.task[at]].f) task[i] = bodies.task[at];
  });
  const within = new Int32Array(n);
  for (let i = 1; i < n; i++) {
    const outer = within[parent[i]];
    const again = outer > 0 && func[outer] === func[i];
    within[i] = task[i] >= 0 && !again ? i : outer;
  }
  return { task, within };
}

// The lowest node that has both below it. A caller's index is lower.
function common({ parent }, a, b) {
  while (a !== b) {
    if (a > b) a = parent[a];
    else b = parent[b];
  }
  return a;
}

// Does this sample stand for a wait that only the next sample has found? Both
// then end at one time.
function isLate({ n, place, end }, i) {
  if (!(place[i] & 1)) return false;
  let next = i + 1;
  while (next < n && place[next] < 2) next++;
  return next < n && end[next] <= end[i];
}

// All streaks of a range: body, node, from, to, most, samples.
function streaksOf(moments, tree, { within }, [from, to]) {
  const { axis, n, place, node, start, end, ns, samples } = moments;
  const clip = (at) => Math.min(Math.max(at, from), to);
  const open = new Map();
  const out = [];
  let [at, lost, last] = [axis.begins, 0, axis.mean];
  const close = (body, streak, when) => {
    open.delete(body);
    streak.to = clip(when);
    const took = streak.to - streak.from - (lost - streak.lost);
    streak.most = Math.max(Math.trunc(took), 0);
    out.push(streak);
  };
  const add = (i, begun) => {
    const found = node[(place[i] >> 1) - 1];
    for (let b = within[found]; b > 0; b = within[tree.parent[b]]) {
      let streak = open.get(b);
      if (!streak) {
        streak = { body: b, node: found, from: clip(begun), lost, samples: 0 };
        open.set(b, streak);
      }
      streak.node = common(tree, streak.node, found);
      streak.samples += samples[i];
      streak.last = i;
    }
  };
  for (let i = 0; i < n; i++) {
    if (place[i] < 2) {
      const next = Math.min(at + ns[i], end[i]);
      if (next > at) {
        lost += clip(next) - clip(at);
        at = next;
      }
      continue;
    }
    const late = isLate(moments, i);
    if (end[i] > from) {
      const above = Math.max(ns[i] - axis.mean, 0);
      const when = late ? at + last : end[i] - above;
      const found = Math.min(Math.max(when, at), end[i]);
      const begun = last === 0 && !late ? Math.max(at, start[i]) : at;
      if (start[i] < to) add(i, begun);
      for (const [body, streak] of open) {
        if (streak.last !== i) close(body, streak, found);
      }
    }
    const next = late ? Math.min(at + ns[i], end[i]) : end[i];
    last = late ? 0 : ns[i];
    at = Math.max(at, next);
  }
  for (const [body, streak] of open) close(body, streak, to);
  return out;
}

// The functions from that of the coroutine down to a node.
function pathOf({ func, parent }, { task }, node) {
  const out = [func[node]];
  while (task[node] < 0) {
    node = parent[node];
    out.unshift(func[node]);
  }
  return out;
}

// The longest streaks, of each task and path the longest.
function longest(all, tree, bodies) {
  const [counts, seen] = [new Map(), new Set()];
  all.sort((a, b) => b.most - a.most || a.from - b.from);
  return all
    .filter(({ body, node, most: ns }) => {
      const task = bodies.task[body];
      counts.set(task, (counts.get(task) || 0) + 1);
      const key = `${task} ${node}`;
      if (counts.get(task) > few || ns <= 0 || seen.has(key)) return false;
      seen.add(key);
      return true;
    })
    .slice(0, most)
    .map(({ body, node, ...row }) => ({
      ...row,
      samples: Math.max(row.samples, 1),
      task: bodies.task[body],
      known: true,
      path: pathOf(tree, bodies, node),
    }));
}

/**
 * The tasks of a range, as the data of a page have them; undefined: the page
 * does not know which nodes are theirs. own: see Moments.ofNodes.
 */
export function tasksOf({ tasks }, tree, moments, own, range) {
  if (!tasks?.bodies) return undefined;
  const bodies = bodiesOf(tasks, tree);
  const sums = tasks.list.map(() => ({ running: 0, waiting: 0, samples: 0 }));
  const of = bodies.task.slice();
  for (let i = 1; i < tree.n; i++) {
    if (of[i] < 0) of[i] = of[tree.parent[i]];
    const task = sums[of[i]];
    if (!task) continue;
    task.running += own.self[i];
    task.waiting += own.wait[i];
    task.samples += own.samples[i];
  }
  const order = sums.map((_, i) => i).filter((i) => sums[i].running > 0);
  order.sort((a, b) => sums[b].running - sums[a].running || a - b);
  const place = new Map(order.map((i, at) => [i, at]));
  const slices = longest(
    streaksOf(moments, tree, bodies, range),
    tree,
    bodies,
  ).map((row) => ({ ...row, task: place.get(row.task) }));
  const list = order.map((i, at) => ({
    ...tasks.list[i],
    ...sums[i],
    share: undefined,
    most: slices.find(({ task }) => task === at)?.most,
  }));
  const known = slices.filter(({ task }) => task !== undefined);
  return { ...tasks, list, slices: known, bodies: undefined };
}
