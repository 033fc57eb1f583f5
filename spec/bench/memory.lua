-- What it costs to count allocations, to know what is in use, and to time
-- the collector, on programs that do hardly anything but allocate.

local core = require "cprof.core"
local hooks = require "bench_hooks"
local profiler = require "cprof"

local function tables(n)
  local live = {}
  for i = 1, n do live[i % 1000] = { i, x = i } end
  return live
end

local function strings(n)
  local s
  for i = 1, n do s = "name" .. i end
  return s
end

local function calls(n)
  local function make(i) return { i } end
  for i = 1, n do make(i) end
end

local workloads = {
  { name = "tables", run = function() tables(200000) end, allocs = 600000 },
  { name = "strings", run = function() strings(200000) end,
    allocs = 400000 },
  { name = "a call per table", run = function() calls(200000) end,
    allocs = 400000 },
}

local ways = {
  { name = "off" },
  { name = "memory", memory = true },
  { name = "live", memory = "live" },
  { name = "all blocks", memory = "live", memory_interval = 1 },
}
if core.drives() then table.insert(ways, 2, { name = "gc", gc = true }) end

-- mode sample neither counts all blocks nor times the collector
local function possible(way, mode)
  return mode ~= "sample" or not (way.gc or way.memory_interval)
end

local function once(workload, way, mode)
  collectgarbage()
  if way then
    profiler.start { mode = mode, memory = way.memory, gc = way.gc,
      memory_interval = way.memory_interval }
  end
  local before = hooks.now()
  workload.run()
  local took = hooks.now() - before
  profiler.stop()
  return took
end

local function median(list)
  table.sort(list)
  return list[(#list + 1) // 2]
end

local rows = {}
for _, mode in ipairs { "call", "line", "sample" } do
  for _, workload in ipairs(workloads) do
    local row = { name = workload.name, mode = mode, allocs = workload.allocs,
                  ways = ways, ns = {} }
    local times = { bare = {} }
    for _, way in ipairs(ways) do
      times[way.name] = possible(way, mode) and {} or nil
    end
    for round = 1, tonumber(os.getenv "CPROF_ROUNDS") or 21 do
      times.bare[round] = once(workload)
      for _, way in ipairs(ways) do
        if possible(way, mode) then
          times[way.name][round] = once(workload, way, mode)
        end
      end
    end
    for name, list in pairs(times) do row.ns[name] = median(list) end
    rows[#rows + 1] = row
  end
end

return rows
