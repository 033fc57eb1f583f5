-- make bench: what recording costs, against the program without it and
-- against the floor, all in one process, in turn.

local hooks = require "bench_hooks"
local profiler = require "cprof"
local workloads = require "workloads"

local rounds = tonumber(os.getenv "CPROF_ROUNDS") or 15

local function timed(f)
  collectgarbage()
  local before = hooks.now()
  f()
  return hooks.now() - before
end

local ways = {
  bare = timed,
  empty = function(f)
    hooks.set "empty"
    local t = timed(f)
    hooks.set "bare"
    return t
  end,
  floor = function(f)
    hooks.set "floor"
    local t = timed(f)
    hooks.set "bare"
    return t
  end,
  cprof = function(f, options)
    profiler.start(options)
    local t = timed(f)
    profiler.stop()
    return t
  end,
}

local function median(list)
  table.sort(list)
  return list[(#list + 1) // 2]
end

local function measure(workload)
  local times = {}
  for name in pairs(ways) do times[name] = {} end
  for round = 1, rounds do
    for name, way in pairs(ways) do
      times[name][round] = way(workload.run, workload.options)
    end
  end
  local result = {}
  for name, list in pairs(times) do result[name] = median(list) end
  return result
end

local header = ("%-24s %9s %9s %9s %9s %9s %7s %7s"):format("workload",
  "bare ms", "empty ms", "floor ms", "cprof ms", "slowdown", "ratio", "target")
print(header)
local tsv = { "workload\tbare_ns\tempty_ns\tfloor_ns\tcprof_ns\tratio\tnodes" }
for _, w in ipairs(workloads) do if w.name:find(os.getenv "W" or "") then
  local t = measure(w)
  local nodes = #profiler.snapshot().nodes
  local ratio = (t.cprof - t.bare) / (t.floor - t.bare)
  print(("%-24s %9.2f %9.2f %9.2f %9.2f %8.2fx %7.2f %7.2f"):format(w.name,
    t.bare / 1e6, t.empty / 1e6, t.floor / 1e6, t.cprof / 1e6,
    t.cprof / t.bare, ratio, w.target))
  tsv[#tsv + 1] = ("%s\t%d\t%d\t%d\t%d\t%.3f\t%d"):format(w.name, t.bare,
    t.empty, t.floor, t.cprof, ratio, nodes) end
end
