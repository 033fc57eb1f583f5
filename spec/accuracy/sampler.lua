-- F: agreement with a sampler that knows nothing of hooks.

local spin = require "accuracy_spin"
local trial = require "trial"

local work = spin.work
local functions = {}

for i = 1, 10 do
  functions[i] = assert(load(([[
    local work = ...
    return function(n) work(%d, n * %d) end]]):format(i, 1000 + 370 * i),
    "=sampled " .. i))(work)
end

local function program(turns)
  for turn = 1, turns do
    for i = 1, 10 do functions[i](turn % 7 + 1) end
  end
end

-- of each C call, by the function that made it
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

---Sum of min(p, q), and how many samples there were.
return function()
  local p = reported(trial.record(function() program(500) end).compensated)
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
  local agreement = 0
  for i = 0, 10 do
    agreement = agreement + math.min(p[i] or 0, counts[i] / samples)
  end
  return agreement, samples
end
