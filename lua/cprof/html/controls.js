// The bar of a live page: the state of the program, and buttons.

import { button, h, refill } from "./dom.js";

// seconds that figures can be of
const windows = [5, 10, 30, 60, 300];

const rates = [0.2, 0.5, 1, 2, 5, 10, 30];

const states = {
  waiting: "waiting for a recording",
  running: "running",
  ended: "ended",
  killed: "killed",
};

const text = (seconds) =>
  seconds < 1
    ? `${seconds * 1000} ms`
    : seconds < 60
      ? `${seconds} s`
      : `${seconds / 60} min`;

// The seconds that a text names; undefined: all.
export const windowOf = (name) =>
  windows.find((seconds) => String(seconds) === name);

// does: pause(on), mark(on), window(seconds), reset(), run(), rate(seconds)
export class Controls {
  constructor(does, interval) {
    this.does = does;
    this.state = { lost: false, paused: false, marked: false };
    this.said = h("span.state", { role: "status" });
    this.buttons = h("span.buttons");
    this.rate = h(
      "select",
      {
        "aria-label": "Time between refreshes",
        onchange: () => does.rate(Number(this.rate.value)),
      },
      [...new Set([...rates, interval])]
        .sort((a, b) => a - b)
        .map((s) =>
          h("option", { value: s, selected: s === interval }, text(s)),
        ),
    );
    this.window = h(
      "select",
      {
        "aria-label": "Time that the figures are of",
        onchange: () => does.window(windowOf(this.window.value)),
      },
      h("option", { value: "" }, "of the whole recording"),
      windows.map((s) => h("option", { value: s }, `of the last ${text(s)}`)),
    );
    this.element = h(
      "div.live",
      { role: "toolbar", "aria-label": "Recording" },
      this.said,
      h("span.space"),
      h(
        "span.actions",
        this.buttons,
        h("label", "figures ", this.window),
        h("label", "every ", this.rate),
      ),
    );
  }

  // Updates the state with `change` and draws it.
  show(change) {
    Object.assign(this.state, change);
    const { recording, lost, paused, marked, window, known, unknown } =
      this.state;
    this.window.value = window ? String(window) : "";
    const begun = recording?.anew && recording.content?.meta.started_at;
    const status = recording?.status || { state: "waiting" };
    const kind = lost ? "lost" : paused ? "paused" : status.state;
    this.element.dataset.state = kind;
    const told = lost
      ? "the server does not answer"
      : status.text || states[status.state];
    refill(
      this.said,
      h("span.lamp", { "aria-hidden": "true" }),
      told,
      paused && ", paused here",
      begun &&
        h(
          "span.limit",
          `begun again at ${new Date(begun * 1000).toLocaleTimeString()}`,
        ),
      window &&
        h(
          "span.limit",
          `the last ${text(window)}` +
            (known < window ? `, ${Math.floor(known)} s so far` : ""),
        ),
      unknown &&
        h("span.limit", `${unknown} is not known here: all figures are shown`),
      marked && h("span.limit", "since the mark"),
      recording?.sinceReset && h("span.limit", "since the reset"),
    );
    this.draw(recording, status);
  }

  draw(recording, status) {
    const { does } = this;
    const { paused, marked } = this.state;
    const has = recording?.content !== undefined;
    const act = (key, label, title, action, more) =>
      button(label, action, { key, title, ...more });
    refill(
      this.buttons,
      act(
        "pause",
        paused ? "Resume" : "Pause",
        "Freeze the figures of this page; the program keeps running",
        () => does.pause(!paused),
        { "aria-pressed": String(paused) },
      ),
      act(
        "mark",
        marked ? "Since the start" : "From here",
        marked
          ? "Show figures since the start again"
          : "Show figures from now on, on this page only",
        () => does.mark(!marked),
        { disabled: !has, "aria-pressed": String(marked) },
      ),
      act(
        "reset",
        "Reset",
        "Restart all figures from 0, on all pages",
        () => does.reset(),
        { disabled: !has },
      ),
      recording?.runs &&
        act(
          "run",
          status.state === "running" ? "Restart" : "Run again",
          status.state === "running"
            ? "End the program and start it again"
            : "Start the program again",
          () => does.run(),
          { class: "run" },
        ),
    );
  }
}
