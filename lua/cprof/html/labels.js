// Short names of functions, for where there is little room.

// The name of a function as it is on a label; one without a name of its own
// has its file.
export function labelOf({ name, place }) {
  if (!/^<fn:\d+>$/.test(name) || !place) return name;
  return `${place.slice(place.lastIndexOf("/") + 1)} ${name}`;
}

// A name cut to a length in characters. The end of a path and of a name with
// dots tells more than its beginning.
export function fitted(name, length) {
  if (name.length <= length) return name;
  const path = name.includes("/");
  const parts = path ? /\/(?=[^/]+)/g : /[.:](?=[\w<])/g;
  let last = name;
  if (path || /^[\w.:<>]+$/.test(name)) {
    // a name such as m.<fn:7> has no part after its last colon
    const whole = path
      ? name
      : name.replace(/<.*/, (s) => s.replace(/:/g, " "));
    for (const { index } of whole.matchAll(parts)) {
      const rest = name.slice(index + (path ? 0 : 1));
      if (rest.length < length) return "…" + rest;
      last = name.slice(index + 1);
    }
  }
  return last.length <= length ? last : last.slice(0, length - 1) + "…";
}
