-- cprof tree: who called what.

local input = require "cprof.command.input"
local report = require "cprof.report"
local view = require "cprof.command.view"

local tree = {
  name = "tree",
  summary = "Print who called what, from the root to the leaves.",
  example = "cprof tree --min-percent 5 --depth 4 run.cprof",
}

function tree.define(parser)
  view.define(parser, "30", "total")
  input.option(parser, report.options, "root", "Show only what this " ..
    "function calls, wherever it was called.", "FUNCTION")
  input.option(parser, report.options, "depth",
    "Show at most N levels. (default: all)")
end

function tree.call(parsed, fail)
  view.print("tree", parsed, fail)
end

return tree
