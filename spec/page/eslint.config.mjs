// The rules for the page's scripts, and for the specs of these.

import js from "../../build/npm/node_modules/@eslint/js/src/index.js";
import globals from "../../build/npm/node_modules/globals/index.js";

const rules = {
  ...js.configs.recommended.rules,
  eqeqeq: "error",
  "no-var": "error",
  "prefer-const": "error",
  "no-unused-vars": ["error", { caughtErrors: "none" }],
};

const safe = {
  // what a program has named is text, never markup or code
  "no-eval": "error",
  "no-implied-eval": "error",
  "no-new-func": "error",
  "no-restricted-properties": [
    "error",
    ...["innerHTML", "outerHTML", "insertAdjacentHTML", "write", "srcdoc"].map(
      (property) => ({ property, message: "Use text." }),
    ),
  ],
};

export default [
  {
    files: ["lua/cprof/html/*.js"],
    languageOptions: { globals: globals.browser },
    rules: { ...rules, ...safe },
  },
  {
    files: ["spec/page/*.mjs"],
    languageOptions: { globals: { ...globals.node, ...globals.browser } },
    rules,
  },
];
