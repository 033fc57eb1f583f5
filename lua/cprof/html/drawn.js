// A call graph as a picture: functions as boxes, callers above their callees.

import { palette } from "./colors.js";
import { h } from "./dom.js";
import { count, percent, plural } from "./format.js";
import { fitted, labelOf } from "./labels.js";
import { box, layered, picked } from "./layers.js";
import { space } from "./picture.js";
import { calledBetween } from "./tree.js";

const most = 40;
const margin = 6;

function element(tag, attributes, ...children) {
  /** @type {any} */
  const e = document.createElementNS(space() || null, tag);
  for (const key of Object.keys(attributes)) {
    e.setAttribute(key, String(attributes[key]));
  }
  e.append(...children.filter((c) => c !== undefined));
  return e;
}

// A curve through these points, vertical at each.
function curve(points) {
  const [first, ...rest] = points;
  let d = `M${first.x},${first.y}`;
  let { x, y } = first;
  for (const to of rest) {
    const half = (to.y - y) / 2;
    d += `C${x},${y + half} ${to.x},${to.y - half} ${to.x},${to.y}`;
    ({ x, y } = to);
  }
  return d;
}

export class Drawn {
  /** @type {any} the places of boxes and lines, from layered() */
  places;
  /** @type {any[]} */
  edges = [];
  /** @type {number | undefined} the function with the largest total */
  first;
  /** @type {any} the box that was scrolled to */
  centred;
  /** @type {Set<number>} functions that call themselves */
  recursive = new Set();

  constructor(app) {
    this.app = app;
    this.paper = h("div.drawn");
    this.said = h("p.aside");
    this.element = h("div", this.said, this.paper);
  }

  draw() {
    const { app } = this;
    const { model, scope, chosen } = app;
    const { total } = scope;
    const all = calledBetween(scope.tree, model.functions.length);
    const own = (f) => model.functions[f].kind === "root";
    const totals = total.map((ns, f) => (own(f) ? 0 : ns));
    const between = all.filter((e) => !own(e.from) && e.from !== e.to);
    const shown = picked(between, totals, most, chosen?.id);
    const has = new Set(shown);
    [this.first] = shown;
    this.edges = between.filter((e) => has.has(e.from) && has.has(e.to));
    this.recursive = new Set(
      all.filter((e) => e.from === e.to).map((e) => e.from),
    );
    this.places = layered(shown, this.edges);
    const known = totals.filter((ns) => ns > 0).length;
    this.said.textContent =
      (chosen
        ? `${plural(shown.length, "function")} around ${chosen.name}, of `
        : `The ${plural(shown.length, "function")} with the largest totals, of `) +
      `${count(known)}. Callers are above their callees; a line is as wide as ` +
      "its share of the total, and dashed where it goes back up.";
    this.paint();
  }

  // The share of a figure, without its margin of error.
  share(n) {
    return percent(n, this.app.scope.whole);
  }

  paint() {
    const { app, places } = this;
    if (!places) return;
    const theme = palette(app.isDark());
    const focused = /** @type {any} */ (document.activeElement)?.dataset?.title;
    const { width, height } = places;
    const svg = element(
      "svg",
      {
        width: width + 2 * margin,
        height: height + 2 * margin,
        viewBox: `${-margin} ${-margin} ${width + 2 * margin} ${height + 2 * margin}`,
        role: "group",
        "aria-label":
          "Call graph. Arrow keys go to a caller, to a callee and to " +
          "functions beside; Enter chooses a function.",
      },
      ...places.lines.map((line) => this.line(line, theme)),
      ...places.rows.flat().map((f) => this.node(f, theme)),
    );
    this.paper.replaceChildren(svg);
    const { chosen } = app;
    const centre = places.at.get(chosen?.id ?? this.first);
    if (centre && this.centred !== centre) {
      this.paper.scrollLeft = centre.x - this.paper.clientWidth / 2;
      if (chosen) {
        this.paper.scrollTop = centre.y - this.paper.clientHeight / 2;
      }
    }
    this.centred = centre;
    if (focused) this.link(focused)?.focus({ preventScroll: true });
  }

