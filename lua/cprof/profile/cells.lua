-- A range of time in cells, and what stands out in it: stretches in which
-- something runs that usually does not, or in which the CPU is busier.

local core = require "cprof.core"
local order = require "cprof.text.order"
local profile = require "cprof.profile"
local range = require "cprof.profile.range"

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
---@field ns integer       how much of it was recorded
---@field share number     how much of that was CPU time; of a function: time
---@field took integer     ns that samples of it stand for

-- seconds of a column, and its cells
local zooms <const> = { { 0.05, 25 }, { 0.1, 25 }, { 0.25, 25 }, { 0.5, 25 },
  { 1, 25 }, { 2, 25 }, { 5, 25 }, { 10, 25 }, { 30, 30 }, { 60, 30 },
  { 300, 30 }, { 600, 30 }, { 1800, 30 }, { 3600, 30 }, { 14400, 24 },
  { 86400, 24 } }

-- a cell is to have so many samples, where the program always computes
local least_samples <const> = 20

-- the shortest columns of which there are at most `most`, and their cells
local function zoom(p, first, to, most)
  local least = least_samples * 1e9 / (p.meta.rate or 1000)
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
---@return cprof.Cells
function cells.of(p, first, to, most, of)
  local column, rows, columns = zoom(p, first, to, most)
  local from, ns = first // column * column, column // rows
  local out = { from = from, first = first, to = to, ns = ns, rows = rows,
    columns = columns }
  local sums = core.axis_cells(profile.axis(p), from, ns, rows * columns,
    p.nodes, of)
  for i = 1, rows * columns do
    local at = from + (i - 1) * ns
    local run, wait, paused, preempted = table.unpack(sums, i * 4 - 3, i * 4)
    local there = both(at, at + ns, first, to) - paused - preempted
    local shown = of and run + wait or run
    out[i] = { ns = math.max(there, 0), took = run + wait,
      share = there > 0 and math.min(shown / there, 1) or 0 }
  end
  return out
end

---@class cprof.Stretch
---@field from integer     ns
---@field to integer       ns
---@field share number     how much of it was CPU time
---@field func? cprof.Function  what it has much more of than the whole; or
---    has most of, if that is nothing unusual
---@field part? number     its share of the stretch, with what it calls
---@field usual? number    its share of the whole
---@field private weight number

-- a stretch goes on after so many cells of something else
local gap <const> = 2

-- Adds cell `i` to the last stretch, if that ends there and is about the same
-- function; else begins another one. `excess`: how much the cell is above what
-- is usual.
local function extend(list, grid, i, func, excess)
  local at, cell, last = grid.from + (i - 1) * grid.ns, grid[i], list[#list]
  if not last or last.cell + gap < i - 1 or last.func ~= func then
    last = { from = math.max(at, grid.first), first = i, cpu = 0, ns = 0,
      took = 0, weight = 0, func = func }
    list[#list + 1] = last
  end
  last.cell, last.to = i, math.min(at + grid.ns, grid.to)
  last.took = last.took + cell.took
  last.cpu, last.ns = last.cpu + cell.share * cell.ns, last.ns + cell.ns
  last.weight = last.weight + excess * cell.ns
  last.share = last.cpu / math.max(last.ns, 1)
  return last
end

-- a function that has so much more of a cell than of the whole is unusual
local unusual <const> = 0.5

-- The stretches of a list that are no chance: `n` samples, which are usually so
-- many others. There are many cells, so what happens by chance in one of so
-- many of them is not unusual.
local function sure(list, grid, n, usual)
  local out = {}
  for _, s in ipairs(list) do
    local a, b = n(s), usual(s)
    if a > b and a * math.log(a / b) - (a - b) > math.log(#grid) + 5 then
      out[#out + 1] = s
    end
  end
  return out
end

-- samples in a nanosecond
local function rate(p) return p.samples / math.max(p.program_ns, 1) end

-- Stretches with much of a function that the whole has little of.
local function odd(p, grid)
  local found, all = core.axis_odd(profile.axis(p), grid.from, grid.ns, #grid,
    p.nodes), {}
  for i = 1, #grid do
    local id, part, usual = table.unpack(found, i * 3 - 2, i * 3)
    if id > 0 and part - usual >= unusual and grid[i].ns > 0 then
      local s = extend(all, grid, i, p.functions[id], part - usual)
      s.usual, s.inside = usual, (s.inside or 0) + part * grid[i].took
      s.part = s.inside / math.max(s.took, 1)
    end
  end
  return sure(all, grid, function(s) return s.inside * rate(p) end,
    function(s) return s.usual * s.took * rate(p) end)
end

-- so much more CPU time than usual is much
local busier <const> = 0.3

-- Stretches with more CPU time than usual, without cells that are `taken`.
local function busy(p, grid, taken)
  local sum, all, out = 0, 0, {}
  for _, cell in ipairs(grid) do
    sum, all = sum + cell.share * cell.ns, all + cell.ns
  end
  local usual = sum / math.max(all, 1)
  for i, cell in ipairs(grid) do
    if not taken[i] and cell.share >= usual + busier then
      extend(out, grid, i, nil, cell.share - usual)
    end
  end
  return sure(out, grid, function(s) return s.cpu * rate(p) end,
    function(s) return usual * s.ns * rate(p) end)
end

-- Sets the function with the most self time of a stretch.
local function hottest(p, s)
  local q = range.profile(p, s.from, s.to)
  for _, f in ipairs(q and q.functions or {}) do
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

---What stands out: at most `limit` stretches, those that do most first.
---@param p cprof.Profile
---@param grid cprof.Cells
---@param limit integer
---@param of_function? boolean  are the cells those of a function?
---@return cprof.Stretch[]
function cells.stretches(p, grid, limit, of_function)
  local out, taken = of_function and {} or odd(p, grid), {}
  for _, s in ipairs(out) do
    for i = s.first, s.cell do taken[i] = true end
  end
  local more = busy(p, grid, taken)
  table.move(more, 1, #more, #out + 1, out)
  table.sort(out, order("-weight", "from"))
  out = table.move(out, 1, math.min(#out, limit), 1, {})
  for _, s in ipairs(out) do
    if not s.func and not of_function then hottest(p, s) end
  end
  return out
end

---The range of a stretch as the options --from and --to.
---@param s cprof.Stretch
---@return string
function cells.words(s)
  return ("--from %s --to %s"):format(range.told(s.from), range.told(s.to))
end

return cells
