-- What the flight recorder costs while nothing is slow: a zone, a frame and a
-- call with a budget, beside those without one; and what it costs to write the
-- last seconds of a recording.

local hooks = require "bench_hooks"
local profiler = require "cprof"

local path = os.tmpname()
local turns <const> = 200000

local function zones(n)
  local zone = profiler.zone
  for _ = 1, n do local _ <close> = zone "z" end
end

local function frames(n)
  local frame = profiler.frame
  for _ = 1, n do frame() end
end

local function nothing() end

local function calls(n)
  for _ = 1, n do nothing() end
end

local function per_turn(f, options)
  if options then
    options.mode = options.mode or "sample"
    profiler.start(options)
  end
  local before = os.clock()  -- without the time of other programs
  f(turns)
  local ns = (os.clock() - before) * 1e9 / turns
  if options then profiler.stop() end
  return ns
end

local function budgets(on_slow, budget_ms, mode)
  return { mode = mode, keep_last = 10, file = path .. "-%n", on_slow = on_slow,
    slow_frames = budget_ms and { budget_ms = budget_ms } }
end

local ways = {
  { name = "zone, nothing recorded", run = zones },
  { name = "zone, mode sample", run = zones, options = {} },
  { name = "zone, keep_last", run = zones, options = { keep_last = 10 } },
  { name = "zone with a budget", run = zones,
    options = budgets { z = 1000 } },
  { name = "frame, mode sample", run = frames, options = {} },
  { name = "frame with a budget", run = frames, options = budgets(nil, 1e6) },
  { name = "call, nothing recorded", run = calls },
  { name = "call, mode call", run = calls, options = { mode = "call" } },
  { name = "call, keep_last", run = calls,
    options = { mode = "call", keep_last = 10 } },
  { name = "call, distribution", run = calls,
    options = { mode = "call", distribution = true } },
  { name = "call with a budget", run = calls,
    options = budgets({ nothing = 1000 }, nil, "call") },
}

for _, way in ipairs(ways) do way.times = {} end
for round = 1, 11 do
  for _, way in ipairs(ways) do
    way.times[round] = per_turn(way.run, way.options)
  end
end
for _, way in ipairs(ways) do
  table.sort(way.times)
  way.ns = way.times[6]
end

-- writes the last one of two seconds
local function written(mode, run)
  profiler.start { mode = mode, keep_last = 1 }
  local times, before = {}, hooks.now()
  while hooks.now() - before < 2e9 do run(1000) end
  for round = 1, 11 do
    local at = os.clock()
    assert(profiler.dump_recent(path))
    times[round] = (os.clock() - at) * 1e9
  end
  profiler.stop()
  table.sort(times)
  return times[6]
end

ways[#ways + 1] = { name = "the last second, written",
  ns = written("sample", zones) }
ways[#ways + 1] = { name = "its calls, written", ns = written("call", calls) }
os.remove(path)

return ways
