-- What the flight recorder costs while nothing is slow: a zone and a frame
-- with a budget, beside those without one; and what it costs to write the last
-- seconds of a recording.

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

local function per_turn(f, options)
  if options then
    options.mode, options.rate = "sample", options.rate or 1000
    profiler.start(options)
  end
  local before = hooks.now()
  f(turns)
  local ns = (hooks.now() - before) / turns
  if options then profiler.stop() end
  return ns
end

local function budgets(on_slow, budget_ms)
  return { keep_last = 10, file = path .. "-%n", on_slow = on_slow,
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
local function written()
  profiler.start { mode = "sample", keep_last = 1 }
  local times, before = {}, hooks.now()
  while hooks.now() - before < 2e9 do zones(1000) end
  for round = 1, 11 do
    local at = hooks.now()
    assert(profiler.dump_recent(path))
    times[round] = hooks.now() - at
  end
  profiler.stop()
  table.sort(times)
  return times[6]
end

ways[#ways + 1] = { name = "the last second, written", ns = written() }
os.remove(path)

return ways
