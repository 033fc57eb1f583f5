-- Shared code of commands that print a report, each in another mode.

local input = require "cprof.command.input"
local patterns = require "cprof.text.patterns"
local range = require "cprof.command.range"
local report = require "cprof.report"

local view = {}

---Declares the arguments and options that all of them have.
---@param parser table
---@param limit string  its default, in words
---@param sort string   its default, in words
---@param several? boolean  does the command take several profiles?
function view.define(parser, limit, sort, several)
  if several then
    parser:argument("FILE", "Profiles, or folders with profiles, which are " ..
      "added up; -: standard input. Without it: the last recording.")
      :target "files":args "*"
    range.define(parser)
  else
    input.profile(parser)
  end
  local function option(name, help)
    return input.option(parser, report.options, name, help)
  end
  option("limit", ("Show at most N rows. (default: %s)"):format(limit))
  option("min_percent", "Show only rows with N % of the time or more. " ..
    "(default: 1; 0 with --sort or --filter)")
  option("measure", "Measure self and total as wall time; as the part of it " ..
    "that is CPU time or waiting time; as bytes allocated; allocations; " ..
    "bytes in use, or in use at the peak. (default: wall)")
  option("sort", ("Sort by this figure; alloc, allocs, live, peak: by that " ..
    "measure. (default: %s)"):format(sort))
  input.filter(parser)
  input.page(parser)
end

---Prints the report in that mode.
---@param mode string
---@param parsed table
---@param fail fun(message: string)
---@return cprof.Profile
function view.print(mode, parsed, fail)
  local profile, named
  if parsed.files and not range.single(parsed.files, parsed) then
    profile = range.load(parsed.files, parsed, fail)
  else
    local file = parsed.file or parsed.files and parsed.files[1]
    profile, named = input.load(file, fail, nil, true)
    if file then named = nil end
  end
  local function failed(message)
    fail(named and named .. ": " .. message or message)
  end
  local nothing = report.nothing(profile, parsed.filter and
    patterns.new(parsed.filter))
  if nothing then failed((nothing:gsub("filter", "--filter", 1))) end
  local given = input.given(report.options, parsed)
  given.mode = mode
  input.print(input.ask(failed, profile, "report", given), fail)
  return profile
end

return view
