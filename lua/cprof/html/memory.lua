-- What a profile knows besides times, for the page: waiting, what was
-- allocated, what of it is in use, the collector, and the heap over time.

local allocations = require "cprof.count.allocations"
local graph = require "cprof.count.graph"
local header = require "cprof.report.header"
local in_c = require "cprof.annotate.in_c"
local lines = require "cprof.count.lines"
local measure = require "cprof.count.measure"
local order = require "cprof.text.order"

local memory = {}

-- columns have no figures below 0, which estimates may be
local function figure(n) return n > 0 and n or 0 end

---The measures that trees and functions have beside the profile's own.
---@param p cprof.Profile
---@return cprof.Measure[]
function memory.measures(p)
  local out = {}
  for _, row in ipairs(measure.others(p)) do
    -- waiting below 1 % may be noise of the machine
    if row.page and (not row:timed() or
       p.meta.waiting_ns * 100 > p.measure.whole) then
      out[#out + 1] = row
    end
  end
  return out
end

---The measures that a recording may have in the page, whatever it has recorded
---so far.
---@param p cprof.Profile
---@return cprof.Measure[]
function memory.possible(p)
  local out = {}
  for _, row in ipairs(measure.rows) do
    if row.page and not row.unknown(p.meta) then out[#out + 1] = row end
  end
  return out
end

---The words of the page for measures, by name.
---@param list cprof.Measure[]
---@return table<string, table>
function memory.words(list)
  local out = {}
  for _, row in ipairs(list) do
    local words = { unit = row.unit, column = row.column,
      lines = row.line and row.name or row.near }
    for key, text in pairs(row.page) do words[key] = text end
    out[row.name] = words
  end
  return out
end

---How many samples each measure is estimated from.
---@param p cprof.Profile
---@param list cprof.Measure[]
---@return table<string, integer>
function memory.taken(p, list)
  local out = {}
  for _, row in ipairs(list) do
    out[row.name] = measure.profile(p, row).measure.samples
  end
  return out
end

---By measure, the figures of functions.
---@param p cprof.Profile
---@param list cprof.Row[]  of the page
---@return table<string, { self: integer[], total: integer[] }>?
function memory.functions(p, list)
  local out
  for _, what in ipairs(memory.measures(p)) do
    local by, of = {}, { self = {}, total = {} }
    for _, row in ipairs(graph.functions(measure.profile(p, what))) do
      by[row.title] = row
    end
    for i, row in ipairs(list) do
      local own = by[row.title]
      of.self[i] = own and figure(own.self) or 0
      of.total[i] = own and figure(own.total) or 0
    end
    out = out or {}
    out[what.name] = of
  end
  return out
end

---By measure, a function that gives the figure of a line of a row, with that
---of the C functions that it calls: these have no lines of their own.
---@param p cprof.Profile
---@param list cprof.Measure[]
---@return table<string, fun(row: string, number: integer,
---    line: cprof.LineFigures): integer>
function memory.lines(p, list)
  local out = {}
  for _, what in ipairs(list) do
    local c = what.line and in_c.times(measure.profile(p, what), lines.row)
    out[what.name] = c and function(row, number, line)
      return figure(what:of_line(line) + ((c[row] or {})[number] or 0))
    end
  end
  return out
end

---What was allocated in all, and in use.
---@param p cprof.Profile
---@return table?
function memory.of(p)
  local meta = p.meta
  if not meta.memory then return nil end
  local sum, root = allocations.sum(p), allocations.root(p)
  local kinds = {}
  for _, kind in ipairs(allocations.kinds) do
    local of = sum.kinds[kind]
    if of then
      kinds[#kinds + 1] = { allocations.label(kind), of.bytes, of.allocs }
    end
  end
  table.sort(kinds, order(function(kind) return -kind[2] end))
  local live, peak
  if meta.live_interval then live, peak = allocations.live(p) end
  return { bytes = sum.bytes, allocs = sum.allocs, kinds = kinds,
    live = live, blocks = root.total_live_blocks, peak = peak,
    garbage = meta.garbage_bytes, live_interval = meta.live_interval,
    samples = meta.memory_samples, interval = meta.memory_interval }
end

---What the collector did.
---@param p cprof.Profile
---@return table?
function memory.collector(p)
  local meta = p.meta
  return meta.gc and { ns = header.collector_ns(p), steps = meta.gc_steps,
    cycles = meta.gc_cycles, longest = meta.gc_longest_ns } or nil
end

---The size of the heap over time.
---@param p cprof.Profile
---@return { ns: integer[], bytes: integer[] }?
function memory.heap(p)
  if not p.heap or #p.heap < 2 then return nil end
  local out = { ns = {}, bytes = {} }
  for i, point in ipairs(p.heap) do
    out.ns[i], out.bytes[i] = point.ns, point.bytes
  end
  return out
end

return memory
