-- cprof tree: who called what.

local view = require "cprof.command.view"

return {
  name = "tree",
  summary = "Print who called what, from the root to the leaves.",
  example = "cprof tree --min-percent 5 --depth 4 run.cprof",
  options = {
    view.options("30", "total"),
    view.part,
  },
  call = function(parsed, fail) view.print("tree", parsed, fail) end,
}
