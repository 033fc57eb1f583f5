// A flame graph on a canvas. It draws only visible nodes, however many nodes
// there are.

import { byFile, byHeat, palette } from "./colors.js";
import { h, sized } from "./dom.js";
import { plural } from "./format.js";
import { fitted, labelOf } from "./labels.js";
import { childAt, visible } from "./tree.js";

const rowHeight = 19;
const font = "11.5px ui-monospace, 'DejaVu Sans Mono', Menlo, monospace";
const still = matchMedia("(prefers-reduced-motion: reduce)");

// pixels below which a node is not drawn on its own
const narrow = 0.8;

export class Icicle {
  /** @type {any} what is drawn, see layout() in tree.js */
  layout;
  /** @type {any} colours; undefined: paint() looks them up */
  theme;
  /** @type {any} the pending requestAnimationFrame of draw() */
  waiting;
  /** @type {any} of the canvas */
  context;
  /** @type {any} an animation */
  moving;
  /** The node that fills the width. */
  base = 0;
  x0 = 0;
  x1 = 1;
  /** What is shown, from and to, when animations have ended. */
  goal = [0, 1];
  rows = 1;
  width = 0;
  height = 0;
  letter = 1;
  /** @type {number | undefined} where the pointer is; undefined: not here */
  px;
  /** Is zooming a part of choosing a node? */
  picking = false;
  /** @type {any} draws it again with new figures, if its owner sets it */
  refigure;

