-- cprof coverage: which lines, branches and functions ran.

local input = require "cprof.command.input"
local listing = require "cprof.report.coverage"

local coverage = {
  name = "coverage",
  summary = "Print which lines, branches and functions ran.",
  description = "Print how much of each file ran: lines, branches and " ..
    "functions. For one file, or with --missing, also print what did not run.",
  example = "cprof coverage --missing run.cprof",
}

function coverage.define(parser)
  input.profile(parser, "A profile that was recorded with --coverage")
  parser:argument("SOURCE", "Only this file, named as in reports; also " ..
    "print what did not run."):target "source":args "?"
  parser:flag("--missing", "Print what did not run, for all files.")
  input.page(parser)
end

function coverage.call(parsed, fail)
  input.ordered("coverage", parsed.file, "SOURCE", parsed.source, fail)
  if parsed.file and not parsed.source and
     not input.is_profile(parsed.file) then
    parsed.file, parsed.source = nil, parsed.file
  end
  local profile, named = input.load(parsed.file, fail)
  if profile.meta.mode ~= "count" then
    fail(("%s has no coverage: record it with cprof run --coverage")
      :format(named))
  end
  local text, why = listing.make(profile, {
    missing = parsed.missing, source = parsed.source,
    format = parsed.format, width = parsed.width, color = parsed.color })
  if not text then fail(why) end
  input.print(text, fail)
end

return coverage
