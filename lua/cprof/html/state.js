// What is looked at. It is all in the address, so that a link opens it again.

const listeners = [];

/** @type {Record<string, any>} */
const defaults = { view: "overview" };

// What stands in an address.
export function parse(hash) {
  const out = { ...defaults };
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ""))) {
    out[key] = value;
  }
  return out;
}

// An address for a state; what is as usual is left out.
export function address(state) {
  const out = new URLSearchParams();
  for (const key of Object.keys(state)) {
    const value = state[key];
    if (value !== undefined && value !== null && value !== "") {
      out.set(key, String(value));
    }
  }
  return "#" + out.toString();
}

let current = parse(location.hash);

export function get() {
  return current;
}

// The address after a change.
export function link(change) {
  return address({ ...current, ...change });
}

function tell() {
  for (const listener of listeners) listener(current);
}

// Changes the state; what is chosen while searching leaves no history.
export function set(change, replace) {
  const to = address({ ...current, ...change });
  if (to === address(current)) return;
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  current = parse(to);
  tell();
}

export function listen(listener) {
  listeners.push(listener);
}

export function start() {
  const changed = () => {
    const to = parse(location.hash);
    if (address(to) === address(current)) return;
    current = to;
    tell();
  };
  addEventListener("hashchange", changed);
  addEventListener("popstate", changed);
}
