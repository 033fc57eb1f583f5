-- H: mode "line": half of the time in C, half in a loop of Lua.

local spin = require "accuracy_spin"
local trial = require "trial"

local turns, length = 1000, 100

local function loop()
  local x = 0
  for i = 1, length do
    x = x + i
    x = x * 3 % 1000003
  end
  return x
end

local ticks

local function lua() for _ = 1, turns do loop() end end

local function both()
  for _ = 1, turns do
    loop()
    spin.spin(ticks)
  end
end

---Share of the C function: true, as recorded and compensated, in percent.
return function()
  local own = math.huge
  for _ = 1, 9 do own = math.min(own, trial.time(lua)) end
  ticks = math.floor(own / turns / trial.ns_per_tick)
  local truth, got = {}, { raw = {}, compensated = {}, doubled = {} }
  for round = 1, 9 do
    spin.spun()
    local alone = trial.time(both)
    truth[round] = spin.spun() * trial.ns_per_tick / alone * 100
    for how, p in pairs(trial.record(both, { mode = "line" })) do
      got[how][round] = trial.named(p, "accuracy_spin.spin").self_ns /
        trial.whole(p) * 100
    end
  end
  local out = { truth = trial.median(truth) }
  for how, list in pairs(got) do out[how] = trial.median(list) end
  return out
end
