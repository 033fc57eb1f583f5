-- A range of time in cells, and what stands out in it: stretches in which
-- something runs that usually does not, or in which the CPU is busier.

local core = require "cprof.core"
local order = require "cprof.text.order"
local profile = require "cprof.profile"
local range = require "cprof.profile.range"
local sampled = require "cprof.count.sampled"

local cells = {}

---@class cprof.Cells
---@field from integer     ns since the recording began, where the first cell is
---@field first integer    where the range begins, in the first cells
---@field to integer       where it ends
---@field ns integer       length of a cell
---@field rows integer     cells in a column
---@field columns integer
---@field [integer] cprof.Cell

---@class cprof.Cell
---@field ns integer       recorded time in it
---@field share number     the share of CPU time in ns; or, of a function: time
---@field shown number     this time as a share of ns and lost together
---@field took integer     ns that samples of it stand for
---@field lost integer     ns in which others had the processor

-- seconds of a column, and its cells
local zooms <const> = { { 0.05, 25 }, { 0.1, 25 }, { 0.25, 25 }, { 0.5, 25 },
  { 1, 25 }, { 2, 25 }, { 5, 25 }, { 10, 25 }, { 30, 30 }, { 60, 30 },
  { 300, 30 }, { 600, 30 }, { 1800, 30 }, { 3600, 30 }, { 14400, 24 },
  { 86400, 24 } }

-- samples that a cell has if the program always computes
local least_samples <const> = 20

-- The mean time from sample to sample. A slice is exact, so it counts as
-- `least_samples`: a cell is at least as long as a slice.
local function mean(p)
  local _, _, _, slice = core.axis_scale(profile.axis(p))
  return slice > 0 and slice / least_samples or 1e9 / (p.meta.rate or 1000)
end

-- the shortest columns of which there are at most `most`, and their cells
local function zoom(p, first, to, most)
  local least = least_samples * mean(p) * 0.999
  for i, z in ipairs(zooms) do
    local column, rows = z[1] * 1e9 // 1 | 0, z[2]
    local columns = (to - 1) // column - first // column + 1
    if i == #zooms or column // rows >= least and columns <= most then
      return column, rows, columns
    end
  end
end

-- the length of what two ranges have in common
local function both(a, b, c, d)
  return math.max(math.min(b, d) - math.max(a, c), 0)
end

---The cells of a range.
---@param p cprof.Profile  that has a time axis
---@param first integer    ns
---@param to integer       ns
---@param most integer     number of columns
---@param of? table<integer, boolean>  which functions count, with what they
---    call; nil: all, with their CPU time
---@param nodes? table<integer, boolean>  which nodes count; nil: all
---@return cprof.Cells
function cells.of(p, first, to, most, of, nodes)
  local column, rows, columns = zoom(p, first, to, most)
  local from, ns = first // column * column, column // rows
  local out = { from = from, first = first, to = to, ns = ns, rows = rows,
    columns = columns }
  local sums = core.axis_cells(profile.axis(p), from, ns, rows * columns,
    p.nodes, of, nodes)
  for i = 1, rows * columns do
    local at = from + (i - 1) * ns
    local run, wait, paused, preempted = table.unpack(sums, i * 4 - 3, i * 4)
    local all = both(at, at + ns, first, to) - paused
    local there, its = all - preempted, of and run + wait or run
    out[i] = { ns = math.max(there, 0), took = run + wait, lost = preempted,
      share = there > 0 and math.min(its / there, 1) or 0,
      shown = all > 0 and math.min(its / all, 1) or 0 }
  end
  return out
end

---@class cprof.Stretch
---@field from integer     ns
---@field to integer       ns
---@field share number     how much of it was CPU time
---@field lost number      how much of it others had the processor
---@field func? cprof.Function  what it has much more of than the whole; or
---    has most of, if that is nothing unusual
---@field part? number     its share of the stretch, with what it calls
---@field usual? number    its share of the whole
---@field private first integer  its first cell
---@field private cell integer   its last cell
---@field private weight number