  line({ edge, back, points }, theme) {
    const { app } = this;
    const { functions } = app.model;
    const part = edge.total / Math.max(app.scope.whole, 1);
    const ends = points.map(({ x, y }, i) => ({
      x,
      y:
        i === 0
          ? y + ((back ? -1 : 1) * box.height) / 2
          : i === points.length - 1
            ? y - ((back ? -1 : 1) * box.height) / 2
            : y,
    }));
    const n = app.model.sampled ? "" : `, ${plural(edge.calls, "call")}`;
    const what =
      `${functions[edge.from].name} calls ${functions[edge.to].name}: ` +
      `${app.figure(edge.total)} (${this.share(edge.total)} %)${n}`;
    return element(
      "path",
      {
        d: curve(ends),
        fill: "none",
        stroke: theme.dim,
        "stroke-width": (1 + 9 * Math.min(1, part)).toFixed(1),
        "stroke-opacity": "0.55",
        "stroke-dasharray": back ? "5 4" : "none",
      },
      element("title", {}, what),
    );
  }

  node(f, theme) {
    const { app, places } = this;
    const { scope, model, chosen } = app;
    const row = model.functions[f];
    const { x, y } = places.at.get(f);
    const left = x - box.width / 2;
    const top = y - box.height / 2;
    const hot = Math.sqrt(scope.self[f] / Math.max(scope.whole, 1));
    const told =
      `${this.share(scope.total[f])} %, self ${this.share(scope.self[f])} %` +
      (this.recursive.has(f) ? " ↺" : "");
    const text = (dy, size, what, color, weight) =>
      element(
        "text",
        { x: left + 8, y: top + dy, "font-size": size, fill: color, ...weight },
        what,
      );
    const link = element(
      "a",
      {
        href: app.link({ function: row.title, line: undefined }),
        "aria-label":
          `${row.title}: ${app.inWords(row).join(", ")}` +
          (this.recursive.has(f) ? ", calls itself" : ""),
        "aria-current": row === chosen ? "true" : "false",
      },
      element("title", {}, `${row.title}\n${app.inWords(row).join("\n")}`),
      element("rect", {
        x: left,
        y: top,
        width: box.width,
        height: box.height,
        rx: 4,
        fill: theme.heat(Math.min(1, hot)),
        stroke: row === chosen ? theme.mark : theme.dim,
        "stroke-width": row === chosen ? 3 : 1,
      }),
      text(16, "12", fitted(labelOf(row), 20), theme.text, { class: "name" }),
      text(32, "11", told, theme.text, {}),
    );
    link.dataset.title = row.title;
    return link;
  }

  link(title) {
    /** @type {any[]} */
    const links = [...this.paper.querySelectorAll("a")];
    return links.find((a) => a.dataset.title === title);
  }

  // Arrow keys go from node to node; true: the key was for the graph.
  key(event) {
    const { functions, byTitle } = this.app.model;
    const { rows, at } = this.places || {};
    if (!event.key.startsWith("Arrow") || !rows) return false;
    /** @type {any} */
    const active = document.activeElement;
    const inside = this.paper.contains(active);
    const f = inside ? byTitle.get(active.dataset.title)?.id : undefined;
    let to = this.app.chosen?.id ?? rows.flat()[0];
    if (f !== undefined) {
      const row = rows.find((list) => list.includes(f));
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const [own, other] =
        event.key === "ArrowUp" ? ["to", "from"] : ["from", "to"];
      const [edge] = this.edges
        .filter((e) => e[own] === f)
        .sort((a, b) => b.total - a.total);
      to = step ? row[row.indexOf(f) + step] : edge?.[other];
    }
    if (to === undefined || !at.has(to)) return true;
    const link = this.link(functions[to].title);
    link?.focus();
    link?.scrollIntoView({ block: "nearest", inline: "nearest" });
    return true;
  }
}
