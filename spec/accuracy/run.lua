-- make accuracy: how true the figures are. Prints a table; the same goes
-- to the first file named as TSV, and a plot to the second as SVG.

local bias = require "bias"
local cause = require "cause"
local leaf = require "leaf"
local lines = require "lines"
local plot = require "plot"
local profiler = require "cprof"
local sampler = require "sampler"
local trial = require "trial"
local wall = require "wall"

local ways = { "compensated", "raw", "doubled" }
local tsv = { "experiment\tcase\ttruth\traw\tcompensated\tdoubled" }

local function note(experiment, case, truth, row)
  tsv[#tsv + 1] = ("%s\t%s\t%.3f\t%.3f\t%.3f\t%.3f"):format(experiment, case,
    truth, row.raw, row.compensated, row.doubled)
end

-- without costs, or with twice those measured, what a control must miss
local controls = {}

local function show(experiment, what, target, reached, figures, control)
  print(("%-2s %-34s %-15s %-7s %s"):format(experiment, what, target,
    reached and "reached" or "MISSED", figures))
  if control ~= nil then controls[experiment] = control end
end

local costs = profiler.calibrate()
local names = {}
for name in pairs(costs) do names[#names + 1] = name end
table.sort(names)
for i, name in ipairs(names) do
  names[i] = ("%s %.1f"):format(name, costs[name])
end
print("costs, ns: " .. table.concat(names, ", ") .. "\n")

-- A
local points, worst, at = bias(), {}, {}
for _, point in ipairs(points) do
  note("A", point.kind, point.truth, point)
  for _, how in ipairs(ways) do
    local off = math.abs(point[how] - point.truth)
    worst[how] = math.max(worst[how] or 0, off)
    local key = point.kind
    if how == "compensated" then at[key] = math.max(at[key] or 0, off) end
  end
end
show("A", "bias, worst point", "2 points", worst.compensated <= 2,
  ("%.1f; as recorded %.1f, doubled %.1f"):format(worst.compensated,
    worst.raw, worst.doubled), worst.raw > 2 and worst.doubled > 2)
local kinds = {}
for kind in pairs(at) do kinds[#kinds + 1] = kind end
table.sort(kinds)
for _, kind in ipairs(kinds) do
  print(("     %-12s %.1f"):format(kind, at[kind]))
end

-- B
local b = leaf()
note("B", "ns per call", 0, b)
show("B", "leaf in C, mean error of a call", "5 ns",
  math.abs(b.compensated) <= 5, ("%+.1f ns; as recorded %+.1f, doubled %+.1f")
  :format(b.compensated, b.raw, b.doubled),
  math.abs(b.raw) > 5 and math.abs(b.doubled) > 5)

-- C
local rows, mean, low, high = wall "call", {}, math.huge, 0
for _, row in ipairs(rows) do
  note("C", row.name, 1, row)
  low, high = math.min(low, row.compensated), math.max(high, row.compensated)
  for _, how in ipairs(ways) do
    mean[how] = (mean[how] or 0) + math.log(row[how])
  end
end
for how, sum in pairs(mean) do mean[how] = math.exp(sum / #rows) end
local function near(x) return x >= 0.97 and x <= 1.03 end
show("C", "time / unprofiled, 11 programs", "0.97-1.03",
  near(mean.compensated), ("%.2f; as recorded %.2f, doubled %.2f"):format(
    mean.compensated, mean.raw, mean.doubled),
  not near(mean.raw) and not near(mean.doubled))
show("", "  each of them", "0.90-1.10", low >= 0.9 and high <= 1.1,
  ("%.2f to %.2f"):format(low, high))
for _, row in ipairs(rows) do
  print(("     %-24s %.2f; as recorded %.2f"):format(row.name,
    row.compensated, row.raw))
end

-- E
local changes = cause.changes()
low, high = math.min(table.unpack(changes)), math.max(table.unpack(changes))
show("E", "reported change / true change", "0.9-1.1",
  low >= 0.9 and high <= 1.1, ("%.2f to %.2f"):format(low, high))

-- F
local agreement, samples = sampler()
show("F", "agreement with a sampler", "0.97", agreement >= 0.97,
  ("%.3f of %d samples"):format(agreement, samples))

-- G
local trees, hottest, spread = cause.runs()
show("G", "20 runs: trees, hottest functions", "1, 1",
  trees == 1 and hottest == 1, ("%d, %d"):format(trees, hottest))
show("", "  spread of shares", "1 point", spread < 1,
  ("%.2f points"):format(spread))

-- H
local h = lines()
note("H", "share of C", h.truth, h)
show("H", "mode line, share of C", "3 points",
  math.abs(h.compensated - h.truth) <= 3,
  ("%.1f of %.1f %%; as recorded %.1f"):format(h.compensated, h.truth, h.raw))

-- D
show("D", "sums of self times and wall time", "equal", trial.lost == 0,
  ("%d of %d profiles"):format(trial.conserved - trial.lost,
    trial.conserved))

for _, experiment in ipairs { "A", "B", "C" } do
  print(("control %s: without costs and with twice those, it is missed: %s")
    :format(experiment, controls[experiment] and "yes" or "NO"))
end

local function write(path, text)
  if not path then return end
  local file = assert(io.open(path, "w"))
  file:write(text)
  assert(file:close())
end

write(arg[1], table.concat(tsv, "\n") .. "\n")
write(arg[2], plot(points))
