// Stretches of time that stand out, as views tell them: those that have the
// same cause together.

import { h } from "./dom.js";
import { time } from "./format.js";
import { named, written } from "./ranged.js";

// moments of a cause that are links
const shown = 4;

// preempted time is shown if it has at least this share
export const notable = 0.01;

// The causes of what stands out, the most unusual one first. Each has its
// function, if there is one; its moments as [from, to], in order of time; its
// share of these moments, its usual share, and the shares of CPU time and of
// time in which others had the processor.
export function causes({ functions, header: { axis } }) {
  const out = new Map();
  for (const row of axis.stretches) {
    const [from, to, cpu, f, part, usual, lost] = row;
    const key = f < 0 ? row : f;
    const none = { ns: 0, cpu: 0, lost: 0, part: 0 };
    const cause = out.get(key) || { moments: [], ...none };
    out.set(key, cause);
    const ns = cause.ns + to - from;
    const mean = (old, now) => (old * cause.ns + now * (to - from)) / ns;
    cause.cpu = mean(cause.cpu, cpu);
    cause.lost = mean(cause.lost, lost);
    cause.part = mean(cause.part, part);
    cause.ns = ns;
    cause.usual = usual;
    cause.f = functions[f];
    cause.moments.push([from, to]);
  }
  const list = [...out.values()];
  for (const { moments } of list) moments.sort(([a], [b]) => a - b);
  return list;
}

// How long the moments of a cause are.
export function length({ moments }) {
  const list = moments.map(([from, to]) => to - from);
  const [least, most] = [Math.min(...list), Math.max(...list)];
  if (list.length === 1) return time(most);
  if (most > 1.5 * least) return `${time(least)} to ${time(most)}`;
  return `about ${time(list.reduce((sum, ns) => sum + ns, 0) / list.length)}`;
}

// The first moments of a cause, as links to the heatmap.
export function links(app, { f, moments }) {
  const { axis } = app.all.header;
  const link = (text, change, more) =>
    h(
      "a",
      {
        href: app.link({ view: "heatmap", line: undefined, ...change }),
        onclick: (event) => event.stopPropagation(),
        ...more,
      },
      text,
    );
  const out = moments.slice(0, shown).flatMap((moment, i) => {
    const range = written(moment, axis);
    const current = app.state.range === range ? "true" : null;
    const change = { range, function: f?.title };
    const it = link(named(moment), change, { "aria-current": current });
    return i > 0 ? [", ", it] : [it];
  });
  const rest = moments.length - shown;
  if (rest <= 0) return out;
  const title = "Show in the heatmap when it ran";
  return [...out, ", ", link(`${rest} more`, { search: f.name }, { title })];
}
