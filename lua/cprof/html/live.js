// The page of a recording that still grows. A server sends its changes.

import { Controls, windowOf } from "./controls.js";
import { fill, h } from "./dom.js";
import { Model } from "./model.js";
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

const address = (path, more) =>
  path + "?" + new URLSearchParams({ token, ...more }).toString();

// the seconds that figures are of; undefined: all
const wanted = () => windowOf(state.get().window);

// when the figures are of: a program that has ended does nothing any more
const now = () =>
  paused || recording.status?.state !== "running"
    ? recording.at
    : performance.now();

function show() {
  const window = wanted();
  if (window) marked = false;
  if (!marked) recording.window(window, now());
  const known = recording.known(now());
  controls.show({ recording, paused, marked, window, known });
  if (!recording.content) {
    if (!shell) waiting();
    return;
  }
  const { header, tree } = recording.page();
  if (shell) {
    model.load(header, tree);
    shell.refresh();
    return;
  }
  model = new Model(header, [tree]);
  shell = new Shell(app, model, controls.element);
  shell.start();
}

function waiting() {
  const what = h("p", { class: "loading" }, "Nothing has been recorded yet.");
  fill(app, h("header", { class: "head" }, controls.element), what);
}

function receive(event) {
  if (paused) return;
  const message = JSON.parse(event.data);
  if (message.from === 0) marked = false;
  // a message that does not follow the last one: ask for everything again
  if (!recording.apply(message, performance.now())) return connect(true);
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
      controls.show({ paused });
      connect(false);
    },
    mark(on) {
      marked = on;
      if (on) {
        state.set({ window: undefined }, true);
        recording.mark();
      } else recording.unmark();
      show();
    },
    window(seconds) {
      state.set({ window: seconds });
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

let shown = wanted();
state.listen(() => {
  if (wanted() === shown) return;
  shown = wanted();
  show();
});

// without news, what a window has gets less, too
setInterval(() => {
  const idle = performance.now() - recording.at > 1500 * interval;
  if (wanted() && idle && !paused && !document.hidden) show();
}, 1000);

document.addEventListener("visibilitychange", () => connect(false));
waiting();
connect(false);
