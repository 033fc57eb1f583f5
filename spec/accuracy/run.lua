-- make accuracy: how true the figures are. Prints a table; the same goes
-- to the first file named as TSV, and a plot to the second as SVG.

local attached = require "attach"
local bias = require "bias"
local busy = require "busy"
local calls = require "calls"
local cause = require "cause"
local collector = require "collector"
local core = require "cprof.core"
local leaf = require "leaf"
local lines = require "lines"
local plot = require "plot"
local profiler = require "cprof"
local programs = require "programs"
local sampler = require "sampler"
local samples_of = require "samples"
local trial = require "trial"
local wall = require "wall"
local workloads = require "workloads"

local ways = { "compensated", "raw", "doubled" }
local tsv = { "experiment\tcase\ttruth\traw\tcompensated\tdoubled" }

local function note(experiment, case, truth, row)
  tsv[#tsv + 1] = ("%s\t%s\t%.3f\t%.3f\t%.3f\t%.3f"):format(experiment, case,
    truth, row.raw, row.compensated, row.doubled)
end

-- experiments whose figures are as near the truth without costs, or with
-- twice those measured: they prove nothing
local idle = {}

local function show(experiment, what, figures)
  print(("%-2s %-34s %s"):format(experiment, what, figures))
end

-- Shows the figure of each way of compensating. `near` says whether a figure is
-- near the truth: those that are not compensated must not be.
local function judge(experiment, what, figure, near, format)
  local text = {}
  for i, how in ipairs(ways) do text[i] = format:format(figure[how]) end
  show(experiment, what,
    ("%s; as recorded %s, doubled %s"):format(table.unpack(text)))
  if near(figure.raw) or near(figure.doubled) then
    idle[#idle + 1] = experiment .. " (" .. what .. ")"
  end
end

local function below(most)
  return function(x) return math.abs(x) <= most end
end

local function between(low, high)
  return function(x) return x >= low and x <= high end
end

-- by way of compensating: the largest value of `of` for a row
local function worst(rows, of)
  local out = {}
  for _, how in ipairs(ways) do
    out[how] = 0
    for _, row in ipairs(rows) do
      out[how] = math.max(out[how], of(row, how))
    end
  end
  return out
end

local function off(row, how) return math.abs(row[how] - row.truth) end

local costs = profiler.calibrate()
local names = {}
for name in pairs(costs) do names[#names + 1] = name end
table.sort(names)
for i, name in ipairs(names) do
  names[i] = ("%s %.1f"):format(name, costs[name])
end
print("costs, ns: " .. table.concat(names, ", ") .. "\n")

-- experiment A
local points = bias()
local kinds, of_kind = {}, {}
for _, point in ipairs(points) do
  note("A", point.kind, point.truth, point)
  if not of_kind[point.kind] then
    kinds[#kinds + 1], of_kind[point.kind] = point.kind, {}
  end
  table.insert(of_kind[point.kind], point)
end
judge("A", "bias, worst point, in points", worst(points, off), below(2),
  "%.1f")
table.sort(kinds)
for _, kind in ipairs(kinds) do
  print(("     %-24s %.1f; as recorded %.1f"):format(kind,
    worst(of_kind[kind], off).compensated, worst(of_kind[kind], off).raw))
end

-- experiment B
local b = leaf()
note("B", "ns per call", 0, b)
judge("B", "leaf in C, mean error of a call, ns", b, below(5), "%+.1f")

-- experiment C
local function print_rows(rows)
  for _, row in ipairs(rows) do
    print(("     %-32s %.2f; as recorded %.2f; of %.0f ns an event, " ..
      "%+.1f left"):format(row.name, row.compensated, row.raw, row.event,
      row.left))
  end
end

local rows = wall(programs, "call")
local mean, low, high = {}, {}, {}
for _, how in ipairs(ways) do
  local sum = 0
  low[how], high[how] = math.huge, 0
  for _, row in ipairs(rows) do
    sum = sum + math.log(row[how])
    low[how] = math.min(low[how], row[how])
    high[how] = math.max(high[how], row[how])
  end
  mean[how] = math.exp(sum / #rows)
end
for _, row in ipairs(rows) do note("C", row.name, 1, row) end
judge("C", ("time / unprofiled, %d programs"):format(#rows),
  mean, between(0.97, 1.03), "%.2f")
show("", "  each of them",
  ("%.2f to %.2f"):format(low.compensated, high.compensated))
print_rows(rows)
print "   programs that do little but what is recorded:"
local hard = {}
for _, w in ipairs(workloads) do
  if not w.real then hard[#hard + 1] = w end
end
hard = wall(hard, "call")
for _, row in ipairs(hard) do note("C, calls", row.name, 1, row) end
print_rows(hard)

-- experiment E
local changes = cause.changes()
local least, most = {}, {}
for i, row in ipairs(changes) do
  note("E", "function " .. i, 1, row)
  for _, how in ipairs(ways) do
    least[how] = math.min(least[how] or math.huge, row[how])
    most[how] = math.max(most[how] or 0, row[how])
  end
end
show("E", "reported change / true change",
  ("%.2f to %.2f; as recorded %.2f to %.2f, doubled %.2f to %.2f"):format(
    least.compensated, most.compensated, least.raw, most.raw,
    least.doubled, most.doubled))
if most.raw <= 1.1 or least.doubled >= 0.9 then idle[#idle + 1] = "E" end

-- experiment F
local agreement, samples = sampler()
note("F", "agreement", 1, agreement)
judge("F", ("agreement, %d samples"):format(samples), agreement,
  between(0.97, 1), "%.3f")

-- experiment G
local trees, hottest, spread = cause.runs()
show("G", "20 runs: trees, hottest functions",
  ("%d, %d"):format(trees, hottest))
show("", "  spread of shares, in points", ("%.2f"):format(spread))

-- experiment H
local h = lines.share()
note("H", "share of C", h.truth, h)
judge("H", ("mode line, C has %.1f %%, in points"):format(h.truth),
  worst({ h }, off), below(3), "%.1f")
for _, what in ipairs {
  { "  lines of tables", lines.repeated "x = { i } " },
  { "  lines of arithmetic", lines.repeated "x = i * 3 + i " },
  { "  lines of different kinds", lines.mixed },
} do
  local weights = lines.weights(what[2])
  for i, row in ipairs(weights) do
    note("H", what[1] .. " " .. i, row.truth, row)
  end
  local largest = worst(weights, off)
  show("", what[1],
    ("%.1f; as recorded %.1f"):format(largest.compensated, largest.raw))
end

-- whole programs in mode "line"
local lined = wall(programs, "line")
print "   time / unprofiled in mode line:"
for _, row in ipairs(lined) do note("C, lines", row.name, 1, row) end
print_rows(lined)

-- experiment I
local parts, inside, of, each, short = samples_of()
local furthest = 0
for _, part in ipairs(parts) do
  tsv[#tsv + 1] = ("I\t%s\t%.3f\t\t%.3f\t"):format(part.name, part.truth,
    part.got)
  furthest = math.max(furthest, math.abs(part.got - part.truth))
end
show("I", "mode sample, worst part, in points", ("%.1f"):format(furthest))
for _, part in ipairs(parts) do
  print(("     %-24s %.1f of %.1f %%; at most %.1f off in a run"):format(
    part.name, part.got, part.truth, part.worst))
end
show("", "  shares within their interval", ("%d of %d; %d samples a run")
  :format(inside, of, each))
show("", "  work of 1 ms between waits, sampled / true", ("%.2f"):format(short))

-- experiment J
if core.drives() then
  local shares, off_by, slower = collector(), 0, 0
  for _, row in ipairs(shares) do
    tsv[#tsv + 1] = ("J\t%s\t%.3f\t\t%.3f\t"):format(row.name, row.truth,
      row.got)
    off_by = math.max(off_by, math.abs(row.got - row.truth))
    slower = math.max(slower, row.ratio)
  end
  show("J", "collector's share, worst, in points", ("%.1f; time with the " ..
    "zone / without, at most %.2f"):format(off_by, slower))
  for _, row in ipairs(shares) do
    print(("     %-24s %.1f of %.1f %%; %.2f"):format(row.name, row.got,
      row.truth, row.ratio))
  end
end

-- experiment K
local furthest_off, ratios, slowest = 0, {}, 0
local found = busy.rows()
for _, row in ipairs(found) do
  local quiet, loaded = row.quiet, row.loaded
  for _, part in ipairs(busy.parts) do
    tsv[#tsv + 1] = ("K\t%s, %s\t%.3f\t\t%.3f\t"):format(row.name, part,
      quiet[part], loaded[part])
    furthest_off = math.max(furthest_off,
      math.abs(loaded[part] - quiet[part]))
  end
  ratios[#ratios + 1] = loaded.cpu / quiet.cpu
  slowest = math.max(slowest, loaded.wall / loaded.cpu)
end
show("K", "busy machine, worst share, in points", ("%.1f; CPU time loaded " ..
  "/ quiet %.2f to %.2f; wall / CPU up to %.1f"):format(furthest_off,
  math.min(table.unpack(ratios)), math.max(table.unpack(ratios)), slowest))
for _, row in ipairs(found) do
  local quiet, loaded = row.quiet, row.loaded
  local shares = {}
  for i, part in ipairs(busy.parts) do
    shares[i] = ("%s %.1f, %.1f %%"):format(part, quiet[part], loaded[part])
  end
  print(("     %-24s %s; CPU %.1f, %.1f ms; preempted %.0f %%"):format(
    row.name .. ", quiet and loaded", table.concat(shares, "; "),
    quiet.cpu / 1e6, loaded.cpu / 1e6,
    loaded.preempted / loaded.wall * 100))
end

-- experiment L
local found_outside, within = attached(), 0
for _, row in ipairs(found_outside) do
  tsv[#tsv + 1] = ("L\t%s\t%.3f\t\t%.3f\t"):format(row.name, row.truth,
    row.got)
  if row.truth >= row.got - row.margin and
     row.truth <= row.got + row.unseen + row.margin then
    within = within + 1
  end
end
if #found_outside > 0 then
  show("L", "cprof attach, shares as it says", ("%d of %d"):format(within,
    #found_outside))
end
for _, row in ipairs(found_outside) do
  print(("     %-24s %.1f ±%.1f of %.1f %%; not seen %.1f %%"):format(
    row.name, row.got, row.margin, row.truth, row.unseen))
end

-- experiment M
local alone, beside = calls.rows()
for where, list in pairs { [""] = alone, [" beside others"] = beside } do
  for _, row in ipairs(list) do note("M", row.name .. where, 0, row) end
end
local function mean_of(list)
  local out = {}
  for _, how in ipairs(ways) do
    out[how] = 0
    for _, row in ipairs(list) do out[how] = out[how] + row[how] / #list end
  end
  return out
end
judge("M", ("calls of %d C functions, mean error, ns"):format(#alone),
  mean_of(alone), below(4), "%+.1f")
judge("M", "  on a busy processor", mean_of(beside), below(4), "%+.1f")
for i, row in ipairs(alone) do
  print(("     %-24s %+.1f, %+.1f; as recorded %+.1f, %+.1f"):format(row.name,
    row.compensated, beside[i].compensated, row.raw, beside[i].raw))
end

-- experiment D
show("D", "self times add up to wall time",
  ("%d of %d profiles"):format(trial.conserved - trial.lost,
    trial.conserved))

print("controls: without costs, or with twice those measured, " ..
  (#idle == 0 and "A, B, C, E, F, H and M are further from the truth"
    or "as near the truth: " .. table.concat(idle, ", ")))

local function write(path, text)
  if not path then return end
  local file = assert(io.open(path, "w"))
  file:write(text)
  assert(file:close())
end

write(arg[1], table.concat(tsv, "\n") .. "\n")
write(arg[2], plot(points))
