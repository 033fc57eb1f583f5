// Colours of a flame graph. Functions of one file share a hue; C functions are
// grey. In a comparison of two profiles, nodes that take longer are red, nodes
// that take less are blue; labels say so, too.

// hues that are easy to tell apart
const hues = [28, 200, 95, 265, 50, 165, 330, 225, 130, 10, 295, 75];

const themes = {
  light: {
    text: "#1b1d20",
    dim: "#8a9096",
    edge: "#fcfcfb",
    rest: "#e3e3e0",
    mark: "#1558b0",
    grey: "#d5d8dc",
    root: "#e9e9e6",
    pale: "#f0f0ee",
    hue: (h) => `hsl(${h} 52% 80%)`,
    same: "#dddeda",
    more: (s) => `hsl(8 ${30 + 50 * s}% ${86 - 22 * s}%)`,
    less: (s) => `hsl(214 ${30 + 50 * s}% ${86 - 20 * s}%)`,
  },
  dark: {
    text: "#e6e8ea",
    dim: "#7b838b",
    edge: "#15171a",
    rest: "#2b2f34",
    mark: "#6fb1ff",
    grey: "#444a51",
    root: "#2f343a",
    pale: "#202429",
    hue: (h) => `hsl(${h} 28% 33%)`,
    same: "#3a3f45",
    more: (s) => `hsl(8 ${25 + 40 * s}% ${28 + 16 * s}%)`,
    less: (s) => `hsl(214 ${25 + 45 * s}% ${28 + 16 * s}%)`,
  },
};

export function palette(dark) {
  return dark ? themes.dark : themes.light;
}

// A colour for each function, by file; the hottest files get the first hues.
// known: files that already have a hue, which they keep.
export function byFile(functions, theme, known = new Map()) {
  const self = new Map();
  for (const f of functions) {
    if (f.place) self.set(f.place, (self.get(f.place) || 0) + f.self);
  }
  const places = [...self.keys()].sort((a, b) => self.get(b) - self.get(a));
  for (const place of places) {
    if (!known.has(place)) known.set(place, known.size);
  }
  return functions.map((f) => {
    if (f.kind === "root" || f.kind === "internal") return theme.root;
    if (!f.place) return f.kind === "zone" ? theme.hue(310) : theme.grey;
    return theme.hue(hues[known.get(f.place) % hues.length]);
  });
}

// The colour of a change. share: the change as a part of the whole.
export function change(theme, share) {
  if (Math.abs(share) < 0.0005) return theme.same;
  const strength = Math.min(1, Math.sqrt(Math.abs(share)) * 1.2);
  const s = Math.round(strength * 8) / 8;
  return share > 0 ? theme.more(s) : theme.less(s);
}
