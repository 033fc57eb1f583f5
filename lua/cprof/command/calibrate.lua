-- cprof calibrate: what recording costs on this machine.

local input = require "cprof.command.input"
local starting = require "cprof.recording.start"

local calibrate = {
  name = "calibrate",
  summary = "Print what recording costs per event, in ns.",
  description = "Measure and print what recording costs on this machine, " ..
    "in ns per event. Reports subtract these costs from the times. An event " ..
    "has a cost below 0 if it is cheaper than the call that it is part of.",
  example = "cprof calibrate --lines",
  options = {
    { "--lines", "Measure with recording of lines." },
    { "--callsites", "Measure with calls from different lines kept apart." },
    { "--distribution", "Measure with recording of durations of calls." },
    { "--tasks", "Measure with recording of coroutines." },
    { "--clock", "wall: elapsed time; cpu: CPU time.",
      of = starting.options },
  },
}

local costs = {
  { "lua_caller", "call of a Lua function, charged to its caller" },
  { "lua_callee", "call of a Lua function, charged to the function" },
  { "c_caller", "call of a C function, charged to its caller" },
  { "c_callee", "call of a C function, charged to the function" },
  { "unreturned", "call that ended without a return, in addition to the call" },
  { "tail_callee", "tail call, charged to the function" },
  { "resume", "call that resumes a coroutine, in addition to the call" },
  { "coroutine", "first call in a coroutine, in addition to the call" },
  { "begin", "first call in a coroutine, charged to what resumes it" },
  { "made", "call that makes a coroutine, charged to its caller" },
  { "resumer", "resume and yield, charged to the resumer" },
  { "yielder", "resume and yield, charged to the coroutine" },
  { "line", "arrival at a line", lines = true },
  { "step", "instruction that Lua checks for a new line", lines = true },
  { "instruction", "instruction on a recorded line", lines = true },
  { "least", "instruction, minimum time without overhead", lines = true },
}

function calibrate.call(parsed, fail)
  local measured, why = require "cprof".calibrate {
    mode = parsed.lines and "line" or nil, clock = parsed.clock,
    callsites = parsed.callsites, distribution = parsed.distribution,
    tasks = parsed.tasks,
  }
  if not measured then fail(why) end
  local out = { "      ns  per\n" }
  for _, cost in ipairs(costs) do
    -- costs of lines are only measured if lines are recorded
    if parsed.lines or not cost.lines then
      out[#out + 1] = ("%8.1f  %s\n"):format(measured[cost[1]], cost[2])
    end
  end
  input.print(table.concat(out), fail)
end

return calibrate
