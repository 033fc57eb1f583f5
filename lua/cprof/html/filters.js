// Filters of the call tree. The address has a list of terms for each kind of
// filter; a term is the title of a function, or what is searched for.

import { matcher } from "./search.js";
import { callees, collapsed, focused, hide, only } from "./tree.js";

/**
 * @typedef {object} Kind
 * @property {string} key  its name in the address
 * @property {string} title  what the label of a term begins with
 * @property {(tree: any, wanted: Uint8Array, one: any) => any} of  what is left
 *   of a tree
 */

/**
 * The kinds, in the order in which they apply.
 * @type {Kind[]}
 */
export const kinds = [
  {
    key: "focus",
    title: "Only",
    of: (tree, wanted, one) =>
      one ? callees(tree, one.id) : focused(tree, wanted),
  },
  { key: "hide", title: "Without", of: hide },
  {
    key: "ignore",
    title: "Into callers:",
    of: (tree, wanted) => only(tree, (f) => !wanted[f]),
  },
  { key: "collapse", title: "As one box:", of: collapsed },
];

// The terms of a kind in a state.
export function terms(state, key) {
  return (state[key] || "").split("\n").filter(Boolean);
}

// The change of a state that adds a term, or removes it.
export function added(state, key, term) {
  const rest = terms(state, key).filter((one) => one !== term);
  return { [key]: [...rest, term].join("\n") };
}

export function removed(state, key, term) {
  const rest = terms(state, key).filter((one) => one !== term);
  return { [key]: rest.join("\n") || undefined };
}

// What a state's terms of a kind select: { wanted: is a function selected?,
// one: the function, if it is only one }; undefined: none is.
export function selected(model, state, key) {
  const list = terms(state, key);
  const wanted = new Uint8Array(model.functions.length);
  let one;
  let n = 0;
  for (const term of list) {
    const f = model.byTitle.get(term);
    const passes = f ? (g) => g === f : matcher(term) || (() => false);
    for (const g of model.functions) {
      if (g.kind === "root" || wanted[g.id] || !passes(g)) continue;
      wanted[g.id] = 1;
      one = n++ > 0 ? undefined : g;
    }
  }
  return n > 0 ? { wanted, one } : undefined;
}
