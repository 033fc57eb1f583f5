// A small picture of all of a graph, with a frame around what the graph shows.
// Dragging the frame moves the graph; dragging elsewhere zooms to that part.

import { h, sized } from "./dom.js";
import { visible } from "./tree.js";

const most = 40;
const rowHeight = 3;
const edge = 4;

export class Overmap {
  /** @type {any} the picture, and what it was drawn of */
  drawn;
  /** @type {any} the range that is being chosen */
  chosen;
  height = 0;

  // hidden from screen readers: keys of the graph reach all that it shows
  constructor(graph) {
    this.graph = graph;
    this.canvas = h("canvas.overmap", { "aria-hidden": "true" });
    this.listen();
  }

  // All of the graph, without the frame.
  picture() {
    const { graph, height } = this;
    const { layout, theme, width, rows, options } = graph;
    const colors = options.color ? 0 : graph.app.state.color;
    const of = [layout, theme, graph.wanted, width, devicePixelRatio, colors];
    if (this.drawn?.of.every((x, i) => x === of[i])) return this.drawn.canvas;
    const canvas = h("canvas");
    const c = sized(canvas, width, height);
    const whole = layout.weight[0] || 1;
    const scale = width / whole;
    const row = height / rows;
    const box = (depth, x, w) => {
      const y = options.up ? height - (depth + 1) * row : depth * row;
      c.fillRect(x * scale, y, Math.max(0.5, w * scale), Math.max(0.5, row));
    };
    visible(
      layout,
      0,
      whole,
      1 / scale,
      rows,
      (node, depth, x, w) => {
        const seen = !graph.wanted || graph.wanted[layout.tree.func[node]];
        c.fillStyle = seen ? graph.color(node) : theme.pale;
        box(depth, x, w);
      },
      (depth, x, w) => {
        c.fillStyle = theme.rest;
        box(depth, x, w);
      },
    );
    this.drawn = { of, canvas };
    return canvas;
  }

  // Draws it when the graph was drawn.
  draw() {
    const { graph, canvas } = this;
    const { layout, theme, width, rows } = graph;
    this.height = Math.max(12, Math.min(most, rows * rowHeight));
    canvas.style.setProperty("height", this.height + "px");
    const c = sized(canvas, width, this.height);
    c.drawImage(this.picture(), 0, 0, width, this.height);
    const whole = layout.weight[0] || 1;
    const [from, to] = this.chosen || [graph.x0, graph.x1];
    const left = (from / whole) * width;
    const right = (to / whole) * width;
    c.fillStyle = theme.edge;
    c.globalAlpha = 0.6;
    c.fillRect(0, 0, left, this.height);
    c.fillRect(right, 0, width - right, this.height);
    c.globalAlpha = 1;
    c.strokeStyle = theme.mark;
    c.lineWidth = 2;
    const span = Math.max(2, right - left - 2);
    c.strokeRect(left + 1, 1, span, this.height - 2);
  }

  listen() {
    const { canvas, graph } = this;
    // where dragging began, and what the graph showed then
    let begun;
    const at = (event) =>
      Math.max(0, Math.min(1, event.offsetX / graph.width)) *
      graph.layout.weight[0];
    const inside = (x) => {
      const part = (edge / graph.width) * graph.layout.weight[0];
      const all = graph.x1 - graph.x0 > graph.layout.weight[0] * 0.999;
      return !all && x >= graph.x0 - part && x <= graph.x1 + part;
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      const x = at(event);
      begun = { x, moves: inside(x), x0: graph.x0, x1: graph.x1 };
      event.preventDefault();
    });
    canvas.addEventListener("pointermove", (event) => {
      const x = at(event);
      if (!begun) {
        canvas.style.setProperty("cursor", inside(x) ? "grab" : "crosshair");
      } else if (begun.moves) {
        const by = x - begun.x;
        graph.move(begun.x0 + by, begun.x1 + by, true);
        graph.options.user?.(true);
      } else {
        this.chosen = [Math.min(x, begun.x), Math.max(x, begun.x)];
        this.draw();
      }
    });
    const ended = (event) => {
      if (!begun) return;
      const { moves } = begun;
      const [x0, x1] = this.chosen || [0, 0];
      begun = this.chosen = undefined;
      if (moves) return;
      const least = (edge / graph.width) * graph.layout.weight[0];
      if (x1 - x0 > least) graph.move(x0, x1, true);
      else {
        // a click: that place in the middle
        const half = (graph.x1 - graph.x0) / 2;
        graph.move(at(event) - half, at(event) + half, true);
      }
      graph.options.user?.(true);
    };
    canvas.addEventListener("pointerup", ended);
    canvas.addEventListener("pointercancel", () => {
      begun = this.chosen = undefined;
      this.draw();
    });
  }
}
