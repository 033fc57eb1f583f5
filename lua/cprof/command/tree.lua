-- cprof tree: the stack states.

return require "cprof.command.view" ("tree", "tree", {
  summary = "Print who called what, from the root to the leaves.",
  example = "cprof tree --min-percent 5 run.cprof",
})
