// What the page shows: the view, the chosen function, the scope and more. All
// of it is in the address, so that a link shows the same.

const listeners = [];

// The state in an address.
export function parse(hash) {
  /** @type {Record<string, any>} */
  const out = {};
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ""))) {
    out[key] = value;
  }
  return out;
}

// The address of a state, without fields that are not set.
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

// Changes the state; replace: without a new entry in the browser's history.
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
