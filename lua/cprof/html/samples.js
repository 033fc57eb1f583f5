// The margin of error of figures that are estimated from samples.

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

// The margin of error of n bytes in use as text, such as " ±12 %"; "" if they
// are exact. One sample stands for `each` bytes, or for one larger block.
export function sure(n, each) {
  if (!(each > 1) || n <= 0) return "";
  return ` ±${Math.min(200 / Math.sqrt(Math.max(n / each, 1)), 100).toFixed(0)} %`;
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