  // options: label; up: the root is at the bottom; height(): the height at
  // most; fit: no higher than the rows from the first that is seen; low: no
  // higher than its rows;
  // least: rows without a node of this share need no height;
  // color(theme): a function from node to colour; detail(node): more lines
  // for the tip; name(node): its label; still: no zooming; choose(node),
  // zoomed(node), painted(icicle): called after these events; user(moved):
  // called after the user zoomed, or moved the graph
  constructor(app, options) {
    this.app = app;
    this.options = options;
    this.scroll = 0;
    this.hover = -1;
    this.cursor = 0;
    this.canvas = h("canvas.icicle", {
      tabindex: "0",
      role: "img",
      "aria-label": options.label,
    });
    this.tip = h("div.tip", { role: "tooltip", hidden: true });
    this.element = h("div.iciclebox", this.canvas, this.tip);
    this.listen();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.element);
  }

  close() {
    this.observer.disconnect();
    cancelAnimationFrame(this.waiting);
  }

  show(layout) {
    this.base = 0;
    this.x0 = 0;
    this.x1 = layout.weight[0] || 1;
    this.goal = [this.x0, this.x1];
    this.scroll = 0;
    this.cursor = 0;
    this.hover = -1;
    this.take(layout);
  }

  // Shows new figures; keeps zoom, cursor and scroll position.
  refresh(layout) {
    if (!this.layout) return this.show(layout);
    const { layout: old, x0, x1 } = this;
    const [base, cursor] = [this.base, this.cursor].map((node) =>
      this.again(node, layout),
    );
    const hover = this.hover < 0 ? -1 : this.again(this.hover, layout);
    const unit = old.weight[this.base];
    const part = (x) => (unit > 0 ? (x - old.start[this.base]) / unit : 0);
    const same = base >= 0 && unit > 0 && layout.weight[base] > 0;
    this.base = same ? base : 0;
    const to = (p) => layout.start[base] + p * layout.weight[base];
    this.x0 = same ? to(part(x0)) : 0;
    this.x1 = same ? to(part(x1)) : layout.weight[0] || 1;
    this.goal = [this.x0, this.x1];
    this.cursor = Math.max(0, cursor);
    this.hover = -1;
    cancelAnimationFrame(this.moving);
    this.take(layout);
    this.hover = hover;
    if (hover >= 0 && !this.tip.hidden) this.tell(hover);
  }

  // Finds a node of the old layout in a new one by its path; -1: not there.
  again(node, layout) {
    const { tree } = this.layout;
    const path = [];
    for (let i = node; i > 0; i = tree.parent[i]) path.push(tree.func[i]);
    const names = this.app.model.functions;
    let at = 0;
    while (path.length > 0 && at >= 0) {
      const { title } = this.functions[path.pop()];
      let next = -1;
      for (let c = layout.first[at]; c < layout.first[at + 1]; c++) {
        if (names[layout.tree.func[layout.child[c]]].title === title) {
          next = layout.child[c];
          break;
        }
      }
      at = next;
    }
    return at;
  }

  take(layout) {
    this.layout = layout;
    this.functions = this.app.model.functions;
    this.theme = undefined;
    const depth = layout.tree.depths();
    const least = (this.options.least || 0) * layout.weight[0];
    let deepest = 0;
    for (let i = 0; i < depth.length; i++) {
      if (depth[i] > deepest && layout.weight[i] >= least) deepest = depth[i];
    }
    this.rows = deepest + 1;
    this.resize();
  }

  // Makes nodes of these functions stand out; undefined: all.
  highlight(wanted) {
    this.wanted = wanted;
    this.draw();
  }

  resize() {
    const { options } = this;
    const width = this.element.clientWidth;
    if (width === 0 || !this.layout) return;
    const needed =
      Math.max(3, this.rows) * rowHeight - (options.fit ? this.scroll : 0);
    const height = Math.min(
      options.height?.() ?? 400,
      Math.max(needed, options.fit || options.low ? 0 : 120),
    );
    this.width = width;
    this.height = height;
    this.canvas.style.setProperty("height", height + "px");
    this.context = sized(this.canvas, width, height);
    this.theme = undefined;
    this.draw();
  }

  draw() {
    if (this.waiting || !this.layout) return;
    // printing does not wait for animation frames
    if (this.app.printing) return this.paint();
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.paint();
    });
  }

  dress() {
    const { app } = this;
    this.theme = palette(app.isDark());
    if (this.options.color) this.color = this.options.color(this.theme);
    else {
      const { functions, hues } = app.model;
      const colors =
        app.state.color === "heat"
          ? byHeat(functions, this.theme, app.scope.self)
          : byFile(functions, this.theme, hues);
      const { func } = this.layout.tree;
      this.color = (node) => colors[func[node]];
    }
    this.context.font = font;
    this.letter = this.context.measureText("m").width;
  }

  // the top of a row in pixels
  top(depth) {
    const y = depth * rowHeight - this.scroll;
    return this.options.up ? this.height - y - rowHeight : y;
  }

  paint() {
    if (!this.theme) this.dress();
    const { context: c, layout, theme, width, wanted, app } = this;
    const { func } = layout.tree;
    const scale = width / (this.x1 - this.x0);
    const names = app.model.functions;
    const chosen = app.chosen ? app.chosen.id : -1;
    const until = Math.ceil((this.height + this.scroll) / rowHeight) + 1;
    const outlined = [];
    c.clearRect(0, 0, width, this.height);
    c.font = font;
    c.textBaseline = "middle";
    const box = (x, w) => {
      const left = Math.max(0, (x - this.x0) * scale);
      const right = Math.min(width, (x + w - this.x0) * scale);
      return [left, right - left];
    };
    const visit = (node, depth, x, w) => {
      const y = this.top(depth);
      if (y <= -rowHeight || y >= this.height) return;
      const [left, span] = box(x, w);
      const seen = !wanted || wanted[func[node]];
      c.fillStyle = seen ? this.color(node) : theme.pale;
      c.fillRect(
        left,
        y,
        Math.max(0.5, span - (span > 3 ? 1 : 0)),
        rowHeight - 1,
      );
      if (func[node] === chosen) outlined.push(left, y, span);
      if (span < this.letter * 3 + 8) return;
      const fit = Math.floor((span - 8) / this.letter);
      const name = this.options.name
        ? this.options.name(node)
        : labelOf(names[func[node]]);
      c.fillStyle = seen ? theme.text : theme.dim;
      c.fillText(fitted(name, fit), left + 4, y + rowHeight / 2);
    };
    const rest = (depth, x, w) => {
      const y = this.top(depth);
      if (y <= -rowHeight || y >= this.height) return;
      const [left, span] = box(x, w);
      c.fillStyle = theme.rest;
      c.fillRect(left, y, span, rowHeight - 1);
    };
    visible(layout, this.x0, this.x1, narrow / scale, until, visit, rest);
    c.fillStyle = theme.mark;
    for (let i = 0; i < outlined.length; i += 3) {
      const y = outlined[i + 1] + rowHeight - 3;
      c.fillRect(outlined[i], y, Math.max(1, outlined[i + 2] - 1), 2);
    }
    this.outline(this.hover, theme.dim, box);
    if (document.activeElement === this.canvas) {
      this.outline(this.cursor, theme.mark, box);
    }
    this.options.painted?.(this);
  }

  outline(node, color, box) {
    if (node < 0) return;
    const { context: c, layout } = this;
    const [left, span] = box(layout.start[node], layout.weight[node]);
    if (span <= 0) return;
    c.strokeStyle = color;
    c.lineWidth = 2;
    const y = this.top(layout.tree.depths()[node]);
    c.strokeRect(left + 1, y + 1, Math.max(1, span - 3), rowHeight - 3);
  }

  // The node at a position in the canvas, or -1.
  at(px, py) {
    const { layout } = this;
    const y = this.options.up ? this.height - py : py;
    const depth = Math.floor((y + this.scroll) / rowHeight);
    const x = this.x0 + (px / this.width) * (this.x1 - this.x0);
    let node = 0;
    if (x < 0 || x >= layout.weight[0]) return -1;
    for (let i = 0; i < depth && node >= 0; i++) {
      node = childAt(layout, node, x);
    }
    return node;
  }

  // Shows the range from x0 to x1, animated unless at_once.
  move(x0, x1, at_once) {
    const whole = this.layout.weight[0] || 1;
    const least = whole * 1e-9;
    let width = Math.max(least, Math.min(whole, x1 - x0));
    let left = Math.max(0, Math.min(whole - width, x0));
    if (width > whole * 0.9999) [left, width] = [0, whole];
    this.goal = [left, left + width];
    cancelAnimationFrame(this.moving);
    if (at_once || still.matches) {
      this.x0 = left;
      this.x1 = left + width;
      this.draw();
      return;
    }
    const from = [this.x0, this.x1];
    const begun = performance.now();
    const step = (now) => {
      const t = Math.min(1, Math.max(0, (now - begun) / 160));
      const e = t * (2 - t);
      this.x0 = from[0] + (left - from[0]) * e;
      this.x1 = from[1] + (left + width - from[1]) * e;
      this.draw();
      if (t < 1) this.moving = requestAnimationFrame(step);
    };
    this.moving = requestAnimationFrame(step);
  }

  // Makes a node as wide as the canvas, as the user wants. as_root: also
  // scrolls it to the first row, without animation.
  zoom(node, as_root) {
    this.show_zoom(node, false, as_root);
    if (!this.picking) this.options.user?.(false);
  }

  show_zoom(node, at_once, as_root) {
    const { layout } = this;
    const x = layout.start[node];
    this.base = node;
    this.cursor = node;
    this.move(x, x + layout.weight[node], as_root || at_once);
    if (as_root) {
      this.scroll = layout.tree.depths()[node] * rowHeight;
      this.resize();
    } else this.reveal(node);
    this.options.zoomed?.(node);
  }

  out() {
    const parent = this.layout.tree.parent[this.base];
    if (this.base === 0 && this.x0 === 0) return false;
    this.zoom(parent >= 0 && this.base !== 0 ? parent : 0);
    return true;
  }

  magnify(factor, px) {
    const part = px / this.width;
    const x = this.x0 + part * (this.x1 - this.x0);
    const width = (this.x1 - this.x0) / factor;
    this.move(x - part * width, x + (1 - part) * width, true);
    this.options.user?.(true);
  }

  slide(dx, dy) {
    const units = (dx / this.width) * (this.x1 - this.x0);
    const most = Math.max(0, this.rows * rowHeight - this.height);
    const before = this.scroll;
    const down = this.options.up ? -dy : dy;
    this.scroll = Math.max(0, Math.min(most, this.scroll + down));
    if (units !== 0) {
      this.move(this.x0 + units, this.x1 + units, true);
      this.options.user?.(true);
    } else this.draw();
    return this.scroll !== before;
  }

  // Scrolls to the row of a node.
  reveal(node) {
    const y = this.layout.tree.depths()[node] * rowHeight;
    const most = Math.max(0, this.rows * rowHeight - this.height);
    if (y < this.scroll + rowHeight) this.scroll = Math.max(0, y - rowHeight);
    else if (y > this.scroll + this.height - 2 * rowHeight) {
      this.scroll = Math.min(most, y - this.height + 3 * rowHeight);
    }
    this.draw();
  }

  // The lines that describe a node.
  lines(node) {
    const { app, layout } = this;
    const { tree, weight } = layout;
    const f = app.model.functions[tree.func[node]];
    const out = [f.title];
    if (this.options.detail) return out.concat(this.options.detail(node));
    const [selfMost, totalMost] = tree.most(node, app.model.most);
    const all = tree.total[node];
    const total = app.amount(all, totalMost);
    if (tree.inverted) {
      const whole = app.model.functions[tree.func[0]].kind === "root";
      const samples = whole
        ? app.scope.counted
        : app.scope.samples?.[tree.func[0]];
      const share = app.drawnShare(weight[node], weight[0], samples);
      let top = node;
      while (whole && tree.parent[top] > 0) top = tree.parent[top];
      const { name } = app.model.functions[tree.func[top]];
      const what = !whole
        ? " of the chosen function on this path"
        : top === 0
          ? " self of all functions"
          : top === node
            ? " self"
            : ` self of ${name} on this path`;
      out.push(`${total}${what}, ${share} %`);
      return out;
    }
    const [whole, samples] = [tree.total[0], tree.below()[0]];
    out.push(
      `total ${total} ` +
        `(${app.share(all, whole, samples, undefined, totalMost)} %), ` +
        `self ${app.amount(tree.self[node], selfMost)}`,
    );
    if (app.model.counted === "samples") {
      const taken = tree.below()[node];
      out.push(`here: ${app.countsInWords(tree.calls[node], taken)}`);
    } else if (tree.calls[node] > 0) {
      const n = tree.calls[node];
      const per = app.amount(all / n, totalMost / n);
      out.push(`${plural(n, "call")} here, ${per} each`);
    }
    out.push("everywhere: " + app.inWords(f).join(", "));
    return out;
  }

  // fills the tip with the lines of a node
  tell(node) {
    this.tip.replaceChildren(
      ...(node >= 0 ? this.lines(node) : []).map((line, i) =>
        h("div", { class: i === 0 ? "name" : "" }, line),
      ),
    );
  }

  point(node, px, py) {
    if (node !== this.hover) {
      this.hover = node;
      this.canvas.style.setProperty(
        "cursor",
        node >= 0 ? "pointer" : "default",
      );
      this.draw();
      this.tell(node);
    }
    this.tip.hidden = node < 0;
    if (node < 0) return;
    const left = Math.min(px + 14, this.width - this.tip.offsetWidth - 4);
    const over = py + 18 + this.tip.offsetHeight;
    const above = this.element.getBoundingClientRect().top + over > innerHeight;
    const top = above ? py - this.tip.offsetHeight - 10 : py + 18;
    this.tip.style.setProperty("left", Math.max(0, left) + "px");
    this.tip.style.setProperty("top", top + "px");
  }

  listen() {
    const { canvas } = this;
    let from;
    let dragged = false;
    canvas.addEventListener("pointerdown", (event) => {
      from = [event.clientX, event.clientY];
      dragged = false;
    });
    canvas.addEventListener("pointermove", (event) => {
      if (from && event.buttons & 1) {
        const dx = from[0] - event.clientX;
        const dy = from[1] - event.clientY;
        if (!dragged && Math.abs(dx) + Math.abs(dy) < 4) return;
        if (!dragged) canvas.setPointerCapture(event.pointerId);
        dragged = true;
        this.slide(dx, dy);
        from = [event.clientX, event.clientY];
        this.point(-1);
        return;
      }
      this.px = event.offsetX;
      const node = this.at(event.offsetX, event.offsetY);
      this.point(node, event.offsetX, event.offsetY);
    });
    canvas.addEventListener("pointerleave", () => {
      this.px = undefined;
      this.point(-1);
    });
    canvas.addEventListener("click", (event) => {
      from = undefined;
      if (dragged) return;
      const node = this.at(event.offsetX, event.offsetY);
      if (node >= 0) this.pick(node);
    });
    canvas.addEventListener(
      "wheel",
      (event) => {
        // on a graph without zooming, the wheel scrolls the page
        if (this.options.still) return;
        const { deltaX: dx, deltaY: dy } = event;
        if (event.shiftKey) this.slide(0, dy || dx);
        else if (Math.abs(dx) > Math.abs(dy)) this.slide(dx, 0);
        else this.magnify(Math.exp(-dy * 0.0025), event.offsetX);
        event.preventDefault();
      },
      { passive: false },
    );
    canvas.addEventListener("focus", () => this.draw());
    canvas.addEventListener("blur", () => this.draw());
  }

  pick(node) {
    // one event for both
    this.picking = true;
    if (!this.options.still) this.zoom(node);
    this.picking = false;
    this.options.choose?.(node);
  }

  // Handles a key that moves the graph, whether it has the focus or not: w and
  // s zoom where the pointer is, a and d move to the left and to the right.
  steer(event) {
    const by = { a: -1 / 8, d: 1 / 8 }[event.key];
    const factor = { w: 1.5, s: 1 / 1.5 }[event.key];
    if (!this.layout || (!by && !factor)) return false;
    if (by) this.slide(by * this.width, 0);
    else this.magnify(factor, this.px ?? this.width / 2);
    return true;
  }

  // Handles a key; true: the key was for the graph.
  key(event) {
    if (document.activeElement !== this.canvas) return false;
    const { layout } = this;
    const { parent } = layout.tree;
    const { cursor } = this;
    const deeper = this.options.up ? "ArrowUp" : "ArrowDown";
    const higher = this.options.up ? "ArrowDown" : "ArrowUp";
    let to = cursor;
    const beside = (by) => {
      const p = parent[cursor];
      if (p < 0) return cursor;
      const list = layout.child.subarray(layout.first[p], layout.first[p + 1]);
      return list[list.indexOf(cursor) + by] ?? cursor;
    };
    if (
      event.key === deeper &&
      layout.first[cursor] < layout.first[cursor + 1]
    ) {
      to = layout.child[layout.first[cursor]];
    } else if (event.key === higher && parent[cursor] >= 0) to = parent[cursor];
    else if (event.key === "ArrowLeft") to = beside(-1);
    else if (event.key === "ArrowRight") to = beside(1);
    else if (event.key === "Enter") {
      this.pick(cursor);
      return true;
    } else if (event.key === "+" || event.key === "=") {
      this.magnify(1.5, this.width / 2);
      return true;
    } else if (event.key === "-") {
      this.magnify(1 / 1.5, this.width / 2);
      return true;
    } else if (event.key === "Escape" || event.key === "Backspace") {
      return this.out();
    } else if (!event.key.startsWith("Arrow")) return false;
    this.goTo(to);
    return true;
  }

  goTo(node) {
    const { layout } = this;
    this.cursor = node;
    const scale = this.width / (this.x1 - this.x0);
    const left = layout.start[node];
    const seen = left < this.x1 && left + layout.weight[node] > this.x0;
    const p = layout.tree.parent[node];
    if (!seen || layout.weight[node] * scale < 4) {
      const base = p >= 0 ? p : 0;
      this.base = base;
      this.move(layout.start[base], layout.start[base] + layout.weight[base]);
    }
    this.reveal(node);
    this.app.say(this.lines(node).join("; "));
  }
}
