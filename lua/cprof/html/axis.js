// Chart axes: the positions of their marks.

// About `n` round figures from 0 to `most`. Sizes are round in their unit.
export function ticks(most, n, sizes) {
  if (!(most > 0)) return [0];
  const rough = most / n;
  const unit = sizes ? 1024 ** Math.floor(Math.log2(most) / 10) : 1;
  const power = unit * 10 ** Math.floor(Math.log10(rough / unit));
  const rounds = [1, 2, 5].find((d) => d * power >= rough * 0.999) || 10;
  const step = rounds * power;
  const out = [];
  for (let i = 0; i * step <= most * 1.0001; i++) out.push(i * step);
  return out;
}

// About `n` round figures between `from` and `to`, and their distance.
export function between(from, to, n) {
  if (!(to > from)) return { marks: [], step: 1 };
  const [, step = to - from] = ticks(to - from, n);
  const marks = [];
  for (let i = Math.ceil(from / step); i * step <= to; i++) {
    marks.push(i * step);
  }
  return { marks, step };
}

// The index in a sorted list of the value nearest to `wanted`.
export function nearest(list, wanted) {
  let low = 0;
  let high = list.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  const before = low > 0 && wanted - list[low - 1] < list[low] - wanted;
  return before ? low - 1 : low;
}

// The indices where a list falls by at least `least`, and by how much.
// Consecutive falls count as one.
export function falls(list, least) {
  const out = [];
  let from = 0;
  for (let i = 1; i <= list.length; i++) {
    if (list[i] < list[i - 1]) continue;
    const by = list[from] - list[i - 1];
    if (i - 1 > from && by >= least) out.push({ at: i - 1, by });
    from = i;
  }
  return out;
}

// At most `n` indices of a list: the list is divided into parts, and each
// part gives its largest value.
export function peaks(list, n) {
  const parts = Math.min(n, list.length);
  const out = [];
  for (let p = 0; p < parts; p++) {
    const to = Math.floor(((p + 1) * list.length) / parts);
    let best = Math.floor((p * list.length) / parts);
    for (let i = best + 1; i < to; i++) if (list[i] > list[best]) best = i;
    out.push(best);
  }
  return out;
}
