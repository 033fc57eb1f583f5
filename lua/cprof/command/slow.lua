-- cprof slow: the slowest calls, with their call paths.

local calltimes = require "cprof.profile.calls"
local find = require "cprof.report.find"
local graph = require "cprof.count.graph"
local input = require "cprof.command.input"
local page = require "cprof.report.page"
local period = require "cprof.command.period"
local slowest = require "cprof.report.slow"

local slow = {
  name = "slow",
  summary = "Print the slowest calls, and who made them.",
  description = "Print the calls that took more than twice the median of " ..
    "their function, sorted by how far they exceed it. A call that was slow " ..
    "because of one that it made is left out, unless FUNCTION is given. " ..
    "CPU time and waiting add up to what the call took. That excludes " ..
    "preempted time (other programs had the processor) and overhead, which " ..
    "are shown if they are at least a tenth of it. \"ended at\" is the time " ..
    "since recording began, with pauses and preempted time. " ..
    "cprof keeps the eight slowest calls of each function. The recording " ..
    "needs --distribution; or mode call with --keep-last, as in files of " ..
    "--on-slow: these have the calls of the last seconds. Before what a " ..
    "call took, > means that the call began earlier, or had not ended.",
  usage = "cprof slow [options] [FILE] [FUNCTION]",
  example = "cprof slow run.cprof Server:handle",
  options = {
    input.file(),
    { "FUNCTION?", "Only calls of this function: its name or title, as " ..
      "reports show it." },
    { "--limit N", "Show at most N calls.", type = "integer", min = 1,
      default = 10 },
    period.listing "calls", input.page, input.links,
  },
}

-- the rows of the functions that are wanted
local function rows_of(profile, wanted, fail)
  local rows = graph.functions(profile)
  if not wanted then return rows end
  local row, why = find(rows, wanted)
  if not row then fail(why) end
  return { row }
end

-- the calls of the range that options ask for
local function of_period(profile, calls, parsed, fail)
  local lists, out = period.lists(profile, parsed, fail), {}
  if not lists then return calls end
  for _, c in ipairs(calls) do
    if not c.node then
      fail "it is not known when calls ended: the profile is a sum of several"
    elseif lists(c.ended_ns - c.wall_ns, c.ended_ns) then
      out[#out + 1] = c
    end
  end
  return out
end

-- Durations by the titles of functions, where the calls of the last seconds are
-- known one by one; nil: the functions have them.
local function durations_of(profile, file, fail)
  if profile.meta.distribution then return nil, false end
  local known, yields = calltimes.durations(profile)
  if known then return known, yields
  elseif profile.meta.range then
    fail((profile.samples and "samples do not tell calls apart" or
      "the profile is of a range of time, and has no durations of calls") ..
      input.or_heatmap(profile, file))
  end
  fail("no durations of calls were recorded; record them with cprof run " ..
    "--distribution")
end

function slow.call(parsed, fail)
  local file, wanted = input.pair("slow", parsed.file, "FUNCTION",
    parsed["function"], fail)
  local profile = input.load(file, fail)
  local known, yields = durations_of(profile, file, fail)
  local calls = of_period(profile, slowest.calls(rows_of(profile, wanted,
    fail), known), parsed, fail)
  if not wanted then
    calls = slowest.causes(profile, calls, parsed.limit)
  end
  local on = page.new(parsed, profile)
  if yields then
    on:note("functions that yield are left out: it is not known which of " ..
      "their calls goes on when a coroutine is resumed")
    on:gap()
  end
  if #calls == 0 then
    on:line(("no call%s took more than twice the median of its function")
      :format(period.given(parsed) and " in this time" or ""))
  else
    slowest.show(on, profile, calls, parsed.limit)
  end
  input.print(on:text(), fail)
end

return slow
