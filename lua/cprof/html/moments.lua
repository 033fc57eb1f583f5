-- When samples came, for the page: the time axis, as columns of bytes, from
-- which the page makes the figures of any range of time.
--
-- A sample has a place: a node, and the instruction that ran. What that
-- instruction tells of lines is the same in all ranges, so it is sent once. In
-- exact modes, a place is a node, overhead, or a line of a function.

local axes = require "cprof.profile.axis"
local cells = require "cprof.profile.cells"
local core = require "cprof.core"
local heatmap = require "cprof.report.heatmap"
local nodes_of = require "cprof.profile.nodes"
local pack = require "cprof.html.pack"
local profile = require "cprof.profile"
local range = require "cprof.profile.range"

local moments = {}

-- a sample is divided among lines in parts of this
local unit <const> = 1000000000

-- The lines that a sample of an instruction is about, as columns: spot, line,
-- part. A spot is a function and an instruction, and known by its number. In a
-- zone, it is of the function that opened the zone.
local function spots_of(p, places)
  local numbers, n, lines_of = {}, 0, axes.lines(p, unit)
  local out, of = { spot = {}, n = {}, part = {} }, {}
  local function add(spot, lines)
    for line, part in pairs(lines) do
      local i = #out.spot + 1
      out.spot[i], out.n[i], out.part[i] = spot, line, part
    end
  end
  for i = 1, #places, 2 do
    local func = axes.owner(p, places[i])
    local key = func << 32 | places[i + 1]
    local lines = not numbers[key] and lines_of(func, places[i + 1])
    if lines then
      n = n + 1
      numbers[key] = n
      add(n, lines)
    end
    of[#of + 1] = numbers[key] or 0
  end
  return out, of
end

-- Kinds of places in exact modes.
local node <const>, overhead <const>, line <const> = 0, 1, 2

-- the bit of an AxisPlace that is a line
local is_line <const> = 0x80000000

-- The places of slices, as columns: node or function; kind; line.
local function slices_of(p, places, nodes, all)
  local of, kind, number = {}, {}, {}
  local own = select(2, core.overhead(p.nodes))
  for i = 1, #places, 2 do
    local id, at, n = places[i], places[i + 1], #of + 1
    if at & is_line ~= 0 then
      of[n], kind[n], number[n] = all[id] or 0, line, at & ~is_line
    else
      local _, func = core.node(p.nodes, id)
      of[n], number[n] = nodes[id] or 0, 0
      kind[n] = func == own and overhead or node
    end
  end
  return pack.columns { of, kind, number }
end

-- The most events, each with its own time, of which the page has ranges of
-- time. If there are more, its trace still shows the longest calls.
local most_events <const> = 1000000

-- the most stretches that the page lists
local most <const> = 40

-- The stretches that stand out, as the page lists them; how many of them are
-- left out; and a note on them, or nil.
local function stretches_of(p, all)
  local from, to = range.bounds(p)
  local out = {}
  if to <= from then return out, 0, nil end
  local list, left = cells.stretches(p, cells.of(p, from, to, 200), most)
  for i, s in ipairs(list) do
    local func
    for id, f in ipairs(p.functions) do
      if s.func and f.title == s.func.title then func = all[id] end
    end
    out[i] = { s.from, s.to, s.share, func or -1, s.part or 0, s.usual or 0,
      s.lost }
  end
  return out, left, heatmap.collector(p, list)
end

---The time axis; nil: there is none, or the page's tree has other paths than
---the recording.
---@param p cprof.Profile       what is shown
---@param whole cprof.Profile   as it was recorded
---@param index table<integer, integer>  function of p -> its row in the page
---@param all table<integer, integer>    of whole
---@param trees table[]         columns are appended
---@return table?
function moments.of(p, whole, index, all, trees)
  local axis = profile.axis(whole)
  if axis and not whole.samples and not axes.sliced(axis) and
     select(2, core.axis_column(axis, "passed")) > most_events then
    return nil
  end
  local nodes = axis and p.measure.whole == whole.measure.whole and
    nodes_of(p, whole, index, all)
  if not nodes then return nil end
  local out, named = { wall = whole.meta.wall_ns }, {}
  out.step, out.mean, out.unit, out.slice = core.axis_scale(axis)
  -- cells of single events are as short as those of samples
  if out.slice == 0 then out.slice = 20e6 end
  out.begins = core.axis_begins(axis)
  out.overhead = axes.overhead(whole.nodes)
  local function put(what, names, columns)
    trees[#trees + 1] = columns
    out[what], named[tostring(#trees - 1)] = #trees - 1, names
  end
  local samples, names = { columns = {} }, { "passed", "place", "above",
    "samples" }
  for i, name in ipairs(names) do
    samples.columns[i], samples.n = core.axis_column(axis, name)
  end
  put("samples", names, samples)
  local places, at = core.axis_places(axis), {}
  if whole.samples then
    for i = 1, #places, 2 do at[#at + 1] = nodes[places[i]] or 0 end
    local spots, of = spots_of(whole, places)
    put("places", { "node", "spot" }, pack.columns { at, of })
    put("spots", { "spot", "line", "part" },
      pack.columns { spots.spot, spots.n, spots.part })
  else
    put("places", { "node", "kind", "line" },
      slices_of(whole, places, nodes, all))
  end
  out.columns = named
  out.stretches, out.left, out.note = stretches_of(whole, all)
  return out
end

return moments
