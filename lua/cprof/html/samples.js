// How sure a share is that is known from samples.

const z = 1.96; // 95 %

// Fewer samples tell no shares.
export const few = 4;

// How far the share that n samples show may be from the true one, at 95 %:
// the farther end of Wilson's interval.
export function interval(share, n) {
  if (n < 1) return 1;
  const p = Math.max(0, Math.min(share, 1));
  const whole = 1 + (z * z) / n;
  const middle = (p + (z * z) / (2 * n)) / whole;
  const wide = Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  return Math.abs(middle - p) + (z / whole) * wide;
}

// Bytes in use, of which one sample stands for so many: " ±12 %" where they
// are estimated. A sample may also stand for one larger block.
export function sure(n, each) {
  if (!(each > 1) || n <= 0) return "";
  return ` ±${Math.min(200 / Math.sqrt(Math.max(n / each, 1)), 100).toFixed(0)} %`;
}

// How far the difference of two figures may be off; each is [figure, whole,
// samples], where no samples means that it is known.
export function uncertain(...sides) {
  let square = 0;
  for (const [n, whole, samples] of sides) {
    if (samples === undefined) continue;
    square += (interval(n / Math.max(whole, 1), samples) * whole) ** 2;
  }
  return Math.sqrt(square);
}
