// A graph as a file: what it shows, as SVG or PNG.

import { labelOf, fitted } from "./labels.js";
import { h } from "./dom.js";
import { visible } from "./tree.js";

const rowHeight = 19;
const width = 1200;
const letter = 7;

// The namespace of SVG, as the parser of HTML knows it. The page has no address
// of another server, not even such a name.
export function space() {
  const page = new DOMParser().parseFromString("<svg>", "text/html");
  return page.querySelector("svg")?.namespaceURI;
}

const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text) => text.replace(/[&<>"]/g, (c) => escapes[c]);
const short = (n) => String(Number(n.toFixed(2)));

// The graph between its left and its right end, with all rows, as SVG. The
// picture says what each node is when it is pointed at.
export function svg(graph, title) {
  const { layout, x0, x1, rows, theme, app, options } = graph;
  const names = app.model.functions;
  const scale = width / (x1 - x0);
  const height = rows * rowHeight;
  const out = [];
  const box = (depth, x, w, color, inner) => {
    const left = Math.max(0, (x - x0) * scale);
    const right = Math.min(width, (x + w - x0) * scale);
    const y = options.up ? height - (depth + 1) * rowHeight : depth * rowHeight;
    out.push(
      `<g><rect x="${short(left)}" y="${y}" ` +
        `width="${short(Math.max(0.5, right - left - 1))}" ` +
        `height="${rowHeight - 1}" fill="${color}"/>` +
        `${inner(left, y, right - left)}</g>`,
    );
  };
  const visit = (node, depth, x, w) => {
    const f = names[layout.tree.func[node]];
    const seen = !graph.wanted || graph.wanted[f.id];
    box(depth, x, w, seen ? graph.color(node) : theme.pale, (left, y, span) => {
      const tip = `<title>${escaped(graph.lines(node).join("\n"))}</title>`;
      const fit = Math.floor((span - 8) / letter);
      if (fit < 3) return tip;
      return (
        `${tip}<text x="${short(left + 4)}" y="${y + 13}">` +
        `${escaped(fitted(labelOf(f), fit))}</text>`
      );
    });
  };
  const rest = (depth, x, w) => box(depth, x, w, theme.rest, () => "");
  visible(layout, x0, x1, 0.8 / scale, rows, visit, rest);
  return (
    `<svg xmlns="${space()}" width="${width}" ` +
    `height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="ui-monospace, DejaVu Sans Mono, Menlo, monospace" ` +
    `font-size="11.5" fill="${theme.text}">\n` +
    `<title>${escaped(title)}</title>\n` +
    `<rect width="100%" height="100%" fill="${theme.edge}"/>\n` +
    `${out.join("\n")}\n</svg>\n`
  );
}

// What is on the graph's canvas, as a PNG.
export function png({ canvas, theme }) {
  const { width, height } = canvas;
  const copy = h("canvas", { width, height });
  const c = copy.getContext("2d");
  c.fillStyle = theme.edge;
  c.fillRect(0, 0, copy.width, copy.height);
  c.drawImage(canvas, 0, 0);
  return new Promise((done) => copy.toBlob(done, "image/png"));
}

// Gives the user a file.
export function save(name, content, type) {
  const blob =
    content instanceof Blob ? content : new Blob([content], { type });
  const href = URL.createObjectURL(blob);
  h("a", { href, download: name }).click();
  // the browser needs it until it has begun to save
  setTimeout(() => URL.revokeObjectURL(href), 60000);
}

// Puts a text on the clipboard; false: the browser does not allow that.
export async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // a page that was not loaded in a secure way
    const area = h("textarea.away", { "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
