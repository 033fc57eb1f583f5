// How sure times are: overhead is known to within a quarter. Where more than
// four times of what is left was taken out, only a bound is known.

// What a time is at most; undefined: it is known. raw: the same with
// overhead; most: a time that has this one in it.
export function bound(ns, raw, most) {
  const cost = raw - ns;
  if (ns * 4 >= cost) return undefined;
  const at = ns + Math.ceil(cost / 4);
  return most !== undefined && at > most ? Math.max(most, ns) : at;
}
