// Elements. Text is always text: nothing here reads markup.

const special = {
  class: (e, v) => (e.className = v),
  text: (e, v) => (e.textContent = v),
  style: (e, v) => {
    for (const key of Object.keys(v)) e.style.setProperty(key, v[key]);
  },
  data: (e, v) => Object.assign(e.dataset, v),
};

function set(e, key, value) {
  if (value === undefined || value === null || value === false) return;
  if (special[key]) special[key](e, value);
  else if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
  else e.setAttribute(key, value === true ? "" : String(value));
}

// An element with properties and children, which are nodes or text.
export function h(tag, properties, ...children) {
  const e = document.createElement(tag);
  for (const key of Object.keys(properties || {})) {
    set(e, key, properties[key]);
  }
  for (const child of children.flat()) {
    if (child !== undefined && child !== null && child !== false) {
      e.append(child);
    }
  }
  return e;
}

// Puts children in the place of those that are there.
export function fill(e, ...children) {
  e.replaceChildren(...children.flat().filter((c) => c || c === ""));
  return e;
}

// A button that stays pressed, or not.
export function toggle(label, pressed, change, title) {
  return h(
    "button",
    {
      class: "toggle",
      type: "button",
      title,
      "aria-pressed": String(pressed),
      onclick: () => change(!pressed),
    },
    label,
  );
}

// One of several choices.
export function choice(label, options, value, change) {
  const buttons = options.map(([key, text, title]) =>
    h(
      "button",
      {
        type: "button",
        title,
        "aria-pressed": String(key === value),
        onclick: () => change(key),
      },
      text,
    ),
  );
  return h(
    "span",
    { class: "choice", role: "group", "aria-label": label },
    buttons,
  );
}

// A bar whose length is a share, beside the figure that it shows.
export function bar(share, kind) {
  const width = Math.max(0, Math.min(1, share || 0)) * 100;
  return h(
    "span",
    { class: "bar " + (kind || ""), "aria-hidden": "true" },
    h("span", { style: { width: width.toFixed(1) + "%" } }),
  );
}
