-- cprof tasks: what coroutines did.

local find = require "cprof.report.find"
local format = require "cprof.text.format"
local graph = require "cprof.count.graph"
local input = require "cprof.command.input"
local page = require "cprof.report.page"
local period = require "cprof.command.period"
local shown = require "cprof.report.tasks"

local tasks = {
  name = "tasks",
  summary = "Print which coroutines ran, and where they were suspended.",
  description = "Print a row for each kind of coroutine: the function that " ..
    "runs in it, and where it was made. A slice is the time from a resume " ..
    "to the next yield: coroutines with long slices keep the others " ..
    "waiting. Below are the longest slices, with the call paths at their " ..
    "ends, and the call paths in which coroutines were suspended. The " ..
    "recording must be made with cprof run --tasks. One made with --sample " ..
    "says how long coroutines ran, by the function that runs in them, and " ..
    "an upper bound of how long they ran at a time; what samples do not " ..
    "know is shown as \"-\".",
  usage = "cprof tasks [options] [FILE] [FUNCTION]",
  example = "cprof tasks run.cprof handler",
  options = {
    input.file(),
    { "FUNCTION?", "Only coroutines that run this function: its name or " ..
      "title, as reports show it." },
    { "--limit N", "Show at most N rows of each table.", type = "integer",
      min = 1, default = 10 },
    period.options, input.page,
  },
}

-- the tasks that run the function that is wanted
local function of_function(profile, wanted, fail)
  local row, why = find(graph.functions(profile), wanted)
  if not row then fail(why) end
  local out = shown.of_function(profile, row)
  if #out == 0 then
    fail(("no coroutine ran %s: see cprof tasks"):format(
      format.plain(row.title)))
  end
  return out
end

function tasks.call(parsed, fail)
  local file, wanted = input.pair("tasks", parsed.file, "FUNCTION",
    parsed["function"], fail)
  local profile = period.of(input.load(file, fail), parsed, fail)
  local sampled = profile.samples ~= nil
  if profile.meta.range and not sampled then
    fail("the profile is of a range of time, in which tasks are known only " ..
      "from samples")
  elseif not profile.meta.tasks and not sampled then
    fail "no tasks were recorded; record them with cprof run --tasks"
  end
  local list = wanted and of_function(profile, wanted, fail) or
    profile.tasks or {}
  local on = page.new(parsed, profile)
  if #list == 0 then
    on:line(sampled and "no sample found a running coroutine that " ..
      "coroutine.resume or coroutine.wrap had resumed" or
      "no coroutine was made or resumed")
  elseif sampled then shown.sampled(on, profile, list, parsed.limit)
  else shown.show(on, profile, list, parsed.limit) end
  input.print(on:text(), fail)
end

return tasks
