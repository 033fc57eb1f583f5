-- Shared code of commands that print a report, each in another mode.

local input = require "cprof.command.input"
local labelled = require "cprof.command.labelled"
local measure = require "cprof.count.measure"
local patterns = require "cprof.text.patterns"
local period = require "cprof.command.period"
local processes = require "cprof.command.processes"
local range = require "cprof.command.range"
local report = require "cprof.report"

local view = {}

local specs <const> = report.options

---The options that limit a report to a part of the call tree.
---@type cprof.CommandOption[]
view.part = {
  { "--root FUNCTION", "Show only what this function calls, wherever it " ..
    "was called." },
  { "--depth N", "Show at most N levels. (default: all)", of = specs },
}

---The arguments and options that all of them have.
---@param limit string  its default, in words
---@param sort string   its default, in words
---@param several? boolean  whether the command takes several profiles
---@return (cprof.CommandOption|cprof.CommandOption[])[]
function view.options(limit, sort, several)
  return {
    several and {
      { "FILE*", "Profiles, or folders with profiles, which are added up; " ..
        "-: standard input. Without it: the last recording.",
        target = "files" },
      range.options,
    } or input.file(),
    { "--limit N", ("Show at most N rows. (default: %s)"):format(limit),
      of = specs },
    { "--min-percent N", "Show only rows with N % of the time or more. " ..
      "(default: 1; 0 with --sort or --filter)", of = specs },
    { "--measure", ("Measure of self and total: %s. (default: wall)"):format(
      measure.words()), of = specs },
    { "--sort FIGURE", ("Sort by this: %s; max is the longest call, a " ..
      "measure means its self figure. (default: %s)"):format(
      table.concat(specs.sort.values, ", "), sort), of = specs },
    period.options, labelled.option, input.filter, input.page, { input.links },
  }
end

---Prints the report in that mode.
---@param mode string
---@param parsed table
---@param fail fun(message: string)
---@return cprof.Profile
function view.print(mode, parsed, fail)
  local profile, named
  if parsed.files and not range.single(parsed.files, parsed) then
    if period.given(parsed) then
      fail "--from and --to need one profile: a sum has no time axis"
    end
    local all, _, list, paths = range.load(parsed.files, parsed, fail)
    profile = all
    if #list > 1 and processes.related(list) then
      input.print(processes.tree(list, paths) .. "\n", fail)
    end
  else
    local file = parsed.file or parsed.files and parsed.files[1]
    profile, named = input.load(file, fail, nil, true)
    if file then named = nil end
    profile = period.of(profile, parsed, fail)
  end
  profile = labelled.of(profile, parsed, fail)
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
