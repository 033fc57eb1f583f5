-- cprof annotate: the source with figures beside each line.

local annotated = require "cprof.annotate"
local input = require "cprof.command.input"
local lines = require "cprof.count.lines"
local measure = require "cprof.count.measure"
local labelled = require "cprof.command.labelled"
local period = require "cprof.command.period"

local specs <const> = annotated.options

local annotate = {
  name = "annotate",
  summary = "Print the hottest functions with figures beside each line.",
  description = "Print the functions that took nine tenths of the time, " ..
    "with figures beside each line, or a whole source.",
  example = "cprof annotate run.cprof --focus parser.parse",
  options = {
    input.file "A profile that was recorded with --lines, --sample, or --count",
    { "SOURCE?", "A source to print as a whole: its path, or the end of it." },
    { "--focus FUNCTION", "Show only this function.", of = specs },
    { "--ignore FUNCTION", "Leave out this function.", of = specs },
    { "--all", "Show all functions, even if they do not fit on the screen." },
    { "--sort", "line: show functions with their lines; self, hits: show " ..
      "the hottest lines of all sources.", of = specs },
    { "--coverage", "Mark what never ran, and count it." },
    { "--expressions", "Shade the parts of lines, and show how often they " ..
      "ran (recorded with --count) or their share of the time (with " ..
      "--sample)." },
    { "--heat", "Shade lines by their time, hits, or total (the time of " ..
      "their callees); or by a measure, which all figures then show.",
      of = specs },
    { "--measure", ("Show %s. (default: wall)"):format(
      measure.words "line"), of = specs },
    { "--relative", "Scale shades by the hottest line of the file or of the " ..
      "project. (default: project; file with SOURCE)", of = specs },
    { "--context N", "Show N lines around each hot one. (default: 1; " ..
      "with SOURCE, all lines, or 0 with --min-percent)", of = specs },
    { "--min-percent N", "Treat a line as hot if it has at least N % of " ..
      "the time. (default: 0.1 with SOURCE and --context; else 1 % of the " ..
      "function's own time, or 5 % of its total time for lines with calls)",
      of = specs },
    { "--limit N", "Show at most N functions, or lines of a list. (default: " ..
      "20, or fewer functions if these cover nine tenths of the time or, on " ..
      "a terminal, fill the screen)", of = specs },
    { "--height N", "Fit the output to N rows. (default: the rows of the " ..
      "terminal; without a terminal, no limit)", of = specs },
    { "--format", "markdown: to paste into an issue, uncut; quickfix: the " ..
      "hottest lines as FILE:LINE: TEXT, for editors.", of = specs },
    period.options, labelled.option, input.looks, input.links,
  },
}

function annotate.call(parsed, fail)
  local file, source = input.pair("annotate", parsed.file, "SOURCE",
    parsed.source, fail)
  local profile, named = input.load(file, fail)
  profile = labelled.of(period.of(profile, parsed, fail), parsed, fail)
  if profile.meta.labels and not lines.recorded(profile) then
    fail(lines.all_labels)
  elseif not lines.recorded(profile) then
    fail(("%s has no lines: record it with cprof run %s"):format(named,
      profile.meta.joined and "--both --lines" or
      "--lines, --count or --sample"))
  end
  if parsed.expressions and not annotated.has_expressions(profile) then
    fail(("%s has no expressions: record it with cprof run --count " ..
      "or --sample"):format(named))
  end
  input.print(input.ask(fail, profile, "annotate", source,
    input.given(specs, parsed)), fail)
end

return annotate
