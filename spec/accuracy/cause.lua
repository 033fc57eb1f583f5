-- E: one function after the other does twice its work; and
-- G: the same program is recorded twenty times.

local trial = require "trial"

local size = {}
local functions = {}

for i = 1, 10 do
  size[i] = 400 + 230 * i
  functions[i] = assert(load(([[
    local size = ...
    return function()
      local x = 0
      for i = 1, size[%d] do x = x + i * %d end
      return x
    end]]):format(i, i), "=function " .. i))(size)
end

local function program(turns)
  for _ = 1, turns do
    for i = 1, 10 do functions[i]() end
  end
end

local cause = {}

---Of each function: reported change / true change.
function cause.changes()
  local out = {}
  local function once() program(100) end
  for i = 1, 10 do
    local small = size[i]
    local wall = { math.huge, math.huge }
    local self = { math.huge, math.huge }
    for _ = 1, 15 do
      for times = 1, 2 do
        size[i] = small * times
        wall[times] = math.min(wall[times], trial.time(once))
        local p = trial.record(once).compensated
        self[times] = math.min(self[times],
          trial.find(p, functions[i]).self_ns)
      end
    end
    size[i] = small
    out[i] = (self[2] - self[1]) / (wall[2] - wall[1])
  end
  return out
end

local function shape(p)
  local out = {}
  for _, node in ipairs(p.nodes) do
    local f = p.functions[node.func]
    if f.source:find "^=function" then
      out[#out + 1] = f.title .. " " .. node.calls
    end
  end
  return table.concat(out, "\n")
end

---Of twenty runs: different trees, different hottest functions, and the
---largest spread of a function's share, in points.
function cause.runs()
  local trees, hottest, shares = {}, {}, {}
  local count = { trees = 0, hottest = 0 }
  for run = 1, 20 do
    local p = trial.record(function() program(600) end).compensated
    local most, which = -1, 0
    for i = 1, 10 do
      local f = trial.find(p, functions[i])
      shares[i] = shares[i] or {}
      shares[i][run] = f.self_ns / trial.whole(p) * 100
      if f.self_ns > most then most, which = f.self_ns, i end
    end
    local tree = shape(p)
    if not trees[tree] then count.trees = count.trees + 1 end
    if not hottest[which] then count.hottest = count.hottest + 1 end
    trees[tree], hottest[which] = true, true
  end
  local spread = 0
  for i = 1, 10 do
    spread = math.max(spread, math.max(table.unpack(shares[i])) -
      math.min(table.unpack(shares[i])))
  end
  return count.trees, count.hottest, spread
end

return cause
