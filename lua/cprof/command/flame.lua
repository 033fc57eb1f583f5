-- cprof flame: the call tree as a flame graph of text.

local input = require "cprof.command.input"
local labelled = require "cprof.command.labelled"
local measure = require "cprof.count.measure"
local period = require "cprof.command.period"
local report = require "cprof.report"
local view = require "cprof.command.view"

return {
  name = "flame",
  summary = "Draw the call tree as a flame graph.",
  description = "Draw a box for each call-tree node, as wide as its share " ..
    "of the time, with callees below their caller. Colours stand for files.",
  example = "cprof flame --root parser.parse run.cprof",
  options = {
    input.file(),
    { "--min-percent N", "Draw only nodes with N % of the time or more. " ..
      "(default: 1; 0 with --filter)", of = report.options },
    { "--measure", ("Scale widths by %s. (default: wall)"):format(
      measure.words()), of = report.options },
    { "--filter PATTERN", "Draw only what leads to functions with PATTERN " ..
      "in their title or path; between slashes, it is a Lua pattern: " ..
      "/^parse/.", type = "pattern" },
    period.options, labelled.option, input.page, view.part,
  },
  call = function(parsed, fail) view.print("flame", parsed, fail) end,
}
