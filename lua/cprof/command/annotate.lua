-- cprof annotate: the source with figures beside each line.

local input = require "cprof.command.input"

local annotate = {
  name = "annotate",
  summary = "Print sources with figures beside each line.",
  example = "cprof annotate run.cprof lib/parser.lua --context 3",
}

function annotate.define(parser)
  parser:argument("FILE", "A profile that was recorded with --lines.")
    :target "file"
  parser:argument("SOURCE", "A source as reports show it; without one, " ..
    "the hottest."):target "source":args "?"
  parser:option("--heat", "What shades a line.")
    :choices { "time", "hits", "total" }
  parser:option("--relative", "To the hottest line of what.")
    :choices { "file", "project" }
  parser:flag("--coverage", "Count and show what never ran.")
  parser:option("--context", "Lines shown around hot ones.")
    :argname "N":convert(input.integer("--context", 0))
  parser:option("--min-percent", "Least share of the time of a hot line.")
    :argname "N":convert(input.percent "--min-percent")
  parser:option("--sort", "self, hits: the hottest lines of all files.")
    :choices { "line", "self", "hits" }
  parser:option("--focus", "Only lines of this function.")
    :argname "FUNCTION"
  parser:option("--ignore", "Without the lines of this function.")
    :argname "FUNCTION"
  parser:option("--limit", "Most files, or lines of a list."):argname "N"
    :convert(input.integer("--limit", 1))
  input.looks(parser)
end

function annotate.call(parsed, fail)
  local profile = input.load(parsed.file, fail)
  if profile.meta.mode ~= "line" then
    fail(("%s has no lines: record it with cprof run --lines"):format(
      parsed.file))
  end
  input.print(input.ask(fail, profile, "annotate", parsed.source, {
    heat = parsed.heat, relative = parsed.relative,
    coverage = parsed.coverage, context = parsed.context,
    min_percent = parsed.min_percent, sort = parsed.sort,
    focus = parsed.focus, ignore = parsed.ignore, limit = parsed.limit,
    width = parsed.width, color = parsed.color,
  }), fail)
end

return annotate
