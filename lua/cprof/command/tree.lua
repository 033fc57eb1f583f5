-- cprof tree: who called what.

local input = require "cprof.command.input"
local view = require "cprof.command.view"

local tree = {
  name = "tree",
  summary = "Print who called what, from the root to the leaves.",
  example = "cprof tree --min-percent 5 --depth 4 run.cprof",
}

function tree.define(parser)
  view.define(parser, "30", "total")
  parser:option("--root", "Show only what this function calls, wherever it " ..
    "was called."):argname "FUNCTION"
  parser:option("--depth", "Show at most N levels. (default: all)"):argname "N"
    :convert(input.integer("--depth", 1))
end

function tree.call(parsed, fail)
  view.print("tree", parsed, fail)
end

return tree
