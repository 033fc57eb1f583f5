// The margin of error of figures that are estimated from samples.

import { fixed } from "./format.js";

const z = 1.96; // 95 %

// With fewer samples, no shares are shown.
export const few = 4;

// How far a share estimated from n samples may be from the true one, with
// 95 % confidence: the farther end of Wilson's interval.
export function interval(share, n) {
  if (n < 1) return 1;
  const p = Math.max(0, Math.min(share, 1));
  const whole = 1 + (z * z) / n;
  const middle = (p + (z * z) / (2 * n)) / whole;
  const wide = Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  return Math.abs(middle - p) + (z / whole) * wide;
}

// The share below which a function may well have no sample.
export function least(n) {
  return Math.min(3 / Math.max(n, 1), 1);
}

// The effective number of n samples, and of those `waits` among them that found
// the program waiting; see sampled.worth in lua/cprof/count.
export function worth(n, waits, [running, waiting]) {
  const lost = waits * (1 - waiting);
  return [n - (n - waits) * (1 - running) - lost, waits - lost];
}

// The number of samples to assume where `waits` of n samples are of waiting,
// and `part` of the time was waiting; see sampled.both in lua/cprof/count.
export function both(n, waits, part) {
  let all = n;
  if (part > 0) all = Math.min(all, Math.max(waits, 1) / part);
  if (part < 1) all = Math.min(all, Math.max(n - waits, 1) / (1 - part));
  return Math.floor(all);
}

// The margin of error of n bytes in use as text, such as " ±12 %"; "" if they
// are exact. One sample stands for `each` bytes, or for one larger block.
export function sure(n, each) {
  if (!(each > 1) || n <= 0) return "";
  const off = Math.min(200 / Math.sqrt(Math.max(n / each, 1)), 100);
  return ` ±${fixed(off, 0)} %`;
}

// The margin of error of the difference of two figures. Each is [figure,
// whole, samples]; undefined samples: the figure is exact.
export function uncertain(...sides) {
  let square = 0;
  for (const [n, whole, samples] of sides) {
    if (samples === undefined) continue;
    square += (interval(n / Math.max(whole, 1), samples) * whole) ** 2;
  }
  return Math.sqrt(square);
}
