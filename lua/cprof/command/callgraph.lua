-- cprof callgraph: each function between its callers and its callees.

return require "cprof.command.view" ("callgraph", "callgraph", {
  summary = "Print each function with its callers and callees.",
  example = "cprof callgraph --filter parser run.cprof",
})