-- What the search for stretches works on.
---@class cprof.Search
---@field p cprof.Profile
---@field grid cprof.Cells
---@field rate number      samples in a nanosecond
---@field usual number     the share of CPU time in all cells
---@field ns integer       recorded time of all cells
---@field known table<string, number[]>  see cells_of

local function search(p, grid)
  local x = { p = p, grid = grid, known = {}, ns = 0,
    rate = p.samples and p.samples / math.max(p.program_ns, 1) or
      1 / mean(p) }
  local cpu = 0
  for _, cell in ipairs(grid) do
    cpu, x.ns = cpu + cell.share * cell.ns, x.ns + cell.ns
  end
  x.usual = cpu / math.max(x.ns, 1)
  return x
end

-- The time of a function in each cell, with callees.
local function cells_of(x, func)
  local known, grid, p = x.known, x.grid, x.p
  if known[func.title] then return known[func.title] end
  local of, out = {}, {}
  for i, f in ipairs(p.functions) do of[i] = f.title == func.title end
  local sums = core.axis_cells(profile.axis(p), grid.from, grid.ns, #grid,
    p.nodes, of)
  for i = 1, #grid do out[i] = sums[i * 4 - 3] + sums[i * 4 - 2] end
  known[func.title] = out
  return out
end

-- The time of a function in some cells, and all that samples stand for there.
local function time_of(x, func, first, last)
  local its, sum, all = cells_of(x, func), 0, 0
  for i = first, last do
    sum, all = sum + its[i], all + x.grid[i].took
  end
  return math.min(sum, all), all
end

-- a function's share of the time of some cells
local function part_of(x, func, first, last)
  local sum, all = time_of(x, func, first, last)
  return all > 0 and sum / all or 0
end

-- The CPU time of some cells, how much of them was recorded, and for how long
-- others had the processor.
local function cpu_of(x, first, last)
  local cpu, ns, lost = 0, 0, 0
  for i = first, last do
    local cell = x.grid[i]
    cpu, ns = cpu + cell.share * cell.ns, ns + cell.ns
    lost = lost + cell.lost
  end
  return cpu, ns, lost
end

-- a function is unusual if its share of a stretch exceeds its share of the
-- whole by this
local unusual <const> = 0.5

-- a stretch is busy if its share of CPU time exceeds the usual one by this
local busier <const> = 0.3

-- Do some cells together have much more than usual of what stretch `s` is
-- about, a function or CPU time? If so, also returns its time in them and the
-- usual time.
local function more_than_usual(x, s, first, last)
  local its, all, usual, least
  if s.func then
    its, all = time_of(x, s.func, first, last)
    usual, least = s.usual, unusual
  else
    its, all = cpu_of(x, first, last)
    usual, least = x.usual, busier
  end
  return its >= (usual + least) * all, its, usual * all
end

