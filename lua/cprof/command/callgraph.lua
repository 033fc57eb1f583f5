-- cprof callgraph: each function between its callers and its callees.

local view = require "cprof.command.view"

return {
  name = "callgraph",
  summary = "Print each function with its callers and callees.",
  example = "cprof callgraph --filter parser run.cprof",
  options = view.options("30", "total"),
  call = function(parsed, fail) view.print("callgraph", parsed, fail) end,
}
