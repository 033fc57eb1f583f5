-- cprof calibrate: what recording costs on this machine.

local input = require "cprof.command.input"

local calibrate = {
  name = "calibrate",
  summary = "Print what recording costs per event, in ns.",
  description = "Measure and print what recording costs on this machine, " ..
    "in ns per event: what a report takes out of the times. A figure below " ..
    "0 belongs to an event that costs less than the calls it is part of.",
  example = "cprof calibrate --lines",
}

function calibrate.define(parser)
  parser:flag("--lines", "When lines are recorded, too.")
  parser:flag("--callsites", "When calls from different lines are told " ..
    "apart.")
  parser:option("--clock", "wall, or the processor time: cpu.")
    :choices { "wall", "cpu" }:default "wall"
end

local costs = {
  { "lua_caller", "a call of a Lua function, to its caller" },
  { "lua_callee", "and to the function itself" },
  { "c_caller", "a call of a C function, to its caller" },
  { "c_callee", "and to the function itself" },
  { "unreturned", "less for the caller, where an error ends the call" },
  { "tail_callee", "a tail call" },
  { "node", "a call that makes a call-tree node" },
  { "resume", "resuming a coroutine, beyond the call" },
  { "coroutine", "resuming it for the first time, beyond that" },
  { "resumer", "a yield, to the one who resumed" },
  { "yielder", "and to the coroutine" },
  { "line", "coming to a line", lines = true },
  { "step", "and for each instruction that Lua looks at to find it",
    lines = true },
  { "instruction", "an instruction, on a line that is counted",
    lines = true },
  { "least", "what is left to each instruction there", lines = true },
}

function calibrate.call(parsed, fail)
  local measured, why = require "cprof".calibrate {
    mode = parsed.lines and "line" or nil, clock = parsed.clock,
    callsites = parsed.callsites,
  }
  if not measured then fail(why) end
  local out = { "      ns  per\n" }
  for _, cost in ipairs(costs) do
    -- what belongs to lines is measured with them
    if parsed.lines or not cost.lines then
      out[#out + 1] = ("%8.1f  %s\n"):format(measured[cost[1]], cost[2])
    end
  end
  input.print(table.concat(out), fail)
end

return calibrate
