-- cprof coverage: which lines, branches and functions ran.

local input = require "cprof.command.input"
local listing = require "cprof.report.coverage"

local coverage = {
  name = "coverage",
  summary = "Print which lines, branches and functions ran.",
  description = "Print how much of each file ran: lines, branches and " ..
    "functions. For one file, or with --missing, also print what did not run.",
  example = "cprof coverage --missing run.cprof",
  options = {
    input.file "A profile that was recorded with --coverage",
    { "SOURCE?", "Only this file, named as in reports; also print what did " ..
      "not run." },
    { "--missing", "Print what did not run, for all files." },
    input.page,
  },
}

function coverage.call(parsed, fail)
  local file
  file, parsed.source = input.pair("coverage", parsed.file, "SOURCE",
    parsed.source, fail)
  local profile, named = input.load(file, fail)
  if not profile.meta.instructions then
    fail(("%s has no coverage: record it with cprof run --coverage")
      :format(named))
  end
  local text, why = listing.make(profile, parsed)
  if not text then fail(why) end
  input.print(text, fail)
end

return coverage
