-- cprof tree: who called what.

local report = require "cprof.report"
local view = require "cprof.command.view"

return {
  name = "tree",
  summary = "Print who called what, from the root to the leaves.",
  example = "cprof tree --min-percent 5 --depth 4 run.cprof",
  options = {
    view.options("30", "total"),
    { "--root FUNCTION", "Show only what this function calls, wherever it " ..
      "was called." },
    { "--depth N", "Show at most N levels. (default: all)",
      of = report.options },
  },
  call = function(parsed, fail) view.print("tree", parsed, fail) end,
}
