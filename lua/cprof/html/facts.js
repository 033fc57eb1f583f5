// What is known of the whole recording: its time and its parts, and figures.

import { bound } from "./bound.js";
import { factList, h } from "./dom.js";
import { bytes, count, percent, plural, precise } from "./format.js";
import { sure } from "./samples.js";

// The parts of the time, which add up to it, in the words of the text report:
// [part, its name, what it is, ns].
function parts({ model }) {
  const { meta, whole } = model;
  const { waiting_ns: waiting } = meta;
  const program =
    waiting === undefined
      ? [["program", "program", "Time of the program", whole]]
      : [
          [
            "program",
            "CPU",
            "Time in which the program computed",
            whole - waiting,
          ],
          ["waiting", "waiting", "The program slept, read or polled", waiting],
        ];
  return [
    ...program,
    [
      "preempted",
      "preempted",
      "Other programs had the processor; excluded from all other figures",
      meta.preempted_ns,
    ],
    [
      "overhead",
      "profiler overhead",
      "What recording took; excluded from all other figures",
      meta.overhead_ns,
    ],
    ["paused", "paused", "Not recorded", meta.paused_ns],
  ].filter(([, , , ns]) => ns > 0);
}

// The time as a bar of its parts, with their names and figures.
export function times(app) {
  const { model } = app;
  const { meta } = model;
  const list = parts(app);
  const all = list.reduce((sum, [, , , ns]) => sum + ns, 0);
  const share = (ns) => (100 * ns) / Math.max(all, 1);
  // where most of what was measured is overhead, only a bound is known
  const figure = (part, ns) => {
    const cost = part === "program" ? meta.overhead_ns : 0;
    const most = bound(ns, ns + cost);
    return (most > ns ? "<" : "") + app.time(most);
  };
  return h(
    "section.times",
    { "aria-label": "Time" },
    h(
      "h2",
      h("strong", app.time(meta.wall_ns)),
      meta.clock === "cpu" ? " CPU time" : " wall time",
    ),
    h(
      "div.stack",
      { "aria-hidden": "true" },
      list.map(([part, , , ns]) =>
        h("span", {
          class: part,
          style: { width: `${share(ns).toFixed(3)}%` },
        }),
      ),
    ),
    h(
      "ul",
      list.map(([part, title, hint, ns]) =>
        h(
          "li",
          { title: hint },
          h("span", { class: `swatch ${part}`, "aria-hidden": "true" }),
          title,
          h("strong", figure(part, ns)),
          h("span.percent", `${percent(ns, all)} %`),
        ),
      ),
      h(
        "li.aside",
        `shares below are of the program's ${app.time(model.whole)}`,
      ),
    ),
  );
}

function sampling(model, scope, put) {
  const { n, rate, asked, least } = model.samples;
  put("samples", count(model.sampled ? scope.counted : n));
  if (rate !== undefined) {
    put(
      "samples a second",
      count(rate),
      asked && `${count(asked)} a second were requested`,
    );
  }
  put(
    "smallest share",
    `${precise(least)} %`,
    "Functions with a smaller share of the time may be missing",
  );
}

function memory({ model }, put) {
  const { memory: m } = model;
  const kinds = m.kinds.map(([kind, n]) => `${kind} ${bytes(n)}`).join(", ");
  const told = m.samples
    ? `estimated from ${plural(m.samples, "sample")}, at least one per ${bytes(m.interval)}`
    : "";
  put("allocated", bytes(m.bytes), [kinds, told].filter(Boolean).join("; "));
  put("allocations", count(m.allocs), told || undefined);
  if (m.live === undefined) return;
  const each =
    m.live_interval > 1
      ? `, estimated from one sample per ${bytes(m.live_interval)}`
      : "";
  const sized = (n) => bytes(n) + sure(n, m.live_interval);
  const garbage =
    m.garbage > 0 ? `, not counting about ${bytes(m.garbage)} of garbage` : "";
  put("in use", sized(m.live), `${plural(m.blocks, "block")}${garbage}${each}`);
  put("at the peak", sized(m.peak), `Most memory in use at one time${each}`);
}

function collector({ time, model }, put) {
  const { ns, steps, cycles, longest } = model.header.collector;
  const share = percent(ns, model.whole);
  put("collector", `${share} %`, `${time(ns)} in the garbage collector`);
  put("collections", count(cycles), plural(steps, "step"));
  // the longest step is not known of a part of the recording
  if (longest === undefined) return;
  put("longest step", time(longest), "Longest garbage collector step");
}

// Figures of what was recorded.
export function facts(app) {
  const { model, scope } = app;
  const { meta } = model;
  const out = [];
  const put = (...fact) => out.push(fact);
  if (model.foreign || model.unit !== "ns") {
    const { whole } = model.scope({ ...app.state, measure: undefined });
    put(model.title.toLowerCase(), app.time(whole));
  }
  if (!model.sampled) put("calls", count(scope.counted));
  if (model.samples) sampling(model, scope, put);
  const ran = model.functions.filter(
    (f) =>
      f.kind !== "root" &&
      f.kind !== "internal" &&
      (scope.calls[f.id] > 0 || scope.total[f.id] > 0),
  );
  put("functions", count(ran.length));
  if (model.memory) memory(app, put);
  if (model.header.collector) collector(app, put);
  if (meta.runs) put("runs", count(meta.runs));
  return factList(out);
}

// Why a view has no call tree.
export const notKept =
  "The call tree of this frame was not kept. " +
  'To keep it, record with history = "full".';

// Why a page of what was recorded under labels has no lines.
export const allLabels =
  "Lines are recorded for all labels together, not for each one.";

// What another tool's file lacks: the beginning of a sentence.
export const lacks = ({ foreign }) => `This file (${foreign.format}) has no`;

// How and when it was recorded.
export function made({ model, scope }) {
  const { meta, foreign } = model;
  const nodes = () => plural(scope.tree.n, "call-tree node");
  if (foreign) {
    return h("p.aside.made", `${foreign.format} · ${nodes()}`);
  }
  const out = [`mode ${meta.mode}`];
  if (model.unit === "ns") out.push(`clock ${meta.clock}`);
  if (scope.tree) out.push(nodes());
  out.push(meta.lua_version, `cprof ${meta.cprof_version}`);
  if (meta.started_at > 0) {
    const at = new Date(meta.started_at * 1000);
    const pad = (n) => String(n).padStart(2, "0");
    out.push(
      `recorded ${at.getFullYear()}-${pad(at.getMonth() + 1)}-` +
        `${pad(at.getDate())} ${pad(at.getHours())}:${pad(at.getMinutes())}`,
    );
  }
  return h("p.aside.made", out.join(" · "));
}
