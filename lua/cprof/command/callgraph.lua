-- cprof callgraph: each function between its callers and its callees.

local view = require "cprof.command.view"

local callgraph = {
  name = "callgraph",
  summary = "Print each function with its callers and callees.",
  example = "cprof callgraph --filter parser run.cprof",
  define = function(parser)
    view.define(parser, "30", "total")
  end,
}

function callgraph.call(parsed, fail)
  view.print("callgraph", parsed, fail)
end

return callgraph
