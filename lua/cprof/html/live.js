// The page of a recording that still grows. A server sends its changes.

import { Controls, windowOf } from "./controls.js";
import { fill, h } from "./dom.js";
import { Model } from "./model.js";
import { Past, rounded } from "./past.js";
import { named, parsed, written } from "./ranged.js";
import { Recording } from "./recording.js";
import { Shell } from "./shell.js";
import * as state from "./state.js";

/** @type {any} */
const app = document.getElementById("app");
const token = new URLSearchParams(location.search).get("token") || "";
const recording = new Recording();

let interval = Number(app.dataset.interval) || 1;
let events;
let paused = false;
let marked = false;
let model;
let shell;
// the text of the range whose figures are shown; undefined: none is
let chosen;

const address = (path, more) =>
  path + "?" + new URLSearchParams({ token, ...more }).toString();

// the last seconds that figures are limited to; undefined: no limit
const wanted = () => windowOf(state.get().window);

// ms since 1970, which no change of the system's clock disturbs
const clock = () => performance.timeOrigin + performance.now();

// the time up to which the figures go: when the program has ended, its end
const now = () =>
  paused || recording.status?.state !== "running" ? recording.at : clock();

// The range of time that the address names, in ns; undefined: none.
function asked() {
  if (!recording.content) return undefined;
  const { range = "" } = state.get();
  return parsed(range, { begins: 0, wall: recording.ns });
}

// Decides which part of the recording is shown: a range, the last seconds, what
// came since the mark, or all. Returns the range if it is not known.
function choosePart() {
  const window = wanted();
  const { range: text } = state.get();
  const range = asked();
  if (range || window) marked = false;
  // figures of a range that was chosen stay, also when its looks are joined
  if (range && text === chosen && recording.ended) return undefined;
  chosen = undefined;
  if (range && recording.range(range)) {
    chosen = text;
    return undefined;
  }
  if (!marked) recording.window(range ? undefined : window, now());
  return range;
}

function show() {
  const unknown = choosePart();
  const window = wanted();
  const known = recording.known(now());
  controls.show({
    ...{ recording, paused, marked, window, known },
    unknown: unknown && named(unknown),
  });
  if (!recording.content) {
    if (!shell) waiting();
    return;
  }
  const { header, tree } = recording.page();
  if (shell) model.load(header, tree);
  else model = new Model(header, [tree]);
  model.range = recording.shown && rounded(recording.shown);
  const times = header.meta.waiting_ns === undefined ? "program" : "CPU";
  const what = header.unit === "ns" ? times : "instructions";
  past.show(recording.looks(), recording.shown, what);
  if (shell) return shell.refresh();
  shell = new Shell(app, model, controls.element, past.element);
  shell.start();
}

function waiting() {
  const what = h("p.loading", "Nothing has been recorded yet.");
  fill(app, h("header.head", controls.element), what);
}

function receive(event) {
  if (paused) return;
  const message = JSON.parse(event.data);
  if (message.from === 0) {
    marked = false;
    // ranges of the previous recording do not apply to the new one
    if (recording.content) state.set({ range: undefined }, true);
  }
  // a message that does not follow the last one: ask for everything again
  if (!recording.apply(message, clock())) return connect(true);
  controls.show({ lost: false });
  show();
}

// Asks the server for changes from now on; all: for everything first.
function connect(all) {
  events?.close();
  // Browsers allow few connections to a server for all of their pages, so
  // hidden pages have none.
  if (paused || document.hidden) return;
  const since =
    !all && recording.epoch
      ? { since: `${recording.epoch}-${recording.version}` }
      : {};
  const source = new EventSource(address("events", { interval, ...since }));
  events = source;
  source.onopen = () => controls.show({ lost: false });
  source.onmessage = receive;
  source.onerror = () => {
    controls.show({ lost: true });
    // the browser gives up, but a new server may start later
    if (source.readyState === EventSource.CLOSED) {
      setTimeout(() => events === source && connect(false), 2000);
    }
  };
}

async function post(path) {
  try {
    const answer = await fetch(address(path), { method: "POST" });
    if (!answer.ok) throw new Error(await answer.text());
  } catch {
    controls.show({ lost: true });
  }
}

const controls = new Controls(
  {
    pause(on) {
      paused = on;
      connect(false);
      // if paused, the last seconds are counted from the last message; if not,
      // from now
      show();
    },
    mark(on) {
      marked = on;
      if (on) {
        state.set({ window: undefined, range: undefined }, true);
        recording.mark();
      } else recording.unmark();
      show();
    },
    window(seconds) {
      state.set({ window: seconds, range: undefined });
    },
    reset: () => post("reset"),
    run: () => post("run"),
    rate(seconds) {
      interval = seconds;
      connect(false);
    },
  },
  interval,
);

const past = new Past({
  choose(range) {
    const text = range && written(range, { begins: -1, wall: Infinity });
    state.set({ range: text, window: undefined });
  },
  say: (text) => shell?.say(text),
});

const part = () => [wanted(), state.get().range].join();
let shown = part();
state.listen(() => {
  if (part() === shown) return;
  shown = part();
  show();
});

// the last seconds move on even if no message comes, so figures get smaller
setInterval(() => {
  const idle = clock() - recording.at > 1500 * interval;
  if (wanted() && idle && !paused && !document.hidden) show();
}, 1000);

document.addEventListener("visibilitychange", () => connect(false));
waiting();
connect(false);
