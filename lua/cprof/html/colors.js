// Colours of a flame graph. Functions of one file share a colour; C functions
// are grey, those that Lua did not call have a colour of their own. In a comparison of two profiles, nodes that take longer are red, nodes
// that take less are blue; labels say so, too.

// hues that are easy to tell apart
const hues = [28, 200, 95, 265, 50, 165, 330, 225, 130, 10, 295, 75];

const themes = {
  light: {
    text: "#1b1d20",
    dim: "#656b71",
    edge: "#fcfcfb",
    rest: "#e3e3e0",
    mark: "#1558b0",
    grey: "#d5d8dc",
    native: "#cdd2a9",
    root: "#e9e9e6",
    pale: "#f0f0ee",
    hue: (h) => `hsl(${h} 52% 80%)`,
    other: (h) => `hsl(${h} 36% 70%)`,
    heat: (s) =>
      `hsl(22 ${Math.round(20 + 65 * s)}% ${Math.round(92 - 28 * s)}%)`,
    cell: (s) =>
      `hsl(${Math.round(38 - 20 * s)} ${Math.round(24 + 62 * s)}% ${Math.round(90 - 46 * s)}%)`,
    lit: (s) =>
      `hsl(214 ${Math.round(14 + 58 * s)}% ${Math.round(91 - 51 * s)}%)`,
    same: "#dddeda",
    more: (s) => `hsl(8 ${30 + 50 * s}% ${86 - 22 * s}%)`,
    less: (s) => `hsl(214 ${30 + 50 * s}% ${86 - 20 * s}%)`,
  },
  dark: {
    text: "#e6e8ea",
    dim: "#949ca4",
    edge: "#15171a",
    rest: "#2b2f34",
    mark: "#6fb1ff",
    grey: "#444a51",
    native: "#474b2c",
    root: "#2f343a",
    pale: "#202429",
    hue: (h) => `hsl(${h} 28% 33%)`,
    other: (h) => `hsl(${h} 34% 25%)`,
    heat: (s) =>
      `hsl(22 ${Math.round(8 + 62 * s)}% ${Math.round(22 + 14 * s)}%)`,
    cell: (s) =>
      `hsl(${Math.round(14 + 26 * s)} ${Math.round(14 + 72 * s)}% ${Math.round(17 + 43 * s)}%)`,
    lit: (s) =>
      `hsl(214 ${Math.round(14 + 66 * s)}% ${Math.round(18 + 47 * s)}%)`,
    same: "#3a3f45",
    more: (s) => `hsl(8 ${25 + 40 * s}% ${28 + 16 * s}%)`,
    less: (s) => `hsl(214 ${25 + 45 * s}% ${28 + 16 * s}%)`,
  },
};

export function palette(dark) {
  return dark ? themes.dark : themes.light;
}

// A number that depends on the text only.
function hash(text) {
  let n = 0;
  for (let i = 0; i < text.length; i++) {
    n = (Math.imul(n, 31) + text.charCodeAt(i)) | 0;
  }
  return (n ^ (n >>> 15)) >>> 0;
}

// the share of the time from which a file has a colour of its own
const noted = 0.01;

// The number of each file's colour, by its name, so that other pages of the
// program have the same. Files that take the most differ from each other as
// long as there are colours.
function numbers(functions, known) {
  const self = new Map();
  let whole = 0;
  for (const f of functions) {
    if (!f.place) continue;
    self.set(f.place, (self.get(f.place) || 0) + f.self);
    whole += f.self;
  }
  const free = (n) => ![...known.values()].includes(n);
  for (const place of [...self.keys()].sort()) {
    if (known.has(place) || self.get(place) < whole * noted) continue;
    const first = hash(place) % hues.length;
    // all hues in the first lightness, then all hues in the second one
    const all = [...Array(2 * hues.length).keys()].map((i) =>
      i < hues.length
        ? (first + i) % hues.length
        : hues.length + ((first + i) % hues.length),
    );
    known.set(place, all.find(free) ?? first);
  }
  for (const place of self.keys()) {
    if (!known.has(place)) known.set(place, hash(place) % hues.length);
  }
}

// A colour for each function, by file.
// known: numbers of files that already have a colour, which they keep.
export function byFile(functions, theme, known = new Map()) {
  numbers(functions, known);
  return functions.map((f) => {
    if (f.kind === "root" || f.kind === "internal") return theme.root;
    if (f.kind === "native") return theme.native;
    // another tool's file does not tell where the function is defined
    if (!f.place && !f.kind) return theme.hue(hues[hash(f.name) % hues.length]);
    if (!f.place) return f.kind === "zone" ? theme.hue(310) : theme.grey;
    const n = known.get(f.place);
    const kind = n < hues.length ? theme.hue : theme.other;
    return kind(hues[n % hues.length]);
  });
}

// A colour for each function, by its self figure.
export function byHeat(functions, theme, self) {
  const most = self.reduce((a, b) => Math.max(a, b), 0) || 1;
  return functions.map((f) =>
    f.kind === "root" ? theme.root : theme.heat(Math.sqrt(self[f.id] / most)),
  );
}

// The colour of a change. share: the change as a part of the whole.
export function change(theme, share) {
  if (Math.abs(share) < 0.0005) return theme.same;
  const strength = Math.min(1, Math.sqrt(Math.abs(share)) * 1.2);
  const s = Math.round(strength * 8) / 8;
  return share > 0 ? theme.more(s) : theme.less(s);
}
