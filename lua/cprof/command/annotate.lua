-- cprof annotate: the source with figures beside each line.

local annotated = require "cprof.annotate"
local input = require "cprof.command.input"
local lines = require "cprof.count.lines"

local annotate = {
  name = "annotate",
  summary = "Print the hottest functions with figures beside each line.",
  description = "Print the functions that took nine tenths of the time, " ..
    "with figures beside each line, or a whole source.",
  example = "cprof annotate run.cprof --focus parser.parse",
}

function annotate.define(parser)
  input.profile(parser, "A profile that was recorded with --lines, " ..
    "--sample, or --count")
  parser:argument("SOURCE", "A source, or the end of its path, to print " ..
    "all of it."):target "source":args "?"
  local function option(name, help, argname)
    input.option(parser, annotated.options, name, help, argname)
  end
  option("focus", "Show only this function.", "FUNCTION")
  option("ignore", "Leave out this function.", "FUNCTION")
  option("all", "Show all functions, even if the screen has no room.")
  option("sort", "line: show functions with their lines; self, hits: show " ..
    "the hottest lines of all sources.")
  option("coverage", "Mark what never ran, and count it.")
  option("expressions", "Shade the parts of lines, and show how " ..
    "often they ran (recorded with --count) or their share of the time " ..
    "(with --sample).")
  option("heat", "Shade lines by this measure. With alloc, allocs " ..
    "and live, the figures are bytes allocated, allocations, and bytes in " ..
    "use, not times; with cpu and wait, only CPU time or waiting time.")
  option("relative", "Scale shades by the hottest line of the file " ..
    "or of the project. (default: project; file with SOURCE)")
  option("context", "Lines shown around hot ones. (default: 1; " ..
    "with SOURCE, all lines, or 0 with --min-percent)")
  option("min_percent", "Count a line as hot from N % of the time. " ..
    "(default: 0.1 with SOURCE and --context; else 1 % of the function's " ..
    "own time, or 5 % of its total time for lines with calls)")
  option("limit", "Show at most N functions, or lines of a list. " ..
    "(default: 20; functions only until nine tenths of the time are " ..
    "covered, and, on a terminal, as many as fit)")
  option("height", "Fit the output to N rows. (default: the rows " ..
    "of the terminal; without a terminal, no limit)")
  input.page(parser)
end

function annotate.call(parsed, fail)
  input.ordered("annotate", parsed.file, "SOURCE", parsed.source, fail)
  if parsed.file and not parsed.source and
     not input.is_profile(parsed.file) then
    parsed.file, parsed.source = nil, parsed.file
  end
  local profile, named = input.load(parsed.file, fail)
  if not lines.recorded(profile) then
    fail(("%s has no lines: record it with cprof run %s"):format(named,
      profile.meta.joined and "--both --lines" or
      "--lines, --count or --sample"))
  end
  if parsed.expressions and not annotated.has_expressions(profile) then
    fail(("%s has no expressions: record it with cprof run --count " ..
      "or --sample")
      :format(named))
  end
  input.print(input.ask(fail, profile, "annotate", parsed.source,
    input.given(annotated.options, parsed)), fail)
end

return annotate
