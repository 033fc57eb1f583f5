// Elements. Strings become text nodes; nothing here parses markup.

const special = {
  class: (e, v) => (e.className = v),
  text: (e, v) => (e.textContent = v),
  style: (e, v) => {
    for (const key of Object.keys(v)) e.style.setProperty(key, v[key]);
  },
  data: (e, v) => Object.assign(e.dataset, v),
  // identifies the element among its siblings, for refill
  key: (e, v) => (e.key = v),
};

// Sets the only listener of an element for an event type.
function on(e, type, listener) {
  e.listeners ??= {};
  if (!(type in e.listeners)) {
    e.addEventListener(type, (event) => e.listeners[type]?.(event));
  }
  e.listeners[type] = listener;
}

function set(e, key, value) {
  if (value === undefined || value === null || value === false) return;
  if (special[key]) special[key](e, value);
  else if (key.startsWith("on")) on(e, key.slice(2), value);
  else e.setAttribute(key, String(value));
}

// An element: its tag with its classes ("p.aside"), its properties, which may be
// left out, and its children, which are nodes or text.
export function h(selector, ...rest) {
  const [tag, ...classes] = selector.split(".");
  const e = document.createElement(tag);
  if (classes.length > 0) e.className = classes.join(" ");
  const given = rest[0]?.constructor === Object;
  const properties = given ? rest.shift() : {};
  for (const key of Object.keys(properties)) set(e, key, properties[key]);
  for (const child of rest.flat()) {
    if (child !== undefined && child !== null && child !== false) {
      e.append(child);
    }
  }
  return e;
}

// Replaces the children of an element.
export function fill(e, ...children) {
  e.replaceChildren(...children.flat().filter((c) => c || c === ""));
  return e;
}

function attributes(old, now) {
  for (const { name } of [...old.attributes]) {
    if (name !== "style" && !now.hasAttribute(name)) old.removeAttribute(name);
  }
  for (const { name, value } of now.attributes) {
    if (name !== "style" && old.getAttribute(name) !== value) {
      old.setAttribute(name, value);
    }
  }
  // the page's Content-Security-Policy forbids setting the style attribute
  if (old.style.cssText !== now.style.cssText) {
    old.style.cssText = now.style.cssText;
  }
}

// Changes an element or a text node to equal another one of its kind.
function adapt(old, now) {
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== now.data) old.data = now.data;
    return;
  }
  attributes(old, now);
  for (const type of Object.keys({ ...old.listeners, ...now.listeners })) {
    on(old, type, now.listeners?.[type]);
  }
  replace(old, [...now.childNodes]);
}

const alike = (old, now) =>
  old && old.nodeName === now.nodeName && old.key === now.key;

function replace(e, list) {
  const kept = new Set(list.filter((now) => now.parentNode === e));
  const keyed = new Map();
  for (const old of e.childNodes) if (old.key) keyed.set(old.key, old);
  let at = e.firstChild;
  const place = (node) => {
    if (node === at) at = at.nextSibling;
    else e.insertBefore(node, at);
  };
  for (const now of list) {
    const old = now.key ? keyed.get(now.key) : at;
    if (kept.has(now)) place(now);
    else if (alike(old, now) && !kept.has(old)) {
      keyed.delete(now.key);
      adapt(old, now);
      place(old);
    } else place(now);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

// Like fill, but keeps old elements that match new ones, so that focus and
// selections survive. An element with a key is matched by it, wherever it is.
export function refill(e, ...children) {
  const focus = document.activeElement;
  const list = children.flat().filter((c) => c || c === "");
  replace(
    e,
    list.map((c) =>
      c instanceof Node ? c : document.createTextNode(String(c)),
    ),
  );
  if (
    focus instanceof HTMLElement &&
    focus !== document.activeElement &&
    e.contains(focus)
  ) {
    focus.focus({ preventScroll: true });
  }
  return e;
}

export function button(label, onclick, properties) {
  return h("button", { type: "button", onclick, ...properties }, label);
}

// A button that switches something on and off.
export function toggle(label, pressed, change, title) {
  const state = { class: "toggle", title, "aria-pressed": String(pressed) };
  return button(label, () => change(!pressed), state);
}

// A group of buttons, of which one is pressed.
export function choice(label, options, value, change) {
  const buttons = options.map(([key, text, title]) =>
    button(text, () => change(key), {
      title,
      "aria-pressed": String(key === value),
    }),
  );
  return h("span.choice", { role: "group", "aria-label": label }, buttons);
}

// A list of facts, each with a title, a value, and maybe a hint.
export function factList(rows) {
  return h(
    "dl.facts",
    rows.map(([title, value, hint]) =>
      h("div", { title: hint }, h("dt", title), h("dd", value)),
    ),
  );
}

// The context of a canvas that gets this size, in the units of CSS.
export function sized(canvas, width, height) {
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const c = canvas.getContext("2d");
  c.scale(ratio, ratio);
  return c;
}

// Puts a tip beside a place in a graph; on its other side, `back` away, if it
// would be wider than the graph.
export function placeTip(tip, x, y, width, back) {
  const over = x + tip.offsetWidth > width;
  const at = over ? x - tip.offsetWidth - back : x;
  tip.style.setProperty("left", Math.max(0, at) + "px");
  tip.style.setProperty("top", y + "px");
}

// Scrolls to the result of a choice, if it is out of sight; focus stays.
export function reveal(element) {
  element?.scrollIntoView({ block: "nearest" });
}

const part = (share) => Math.max(0, Math.min(1, share || 0)) * 100;

// A bar beside a figure; its length is the figure's share. `waits`: which part
// of it, from 0 to 1, is waiting.
export function bar(share, kind, waits = 0) {
  const style = { width: part(share).toFixed(1) + "%" };
  if (waits > 0) style["--waits"] = part(waits).toFixed(1) + "%";
  return h(
    "span",
    { class: "bar " + (kind || ""), "aria-hidden": "true" },
    h("span", { style }),
  );
}
