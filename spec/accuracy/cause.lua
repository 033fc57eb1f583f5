-- Experiment E: do twice the work in one function, then in the next, and see
-- whether the right one is blamed. Experiment G: record one program 20 times.

local trial = require "trial"

-- functions that do some work, and call others in many ways

local size = {}
for i = 1, 10 do size[i] = i < 10 and 200 + 20 * i or 500 end

local function helper(x) return x + 1 end

local object = {}
function object:helper(x) return x + 1 end

local function varargs(...)
  local a, b = ...
  return a + b
end

local function tail(x) return helper(x) end

local functions = {}

functions[1] = function()
  local x = 0
  for i = 1, size[1] do
    x = helper(x)
    x = (((x * 3 + i) % 65537 * 5 + i) % 32749 * 7 + i) % 16381 * 11 % 8191
    x = x + i % 3 + i % 5 + i % 7 + i % 11 + i % 13
  end
  return x
end

functions[2] = function()
  local x = 0
  for i = 1, size[2] do
    x = object:helper(x)
    x = (((x * 3 + i) % 65537 * 5 + i) % 32749 * 7 + i) % 16381 * 11 % 8191
    x = x + i % 3 + i % 5 + i % 7 + i % 11 + i % 13
  end
  return x
end

functions[3] = function()
  local x = 0
  for i = 1, size[3] do
    x = math.abs(x)
    x = (((x * 3 + i) % 65537 * 5 + i) % 32749 * 7 + i) % 16381 * 11 % 8191
    x = x + i % 3 + i % 5 + i % 7 + i % 11 + i % 13
  end
  return x
end

functions[4] = function()
  local x = 0
  for i = 1, size[4] do
    x = ("cause"):byte(x % 5 + 1)
    x = (((x * 3 + i) % 65537 * 5 + i) % 32749 * 7 + i) % 16381 * 11 % 8191
    x = x + i % 3 + i % 5 + i % 7 + i % 11 + i % 13
  end
  return x
end

functions[5] = function()
  local x = 0
  for i = 1, size[5] do
    x = select("#", x, i)
    x = (((x * 3 + i) % 65537 * 5 + i) % 32749 * 7 + i) % 16381 * 11 % 8191
    x = x + i % 3 + i % 5 + i % 7 + i % 11 + i % 13
  end
  return x
end

functions[6] = function()
  local x = 0
  for i = 1, size[6] do
    x = varargs(x, i)
    x = (((x * 3 + i) % 65537 * 5 + i) % 32749 * 7 + i) % 16381 * 11 % 8191
    x = x + i % 3 + i % 5 + i % 7 + i % 11 + i % 13
  end
  return x
end

functions[7] = function()
  local x = 0
  for i = 1, size[7] do
    x = tail(x)
    x = (((x * 3 + i) % 65537 * 5 + i) % 32749 * 7 + i) % 16381 * 11 % 8191
    x = x + i % 3 + i % 5 + i % 7 + i % 11 + i % 13
  end
  return x
end

functions[8] = function()
  local x = 0
  for i = 1, size[8] do
    local f = function() return x end
    x = f()
    x = (((x * 3 + i) % 65537 * 5 + i) % 32749 * 7 + i) % 16381 * 11 % 8191
    x = x + i % 3 + i % 5 + i % 7 + i % 11 + i % 13
  end
  return x
end

functions[9] = function()
  local x = 0
  for i = 1, size[9] do
    local _, y = pcall(helper, x)
    x = y
    x = (((x * 3 + i) % 65537 * 5 + i) % 32749 * 7 + i) % 16381 * 11 % 8191
    x = x + i % 3 + i % 5 + i % 7 + i % 11 + i % 13
  end
  return x
end

functions[10] = function()
  local x = 0
  for i = 1, size[10] do
    x = helper(helper(x))
    x = (((x * 3 + i) % 65537 * 5 + i) % 32749 * 7 + i) % 16381 * 11 % 8191
    x = x + i % 3 + i % 5 + i % 7 + i % 11 + i % 13
  end
  return x
end

local function program(turns)
  for _ = 1, turns do
    for i = 1, #functions do functions[i]() end
  end
end

local cause = {}

---By function and by way of compensating: the reported change of its total,
---divided by the true one.
function cause.changes()
  local out = {}
  local function once() program(8) end
  local before = { table.unpack(size) }
  for i = 1, #functions do
    for k = 1, #functions do size[k] = k == i and 600 or 60 end
    local wall, total = {}, { raw = {}, compensated = {}, doubled = {} }
    for round = 1, 61 do
      wall[round] = 0
      for how in pairs(total) do total[how][round] = 0 end
      for turn = 1, 2 do
        local times = round % 2 == 0 and turn or 3 - turn
        size[i] = 600 * times
        local sign = times == 1 and -1 or 1
        wall[round] = wall[round] + sign * trial.time(once)
        for how, p in pairs(trial.record(once)) do
          total[how][round] = total[how][round] +
            sign * trial.find(p, functions[i]).total_ns
        end
      end
    end
    out[i] = {}
    for how, list in pairs(total) do
      out[i][how] = trial.median(list) / trial.median(wall)
    end
  end
  table.move(before, 1, #before, 1, size)
  return out
end

local function shape(p)
  local out = {}
  for _, node in ipairs(p.nodes) do
    local f = p.functions[node.func]
    if f.kind == "Lua" and f.source:find "cause.lua$" then
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
    local p = trial.record(function() program(1600) end).compensated
    local most, which = -1, 0
    for i = 1, #functions do
      local f = trial.find(p, functions[i])
      shares[i] = shares[i] or {}
      shares[i][run] = f.total_ns / trial.whole(p) * 100
      if f.total_ns > most then most, which = f.total_ns, i end
    end
    local tree = shape(p)
    if not trees[tree] then count.trees = count.trees + 1 end
    if not hottest[which] then count.hottest = count.hottest + 1 end
    trees[tree], hottest[which] = true, true
  end
  local spread = 0
  for i = 1, #functions do
    spread = math.max(spread, math.max(table.unpack(shares[i])) -
      math.min(table.unpack(shares[i])))
  end
  return count.trees, count.hottest, spread
end

return cause
