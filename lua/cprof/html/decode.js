// The data of the page is Base64 and may be compressed. It has the length of
// the header, the header as JSON, and the columns of trees.

async function inflate(bytes, encoding) {
  if (encoding === "none") return bytes;
  const stream = new Blob([bytes])
    .stream()
    .pipeThrough(new DecompressionStream(encoding));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Decodes Base64.
export function bytesOf(text) {
  /** @type {any} */
  const bytes = Uint8Array;
  if (bytes.fromBase64) return bytes.fromBase64(text);
  const binary = atob(text);
  const out = new Uint8Array(binary.length);
  for (let i = 0; i < out.length; i++) out[i] = binary.charCodeAt(i);
  return out;
}

// A column of n figures, in groups of seven bits, the lowest first; the top
// bit of a byte says that more follow.
export function figures(bytes, n, out) {
  let at = 0;
  for (let i = 0; i < n; i++) {
    let byte = bytes[at++];
    let value = byte & 127;
    let scale = 128;
    while (byte > 127) {
      byte = bytes[at++];
      value += (byte & 127) * scale;
      scale *= 128;
    }
    out[i] = value;
  }
  return out;
}

// the columns that every tree has; columns of other measures follow
const usual = ["levels", "func", "calls", "self", "cost", "line"];
const whole = new Set([
  "levels",
  "func",
  "line",
  "place",
  "node",
  "spot",
  "kind",
]);

function columns(names, bytes, at, [n, ...sizes]) {
  const out = { n };
  sizes.forEach((size, i) => {
    const column = whole.has(names[i])
      ? new Int32Array(n)
      : new Float64Array(n);
    out[names[i]] = figures(bytes.subarray(at, at + size), n, column);
    at += size;
  });
  return out;
}

// The header and the columns of each tree.
export async function decode(text, encoding) {
  const bytes = await inflate(bytesOf(text), encoding);
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const json = new TextDecoder().decode(bytes.subarray(4, 4 + size));
  const header = JSON.parse(json);
  const names = [...usual, ...(header.measures || [])];
  const trees = [];
  let at = 4 + size;
  const others = header.axis?.columns;
  for (const sizes of header.trees) {
    trees.push(columns(others?.[trees.length] ?? names, bytes, at, sizes));
    for (let i = 1; i < sizes.length; i++) at += sizes[i];
  }
  return { header, trees };
}