-- Do some cells have more of what stretch `s` is about than chance explains?
-- There are many cells, so what happens by chance in one of them is not
-- unusual.
local function stands_out(x, s, first, last)
  local more, its, usual = more_than_usual(x, s, first, last)
  if not more then return false end
  local a, b = its * x.rate, usual * x.rate
  return a > b and a * math.log(a / b) - (a - b) > math.log(#x.grid) + 5
end

-- The stretches of a list that stand out.
local function sure(x, list)
  local out = {}
  for _, s in ipairs(list) do
    if stands_out(x, s, s.first, s.cell) then out[#out + 1] = s end
  end
  return out
end

-- most cells of something else within a stretch
local gap <const> = 2

-- May a stretch that ends with cell `last` go on in cell `i`? Cells between
-- them in which others had the processor do not show that it ended.
local function goes_on(x, last, i)
  local other = 0
  for k = last + 1, i - 1 do
    if x.grid[k].lost * 2 < x.grid.ns then other = other + 1 end
    if other > gap then return false end
  end
  return true
end

-- Adds cell `i` to the last stretch of the same function, if that goes on there
-- and still has much of the function with the cells between; else begins
-- another stretch. `excess`: how much the cell is above what is usual. `last`:
-- the last stretch of each function.
local function extend(x, list, last, i, func, usual, excess)
  local s = last[func or false]
  if not s or not goes_on(x, s.cell, i) or
      s.cell < i - 1 and not more_than_usual(x, s, s.first, i) then
    s = { first = i, weight = 0, func = func, usual = usual }
    list[#list + 1], last[func or false] = s, s
  end
  s.cell = i
  s.weight = s.weight + excess * x.grid[i].ns
end

-- Stretches with much of a function that the whole has little of.
local function odd(x)
  local p, grid, all, last = x.p, x.grid, {}, {}
  local found = core.axis_odd(profile.axis(p), grid.from, grid.ns, #grid,
    p.nodes)
  for i = 1, #grid do
    local id, part, usual = table.unpack(found, i * 3 - 2, i * 3)
    if id > 0 and part - usual >= unusual and grid[i].ns > 0 then
      extend(x, all, last, i, p.functions[id], usual, part - usual)
    end
  end
  return sure(x, all)
end

-- Stretches with more CPU time than usual, without cells that are `taken`.
local function busy(x, taken)
  local out, last = {}, {}
  for i, cell in ipairs(x.grid) do
    if not taken[i] and cell.share >= x.usual + busier then
      extend(x, out, last, i, nil, nil, cell.share - x.usual)
    end
  end
  return sure(x, out)
end

-- Does a function call another one, also through others?
local function calls(p, caller, callee)
  local from
  for _, depth, id in core.walk(p.nodes) do
    if from and depth <= from then from = nil end
    local title = p.functions[id].title
    if from and title == callee.title then return true end
    if title == caller.title then from = from or depth end
  end
  return false
end

-- a function that causes a stretch has at least this share of it
local most <const> = 0.5

-- Did the function that stands out in stretch a cause stretch b, too? It did if
-- it has most of b, and calls the function that stands out there.
local function causes(x, a, b)
  return a.func == b.func or a.func and
    part_of(x, a.func, b.first, b.cell) >= most and
    (not b.func or calls(x.p, a.func, b.func))
end

-- Of two stretches beside each other, the one whose function caused both, and
-- the cells of both. nil: they have different causes, or their sum does not
-- stand out.
local function cause(x, a, b)
  local first, last = math.min(a.first, b.first), math.max(a.cell, b.cell)
  if not goes_on(x, math.min(a.cell, b.cell), math.max(a.first, b.first)) then
    return nil
  end
  local function whole(s) return s.first == first and s.cell == last end
  local function its(s, other)
    return causes(x, s, other) and stands_out(x, s, first, last)
  end
  local out = its(a, b) and a or its(b, a) and b or whole(a) and a or
    whole(b) and b or nil
  return out, first, last
end

-- Joins a stretch with those beside it, on one side, that have the same cause:
-- in a stall, its cause and the functions that this calls stand out in turn.
local function join(x, list, at, step)
  local a, i = list[at], at + step
  while list[i] do
    local b = list[i]
    if not b.joined then
      local its, first, last = cause(x, a, b)
      if not its then break end
      b.joined, a.weight = true, a.weight + b.weight
      a.func, a.usual, a.first, a.cell = its.func, its.usual, first, last
    end
    i = i + step
  end
end

-- Does a stretch with more CPU time than usual cover more than half of the
-- range? Then this is the usual state, and the other cells have less. (Where a
-- function stands out cannot be most of the range.)
local function is_most(x, s)
  local _, ns = cpu_of(x, s.first, s.cell)
  return not s.func and ns * 2 > x.ns
end

-- Joins stretches that have one cause. Those that stand out most come first.
local function joined(x, list)
  local heaviest, place, out = table.move(list, 1, #list, 1, {}), {}, {}
  table.sort(list, order("first", "-cell"))
  table.sort(heaviest, order("-weight", "first"))
  for i, s in ipairs(list) do place[s] = i end
  for _, s in ipairs(heaviest) do
    if not s.joined then
      join(x, list, place[s], 1)
      join(x, list, place[s], -1)
      if not is_most(x, s) then out[#out + 1] = s end
    end
  end
  table.sort(out, order("-weight", "first"))
  return out
end

-- Sets the figures of a stretch from all of its cells.
local function settle(x, s)
  local cpu, ns, lost = cpu_of(x, s.first, s.cell)
  local all = math.max(ns + lost, 1)
  s.from = math.max(x.grid.from + (s.first - 1) * x.grid.ns, x.grid.first)
  s.to = math.min(x.grid.from + s.cell * x.grid.ns, x.grid.to)
  s.share, s.lost = cpu / all, lost / all
  if s.func then s.part = part_of(x, s.func, s.first, s.cell) end
end

-- ns: as exactly as options like --from take times
local exact <const> = 1000

-- Lets a stretch begin and end with the slices in which its function ran.
local function trim(x, s)
  local p, of = x.p, {}
  local axis = profile.axis(p)
  for i, f in ipairs(p.functions) do of[i] = f.title == s.func.title end
  local from, to = core.axis_extent(axis, s.from, s.to, p.nodes, of)
  if not from then return end
  -- rounded inwards: the stretch has nothing of what ran before or after
  from = math.max((from + exact - 1) // exact * exact, x.grid.first)
  to = math.min(to // exact * exact, x.grid.to)
  if to <= from then return end
  local ns = to - from
  local run, wait, paused, lost = table.unpack(
    core.axis_cells(axis, from, ns, 1, p.nodes))
  local its_run, its_wait = table.unpack(
    core.axis_cells(axis, from, ns, 1, p.nodes, of))
  local all = math.max(ns - paused, 1)
  s.from, s.to = from, to
  s.share, s.lost = math.min(run / all, 1), lost / all
  s.part = math.min((its_run + its_wait) / math.max(run + wait, 1), 1)
end

-- {======================================================
-- A stall that is a large part of the recording. It is compared with the rest
-- of the recording: compared with all of it, the stall would not be unusual.
-- =======================================================

-- the least share of the recording that such a stall takes
local large <const> = 0.3

-- the most functions that are examined
local candidates <const> = 30

-- A function that was called at least so often repeats. If it called another
-- function only once, that call is an exception.
local often <const> = 10

-- A function with at least this share of its caller's time runs whenever the
-- caller does, so only the caller is examined.
local same <const> = 0.98

-- Functions that take a large share of the recording, callers before callees.
-- `once`: was it a single call, by a function that was called often?
local function large_ones(x)
  local p, out, known, called, took = x.p, {}, {}, {}, {}
  for _, depth, id, _, n, _, total in core.walk(p.nodes) do
    local title = p.functions[id].title
    local once = not p.samples and n == 1 and
      (called[depth - 1] or 0) >= often
    called[depth], took[depth] = n, total
    if total >= large * p.program_ns and not known[title] and
        #out < candidates and
        (once or depth == 0 or total < same * took[depth - 1]) then
      known[title] = true
      out[#out + 1] = { func = p.functions[id], once = once }
    end
  end
  return out
end

-- The only stretch in which a function has most of the time; nil: there are
-- several, or none.
local function only_stretch(x, func)
  local found, last = {}, {}
  for i, cell in ipairs(x.grid) do
    if cell.took > 0 and part_of(x, func, i, i) >= most then
      extend(x, found, last, i, func, 0, 1)
    end
  end
  return #found == 1 and found[1] or nil
end

-- a function's share of the time of all cells but those of stretch `s`
local function share_without(x, func, s)
  local sum, all = time_of(x, func, 1, #x.grid)
  local its, of = time_of(x, func, s.first, s.cell)
  return all > of and (sum - its) / (all - of) or 0
end

-- the shares of the self times of a range, by function; {}: nothing ran
local function shares(p, from, to)
  local q, out = from < to and range.profile(p, from, to), {}
  for _, f in ipairs(q and q.functions or {}) do
    if f.id ~= q.overhead then
      out[f.title] = (out[f.title] or 0) +
        f.self_ns / math.max(q.program_ns, 1)
    end
  end
  return out
end

-- Does what ran before a stretch go on after it? If not, it is a phase of the
-- program, not a stall.
local function interrupts(x, s)
  local sum, grid = 0, x.grid
  local before = shares(x.p, grid.first, s.from)
  local after = shares(x.p, s.to, grid.to)
  for title, share in pairs(before) do
    sum = sum + math.min(share, after[title] or 0)
  end
  return sum >= most
end

-- The stall that is a large part of the recording; nil: there is none.
local function stall_of(x)
  for _, one in ipairs(large_ones(x)) do
    local s = only_stretch(x, one.func)
    if s then
      settle(x, s)
      trim(x, s)
      local usual = share_without(x, s.func, s)
      if one.once or s.part >= usual + unusual and interrupts(x, s) then
        s.usual = part_of(x, s.func, 1, #x.grid)
        return s
      end
    end
  end
end

-- The stretches of a list that are unusual even when compared with a recording
-- without the stall.
local function without(x, list, stall)
  local out = {}
  for _, s in ipairs(list) do
    local apart = s.cell < stall.first or s.first > stall.cell
    local usual = apart and share_without(x, s.func, stall)
    if apart and part_of(x, s.func, s.first, s.cell) >= usual + unusual then
      out[#out + 1] = s
    end
  end
  return out
end

-- }======================================================

-- Sets the function with the most self time of a stretch, of which `q` is the
-- profile.
local function hottest(p, s, q)
  for _, f in ipairs(q.functions) do
    if f.id ~= q.overhead and f.self_ns > (s.func and s.func.self_ns or 0) then
      s.func, s.part = f, f.total_ns / math.max(q.program_ns, 1)
    end
  end
  for _, f in ipairs(s.func and p.functions or {}) do
    if f.title == s.func.title then
      s.usual = f.total_ns / math.max(p.program_ns, 1)
    end
  end
end

---The stretches that stand out most, at most `limit` of them, and how many more
---there are.
---@param p cprof.Profile
---@param grid cprof.Cells
---@param limit integer
---@param of_function? boolean  are the cells those of a function?
---@return cprof.Stretch[]
---@return integer more
function cells.stretches(p, grid, limit, of_function)
  local x, taken = search(p, grid), {}
  local all = of_function and {} or odd(x)
  local stall = not of_function and stall_of(x)
  if stall then
    all = without(x, all, stall)
    all[#all + 1] = stall
  end
  for _, s in ipairs(all) do
    for i = s.first, s.cell do taken[i] = true end
  end
  local more = busy(x, taken)
  table.move(more, 1, #more, #all + 1, all)
  local out, left = {}, 0
  for _, s in ipairs(joined(x, all)) do
    if #out == limit then left = left + 1
    else
      settle(x, s)
      local q = range.profile(p, s.from, s.to)
      -- where samples were rare, one of them stands for a long time
      if q and (not q.samples or q.samples >= sampled.few) then
        if not s.func and not of_function then hottest(p, s, q) end
        if s.func then trim(x, s) end
        out[#out + 1] = s
      end
    end
  end
  return out, left
end

---The range of a stretch as the options --from and --to.
---@param s cprof.Stretch
---@return string
function cells.words(s)
  return ("--from %s --to %s"):format(range.time(s.from), range.time(s.to))
end

return cells
