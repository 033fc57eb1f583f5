// How sure times are: overhead is known to within a quarter. Where more than
// four times of what is left was taken out, the estimate is rough, and only a
// bound is known. Estimates rank and add up; bounds are shown.

// What a time is at most; its estimate, where that is known well. raw: the
// same with overhead; most: a time that has this one in it.
export function bound(ns, raw, most) {
  const cost = raw - ns;
  if (ns * 4 >= cost) return ns;
  const at = ns + Math.ceil(cost / 4);
  return most !== undefined && at > most ? Math.max(most, ns) : at;
}

// What a self time and a total time are at most: [self, total].
export function bounds(self, selfRaw, total, totalRaw, most) {
  const all = bound(total, totalRaw, most);
  // the total of an inner call is that of the outer one
  return [bound(self, selfRaw, totalRaw >= selfRaw ? all : most), all];
}
