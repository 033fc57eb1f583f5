-- What the end of a frame costs: by the nodes that were touched in it, and
-- by those there are.

local hooks = require "bench_hooks"
local profiler = require "cprof"

local fs = {}

-- `width` functions that call one another, `depth` levels of them
local function walk(width, depth)
  for i = 1, width do fs[i](width, depth - 1) end
end

for i = 1, 13 do
  fs[i] = load(([[local fs = ...
    return function(width, depth)
      if depth == 0 then return end
      for i = 1, width do fs[i](width, depth - 1) end
    end]]), "=f" .. i)(fs)
end

local leaves = {}
for i = 1, 1000 do
  leaves[i] = load("return function() end", "=leaf" .. i)()
end

local function touch(n)
  for i = 1, n do leaves[i]() end
end

local function median(list)
  table.sort(list)
  return list[(#list + 1) // 2]
end

-- the median of `rounds` frames, without what reading the clock takes
local function measure(rounds, f, ...)
  local now, frame = hooks.now, profiler.frame
  local times, none = {}, {}
  for i = 1, rounds + 5 do
    f(...)
    local a = now()
    local b = now()
    frame()
    local c = now()
    none[i], times[i] = b - a, c - b
  end
  table.move(times, 6, #times, 1)
  return math.max(0, median(times) - median(none))
end

local DEPTH = 5

local cases = {
  { name = "10 nodes", rounds = 1001, f = touch, n = 10 },
  { name = "1,000 nodes", rounds = 301, f = touch, n = 1000 },
  { name = "100,000 nodes", rounds = 21, f = walk, n = 10 },
  { name = "10 of 400,000 nodes", rounds = 1001, f = touch, n = 10,
    before = 13 },
}

local out = {}
for i, case in ipairs(cases) do
  profiler.start { c_functions = false, recursion = "full" }
  if case.before then
    walk(case.before, DEPTH)
    profiler.frame()
  end
  local ns = measure(case.rounds, case.f, case.n, DEPTH)
  profiler.pause()
  local p = profiler.snapshot()
  local touched = 0
  for _, node in ipairs(p.frames:nodes(0)) do
    if node.calls > 0 or node.total_ns > 0 then touched = touched + 1 end
  end
  profiler.stop()
  out[i] = { name = case.name, ns = ns, touched = touched, states = #p.nodes }
end
return out
