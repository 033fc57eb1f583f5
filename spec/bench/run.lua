-- make bench: what recording costs, against the program without it and
-- against the floor, all in one process, in turn. Prints a table; the same
-- figures go to the file that is named as TSV.

local hooks = require "bench_hooks"
local profiler = require "cprof"
local workloads = require "workloads"

local rounds = tonumber(os.getenv "CPROF_ROUNDS") or 21
local only = os.getenv "CPROF_WORKLOAD" or ""

local function timed(f)
  collectgarbage()
  local before = hooks.now()
  f()
  return hooks.now() - before
end

local function under(hook)
  return function(f)
    hooks.set(hook)
    local t = timed(f)
    hooks.set "bare"
    return t
  end
end

-- ways to run a workload, in the order of the columns
local ways = {
  { "bare", timed },
  { "empty", under "empty" },
  { "floor", under "floor" },
  { "asking", under "asking" },
  { "cprof", function(f, options)
    profiler.start(options)
    local t = timed(f)
    profiler.stop()
    return t
  end },
}

local function median(list)
  table.sort(list)
  return list[(#list + 1) // 2]
end

local function measure(workload)
  local times = {}
  for _, way in ipairs(ways) do times[way[1]] = {} end
  for round = 1, workload.rounds or rounds do
    for _, way in ipairs(ways) do
      times[way[1]][round] = way[2](workload.run, workload.options)
    end
  end
  local result = {}
  for name, list in pairs(times) do result[name] = median(list) end
  return result
end

-- (profiled - bare) / (floor - bare), or what else a target is about
local function ratio(workload, t)
  if workload.of == "floor" then return t.cprof / t.floor end
  return (t.cprof - t.bare) / (t.floor - t.bare)
end

local tsv = { "workload\tbare_ns\tempty_ns\tfloor_ns\tasking_ns\t" ..
  "cprof_ns\tratio\ttarget\tstates" }

print(("%-23s %8s %7s %7s %7s %7s %9s %6s %7s %7s"):format("workload",
  "bare ms", "empty", "floor", "asking", "cprof", "slowdown", "ratio",
  "target", "states"))
for _, w in ipairs(workloads) do
  if w.name:find(only, 1, true) then
    local t = measure(w)
    local states, r = #profiler.snapshot().nodes, ratio(w, t)
    print(("%-23s %8.2f %7.2f %7.2f %7.2f %7.2f %8.2fx %6.2f %7.2f %7d")
      :format(w.name, t.bare / 1e6, t.empty / 1e6, t.floor / 1e6,
        t.asking / 1e6, t.cprof / 1e6, t.cprof / t.bare, r, w.target, states))
    tsv[#tsv + 1] = ("%s\t%d\t%d\t%d\t%d\t%d\t%.3f\t%.2f\t%d"):format(
      w.name, t.bare, t.empty, t.floor, t.asking, t.cprof, r, w.target,
      states)
  end
end

if only == "" then
  local p = require "million"
  print(("\n1,000,000 states: %.1f MB, snapshot %.2f s, report %.2f s")
    :format(p.bytes / 1e6, p.snapshot, p.report))
end

if arg[1] then
  local file = assert(io.open(arg[1], "w"))
  file:write(table.concat(tsv, "\n"), "\n")
  file:close()
end
