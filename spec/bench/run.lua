-- make bench: what recording costs, against the program without it and
-- against the floor, all in one process, in turn. Prints tables. Writes the
-- figures to the first file that is named, as TSV, and ratios with their noise
-- to the second one, as JSON.

local hooks = require "bench_hooks"
local json = require "dkjson"
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

local function recorded(more)
  return function(f, options)
    local all = {}
    for key, value in pairs(options or {}) do all[key] = value end
    for key, value in pairs(more) do all[key] = value end
    profiler.start(all)
    local t = timed(f)
    profiler.stop()
    return t
  end
end

local function median(list)
  table.sort(list)
  return list[(#list + 1) // 2]
end

-- how well the ratios of a few rounds tell the median of many: half the
-- notch of a box plot (McGill, Tukey, Larsen 1978)
local function noise(ratios)
  table.sort(ratios)
  local n = #ratios
  local low, high = ratios[(n + 3) // 4], ratios[n - (n - 1) // 4]
  return 1.57 * (high - low) / n ^ 0.5
end

local held = {}

-- Keeps the ratio of a workload, for make bench-check. `t` is from
-- `measure`; `of` gives the ratio of one time for each way.
local function hold(mode, workload, t, of)
  local ratios = {}
  for round in ipairs(t.all.bare) do
    local one = {}
    for name, list in pairs(t.all) do one[name] = list[round] end
    ratios[round] = of(one)
  end
  held[#held + 1] = { mode = mode, workload = workload, ratio = of(t),
    noise = noise(ratios) }
  return of(t)
end

local function of_floor(t) return t.cprof / t.floor end
local function over_floor(t) return (t.cprof - t.bare) / (t.floor - t.bare) end
local function of_line(t) return t.count / t.line end

-- the medians of all ways to run a workload; `all` has the times, by round
local function measure(workload, ways)
  local times, result = {}, {}
  for name in pairs(ways) do times[name] = {} end
  for round = 1, workload.rounds or rounds do
    for name, way in pairs(ways) do
      times[name][round] = way(workload.run, workload.options)
    end
  end
  for name, list in pairs(times) do
    result[name] = median { table.unpack(list) }
  end
  result.all = times
  return result
end

local tsv = { "mode\tworkload\tbare_ns\tempty_ns\tfloor_ns\tasking_ns\t" ..
  "cprof_ns\tratio\tnodes" }

local function wanted(w)
  return w.name:find(only, 1, true)
end

local calls = { bare = timed, empty = under "empty", floor = under "floor",
                asking = under "asking", cprof = recorded {} }

print(("%-23s %8s %7s %7s %7s %7s %9s %6s %7s"):format("workload",
  "bare ms", "empty", "floor", "asking", "cprof", "slowdown", "ratio",
  "nodes"))
for _, w in ipairs(workloads) do
  if wanted(w) then
    local t = measure(w, calls)
    local states = #profiler.snapshot().nodes
    -- the ratio of a real program is cprof / floor
    local r = hold("call", w.name, t, w.real and of_floor or over_floor)
    print(("%-23s %8.2f %7.2f %7.2f %7.2f %7.2f %8.2fx %6.2f %7d")
      :format(w.name, t.bare / 1e6, t.empty / 1e6, t.floor / 1e6,
        t.asking / 1e6, t.cprof / 1e6, t.cprof / t.bare, r, states))
    tsv[#tsv + 1] = ("call\t%s\t%d\t%d\t%d\t%d\t%d\t%.3f\t%d")
      :format(w.name, t.bare, t.empty, t.floor, t.asking, t.cprof, r,
        states)
  end
end

local lines = { bare = timed, floor = under "line floor",
                cprof = recorded { mode = "line" } }

print(("\n%-23s %8s %7s %7s %9s %6s"):format("mode line", "bare ms",
  "floor", "cprof", "slowdown", "ratio"))
for _, w in ipairs(workloads.lines) do
  if wanted(w) then
    local t = measure(w, lines)
    local r = hold("line", w.name, t, over_floor)
    print(("%-23s %8.2f %7.2f %7.2f %8.2fx %6.2f"):format(w.name,
      t.bare / 1e6, t.floor / 1e6, t.cprof / 1e6, t.cprof / t.bare, r))
    tsv[#tsv + 1] = ("line\t%s\t%d\t\t%d\t\t%d\t%.3f\t")
      :format(w.name, t.bare, t.floor, t.cprof, r)
  end
end

-- every instruction, beside mode line on the same work
local counting = { bare = timed, line = recorded { mode = "line" },
                   count = recorded { mode = "count" } }

print(("\n%-23s %8s %7s %7s %9s %9s"):format("mode count", "bare ms",
  "line", "count", "slowdown", "of line"))
for _, w in ipairs(workloads.lines) do
  if wanted(w) then
    local t = measure(w, counting)
    local r = hold("count", w.name, t, of_line)
    print(("%-23s %8.2f %7.2f %7.2f %8.2fx %9.2f"):format(w.name,
      t.bare / 1e6, t.line / 1e6, t.count / 1e6, t.count / t.bare, r))
    tsv[#tsv + 1] = ("count\t%s\t%d\t\t%d\t\t%d\t%.3f\t")
      :format(w.name, t.bare, t.line, t.count, r)
  end
end

-- Samples cost little. So one recording has many runs, and processor times are
-- compared.
local rates <const> = { 100, 1000, 10000 }

local function spent(f, n)
  collectgarbage()
  local before = os.clock()
  for _ = 1, n do f() end
  return os.clock() - before
end

local function sampled(rate)
  return function(f, n)
    profiler.start { mode = "sample", rate = rate }
    f()
    local t = spent(f, n)
    profiler.stop()
    return t
  end
end

local sampling = { bare = spent, again = spent }
for _, rate in ipairs(rates) do sampling[rate] = sampled(rate) end

print(("\n%-23s %8s %8s %8s %8s %8s"):format("mode sample, cost in %",
  "bare s", "dormant", "100 Hz", "1 kHz", "10 kHz"))
for _, w in ipairs(workloads) do
  if wanted(w) then
    local seconds = tonumber(os.getenv "CPROF_SECONDS") or 2
    local n = math.ceil(seconds / 8 / spent(w.run, 1))
    local sums = measure({ rounds = 8, run = w.run, options = n }, sampling)
    local function cost(way) return 100 * (sums[way] / sums.bare - 1) end
    print(("%-23s %8.2f %8.2f %8.2f %8.2f %8.2f"):format(w.name, sums.bare,
      cost "again", cost(100), cost(1000), cost(10000)))
    for _, rate in ipairs(rates) do
      tsv[#tsv + 1] = ("sample %d\t%s\t%d\t\t\t\t%d\t%.4f\t"):format(rate,
        w.name, sums.bare * 1e9 // 1, sums[rate] * 1e9 // 1,
        sums[rate] / sums.bare)
    end
  end
end

-- lines of a source that takes a small part of the time
for _, w in ipairs(workloads) do
  if w.some and wanted(w) then
    local by_lines = recorded { mode = "line", lines = w.some }
    local t = measure(w, { call = recorded {}, cprof = by_lines })
    by_lines(w.run)
    local p, some = profiler.snapshot(), 0
    for _, file in pairs(p.lines) do
      for _, line in ipairs(file) do some = some + line.self_ns end
    end
    print(("%-23s %.2f ms, %.2fx mode call, %.1f %% of the time")
      :format(w.name .. ", some", t.cprof / 1e6, t.cprof / t.call,
        some / p.nodes[1].total_ns * 100))
  end
end

if only == "" then
  local rows = require "waits"
  print(("\n%-23s %6s %6s %6s %6s %8s %6s %6s %6s"):format(
    ("of %d waits of %d ms"):format(rows[1].count, rows[1].ms), "wall", "cpu",
    "thread", "auto", "signals", "cpu", "thread", "auto"))
  for _, w in ipairs(rows) do
    print(("%-23s %6d %6d %6d %6d %8d %6d %6d %6d"):format(w.name,
      w.wall.ended, w.cpu.ended, w.thread.ended, w.auto.ended,
      w.wall.signals, w.cpu.signals, w.thread.signals, w.auto.signals))
    for _, timer in ipairs { "thread", "auto" } do
      tsv[#tsv + 1] = ("waits that end early, timer %s\t%s\t%d\t\t\t\t%d\t\t")
        :format(timer, w.name, w.wall.ended, w[timer].ended)
    end
  end

  print(("\n%-23s %8s %9s %9s"):format("samples by stack depth", "us each",
    "samples", "a second"))
  for _, row in ipairs(require "depths") do
    print(("%-23s %8.1f %9d %9.0f"):format(("%d frames"):format(row.depth),
      row.ns / 1e3, row.samples, row.rate))
    tsv[#tsv + 1] = ("sample at a depth\t%d\t\t\t\t\t%d\t\t"):format(row.depth,
      row.ns // 1)
  end

  print(("\n%-27s %6s %12s %11s"):format("stops of cprof attach", "stops",
    "median, us", "longest, us"))
  for _, row in ipairs(require "stops") do
    print(("%-27s %6d %12.1f %11.1f"):format(row.name, row.stops,
      row.median / 1e3, row.worst / 1e3))
    tsv[#tsv + 1] = ("stop of attach\t%s\t\t\t\t\t%d\t\t"):format(row.name,
      row.median)
  end
end

-- a file instead of memory
local path = os.tmpname()
local into = { memory = recorded {}, file = recorded { file = path } }

print(("\n%-23s %8s %7s %6s"):format("into a file", "memory", "file",
  "ratio"))
for _, w in ipairs(workloads) do
  if wanted(w) then
    local t = measure(w, into)
    print(("%-23s %8.2f %7.2f %6.2f"):format(w.name, t.memory / 1e6,
      t.file / 1e6, t.file / t.memory))
    tsv[#tsv + 1] = ("file\t%s\t\t\t%d\t\t%d\t%.3f\t\t"):format(w.name,
      t.memory, t.file, t.file / t.memory)
  end
end
os.remove(path)

if only == "" then
  local p = require "million"
  print(("\n1,000,000 states: %.1f MB, snapshot %.2f s, report %.2f s")
    :format(p.bytes / 1e6, p.snapshot, p.report))
  print(("the same in a file: %.1f MB, load %.2f s, report %.2f s")
    :format(p.file_bytes / 1e6, p.load, p.load_report))
end

if only == "" then
  print(("\n%-23s %10s %11s %8s"):format("frame", "ns", "ns/touched",
    "states"))
  for _, f in ipairs(require "frames") do
    print(("%-23s %10d %11.1f %8d"):format(f.name, f.ns, f.ns / f.touched,
      f.states))
    tsv[#tsv + 1] = ("frame\t%s\t\t\t\t\t%d\t%.1f\t\t%d")
      :format(f.name, f.ns, f.ns / f.touched, f.states)
  end
end

if only == "" then
  local rows = require "memory"
  io.write(("\n%-23s %8s"):format("allocations", "bare ms"))
  for _, way in ipairs(rows[1].ways) do
    io.write((" %10s"):format(way.name))
  end
  print(("  %s"):format("ns per allocation: memory"))
  for _, row in ipairs(rows) do
    io.write(("%-23s %8.2f"):format(("%s, %s"):format(row.name, row.mode),
      row.ns.bare / 1e6))
    for _, way in ipairs(row.ways) do
      local ns = row.ns[way.name]
      io.write((" %10s"):format(ns and ("%.2f"):format(ns / 1e6) or "-"))
      tsv[#tsv + 1] = ns and
        ("memory\t%s, %s, %s\t%d\t\t%d\t\t%d\t%.3f\t"):format(row.name,
          row.mode, way.name, row.ns.bare, row.ns.off, ns, ns / row.ns.off)
    end
    print(("  %.1f"):format((row.ns.memory - row.ns.off) / row.allocs))
  end
end

if only == "" then
  print(("\n%-25s %10s"):format("flight recorder", "ns"))
  for _, z in ipairs(require "recent") do
    print(("%-25s %10.2f"):format(z.name, z.ns))
    tsv[#tsv + 1] = ("recent\t%s\t\t\t\t\t%.2f\t\t\t"):format(z.name, z.ns)
  end
end

if only == "" then
  print(("\n%-23s %6s"):format("zone in C", "ns"))
  for _, z in ipairs(require "zones") do
    print(("%-23s %6.2f"):format(z.name, z.ns))
    tsv[#tsv + 1] = ("zone\t%s\t\t\t\t\t%.2f\t\t\t"):format(z.name, z.ns)
  end
end

if only == "" then
  local ways = require "start"
  print(("\n%-23s %6s %6s"):format("an empty script", "ms", "adds"))
  for _, way in ipairs(ways) do
    local more = way.ns - ways[1].ns
    print(("%-23s %6.2f %6.2f"):format(way.name, way.ns / 1e6, more / 1e6))
    tsv[#tsv + 1] = ("start\t%s\t%d\t\t\t\t%d\t\t\t"):format(way.name,
      ways[1].ns, way.ns)
  end
end

local function write(to, text)
  if not to then return end
  local file <close> = assert(io.open(to, "w"))
  file:write(text, "\n")
end

write(arg[1], table.concat(tsv, "\n"))
write(arg[2], json.encode({ ratios = held }, { indent = true,
  keyorder = { "mode", "workload", "ratio", "noise" } }))
