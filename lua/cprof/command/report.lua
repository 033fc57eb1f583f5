-- cprof report: functions by time.

local input = require "cprof.command.input"
local labelled = require "cprof.command.labelled"
local page = require "cprof.report.page"
local period = require "cprof.command.period"
local range = require "cprof.command.range"
local summary = require "cprof.command.summary"
local view = require "cprof.command.view"

-- modes of the library's reports that are commands here
local commands = { tree = true, flame = true, callgraph = true }

local modes = { "summary", "self", "total", "file" }

local function mode(value)
  for _, known in ipairs(modes) do
    if known == value then return value end
  end
  return nil, commands[value] and ("one of %s (cprof %s is a command)"):format(
    table.concat(modes, ", "), value)
end

local report = {
  name = "report",
  summary = "Print where the time goes: functions, and the hottest path.",
  example = "cprof report --mode self --limit 20 run.cprof",
  options = {
    view.options("30; for the summary, as many as fit",
      "self; total with --mode=total", true),
    { "--mode " .. table.concat(modes, "|"), "Print the summary on one " ..
      "screen; functions by self or by total time; or functions by file.",
      read = mode, must = "one of " .. table.concat(modes, ", "),
      default = "summary" },
    { "--height N", "Fit the summary to N rows. (default: the rows of the " ..
      "terminal; without a terminal, 40)", of = page.options },
  },
}

function report.call(parsed, fail)
  if #parsed.files == 0 and (parsed.since or parsed["until"]) then
    fail "--since and --until need files, or a folder"
  end
  local profile = view.print(parsed.mode, parsed, fail)
  local file = parsed.files[1]
  if parsed.mode == "summary" and file ~= "-" and
     parsed.format ~= "markdown" and range.single(parsed.files, parsed) then
    local words = period.words(parsed)
    table.move(labelled.words(parsed), 1, #parsed.label, #words + 1, words)
    local line = summary.next(profile, file, words)
    if line then input.print(("\n%s\n"):format(line), fail) end
  end
end

return report
