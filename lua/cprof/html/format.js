// Figures as text, in the style of text reports.

/** @type {[number, string][]} */
const units = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
];

// A number with this many decimals. Halves are rounded to even, as in C.
export function fixed(n, digits) {
  const scaled = n * 10 ** digits;
  const half =
    Math.abs(scaled % 1) === 0.5 && (n * 2 ** (digits + 1)) % 1 === 0;
  const even = half && Math.floor(scaled) % 2 === 0;
  return (even ? Math.floor(scaled) / 10 ** digits : n).toFixed(digits);
}

// A figure with three digits in the largest unit in which it is 1 or more; below
// 1000, in the unit of the figure itself.
function scaled(n, larger, own) {
  for (const [size, unit] of larger) {
    const value = n / size;
    if (value >= 0.9995 || (size === larger.at(-1)[0] && n >= 1000)) {
      const digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
      return fixed(value, digits) + " " + unit;
    }
  }
  return `${Math.round(n)} ${own}`;
}

export const time = (ns) => scaled(ns, units, "ns");

// A time with enough digits to differ from one that is `step` away.
export function instant(ns, step) {
  if (ns === 0) return "0";
  const [size, unit] = units.find(([n]) => Math.abs(ns) >= n) || [1, "ns"];
  const digits = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
  return (ns / size).toFixed(digits) + " " + unit;
}

/** @type {[number, string][]} */
const sizes = [
  [2 ** 30, "GB"],
  [2 ** 20, "MB"],
  [2 ** 10, "KB"],
];

export const bytes = (n) => scaled(n, sizes, "B");

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

// A count with separators between thousands.
export function count(n) {
  return whole.format(n);
}

// A count in at most four digits, for where there is little room.
export function short(n) {
  if (n < 10000) return count(n);
  if (n < 999500) return (n / 1e3).toFixed(n < 99950 ? 1 : 0) + " k";
  if (n < 999.5e6) return (n / 1e6).toFixed(n < 99.95e6 ? 1 : 0) + " M";
  return (n / 1e9).toFixed(1) + " G";
}

// A share in percent with one decimal.
export function percent(part, of) {
  return of === 0 ? "0.0" : fixed((part / of) * 100, 1);
}

// A share from 0 to 1 in percent, with two significant digits.
export function precise(share) {
  const n = 100 * share;
  const digits = n > 0 ? 1 - Math.floor(Math.log10(n) + 1e-12) : 0;
  return String(Number(digits >= 0 ? fixed(n, digits) : n.toPrecision(2)));
}

// The function that writes figures of a unit: times, sizes, or else counts.
export function figure(unit) {
  return { ns: time, bytes }[unit] || count;
}

// A change with its sign.
export function signed(n, text) {
  if (n === 0) return "0";
  return (n < 0 ? "−" : "+") + text(Math.abs(n));
}

// A count and what it counts: "1 call", "2 calls".
export function plural(n, one, many) {
  return `${count(n)} ${n === 1 ? one : many || one + "s"}`;
}

// Cuts a path to a length. Its end matters most and stays.
export function tail(path, length) {
  if (path.length <= length) return path;
  const cut = path.slice(path.length - length + 1);
  const slash = cut.indexOf("/");
  return "…" + (slash >= 0 && slash < length / 2 ? cut.slice(slash) : cut);
}
