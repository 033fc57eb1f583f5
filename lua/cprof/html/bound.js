// How certain times are. Overhead is known to within a quarter. If more than
// four times the remaining time was subtracted, the estimate is rough, and
// only an upper bound is known. Sorting and sums use estimates; figures show
// bounds.

// The upper bound of a time, or its estimate if that is good enough. raw: the
// time with overhead; most: a time that includes this one.
export function bound(ns, raw, most) {
  const cost = raw - ns;
  if (ns * 4 >= cost) return ns;
  const at = ns + Math.ceil(cost / 4);
  return most !== undefined && at > most ? Math.max(most, ns) : at;
}

// The upper bounds of a self time and a total time: [self, total].
export function bounds(self, selfRaw, total, totalRaw, most) {
  const all = bound(total, totalRaw, most);
  // the total of a recursive call counts in the outer call
  return [bound(self, selfRaw, totalRaw >= selfRaw ? all : most), all];
}
