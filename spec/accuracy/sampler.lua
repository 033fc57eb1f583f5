-- F: agreement with a sampler that knows nothing of hooks.

local spin = require "accuracy_spin"
local trial = require "trial"

-- C functions that take from 80 ns to 1.7 us, the shorter ones more often. Each
-- is called by a Lua function of its own, which tells it apart.
local work, functions = spin.work, {}

for i = 1, 10 do
  local ns = 80 * 1.4 ^ (i - 1)
  functions[i] = assert(load(([[
    local work, ticks = ...
    return function()
      for _ = 1, %d do work(%d, ticks) end
    end]]):format(math.floor((5 + i) * 1000 / ns), i), "=sampled " .. i))(work,
    math.floor(ns / trial.ns_per_tick))
end

local function program(turns)
  for _ = 1, turns do
    for i = 1, 10 do functions[i]() end
  end
end

-- the shares of the C calls, by the Lua function that makes them
local function reported(p)
  local of, whole = {}, trial.whole(p)
  local rest = 1
  for _, node in ipairs(p.nodes) do
    local caller = node.parent > 0 and p.nodes[node.parent].func
    local number = caller and p.functions[caller].source:match "^=sampled (%d+)"
    if number and p.functions[node.func].kind == "C" then
      local share = node.self_ns / whole
      of[tonumber(number)] = (of[tonumber(number)] or 0) + share
      rest = rest - share
    end
  end
  of[0] = rest
  return of
end

---By way of compensating: how far the recorded shares p and the sampled shares
---q agree, as the sum of min(p, q); and the number of samples.
return function()
  local shares = {}
  for how, p in pairs(trial.record(function() program(500) end)) do
    shares[how] = reported(p)
  end
  local counts, samples = {}, 0
  repeat
    spin.sample(true)
    program(3000)
    local got = spin.sample(false)
    for i = 0, 10 do
      counts[i] = (counts[i] or 0) + got[i]
      samples = samples + got[i]
    end
  until samples >= 20000
  local agreement = {}
  for how, p in pairs(shares) do
    agreement[how] = 0
    for i = 0, 10 do
      agreement[how] = agreement[how] + math.min(p[i] or 0,
        counts[i] / samples)
    end
  end
  return agreement, samples
end
