// The zoom of a graph in the address, so that a link, a reload and the
// browser's Back button show the same: NODE/NODES, and /FROM-TO in parts of the
// whole where the graph was moved. It holds for trees of that size only.

const digits = 6;

export class Zoom {
  /** @type {string | undefined} what the graph shows */
  shown;
  /** @type {any} */
  waiting;

  // key: its name in the address; more(graph): what else the address has then
  constructor(app, key, more) {
    this.app = app;
    this.key = key;
    this.more = more;
  }

  text(graph) {
    const { layout, base, goal } = graph;
    const [whole] = layout.weight;
    const [x0, x1] = goal;
    const start = layout.start[base];
    const same = (a, b) => Math.abs(a - b) < whole * 1e-4;
    const whose = same(x0, start) && same(x1, start + layout.weight[base]);
    if (whose && base === 0) return undefined;
    const text = `${base}/${layout.tree.n}`;
    const part = (x) => Number((x / whole).toFixed(digits));
    return whose ? text : `${text}/${part(x0)}-${part(x1)}`;
  }

  // The change of the address for what the graph shows now.
  change(graph) {
    clearTimeout(this.waiting);
    this.shown = this.text(graph);
    return { [this.key]: this.shown, ...this.more?.(graph) };
  }

  // The graph was zoomed; moved: without a new entry in the history.
  changed(graph, moved) {
    clearTimeout(this.waiting);
    if (!moved) return this.app.set(this.change(graph));
    this.waiting = setTimeout(
      () => this.app.set(this.change(graph), true),
      200,
    );
  }

  // Shows what the address says, if that is something else.
  apply(graph, fresh) {
    const wanted = this.app.state[this.key];
    if (!fresh && wanted === this.shown) return;
    this.shown = wanted;
    const match = /^(\d+)\/(\d+)(?:\/([\d.e-]+)-([\d.e-]+))?$/.exec(wanted);
    const { layout } = graph;
    const known = match && Number(match[2]) === layout.tree.n;
    const node = known ? Number(match[1]) : 0;
    if (node >= layout.tree.n || (fresh && !known)) return;
    graph.show_zoom(node, fresh);
    if (known && match[3]) {
      const [whole] = layout.weight;
      graph.move(Number(match[3]) * whole, Number(match[4]) * whole, true);
    }
  }

  close() {
    clearTimeout(this.waiting);
  }
}
