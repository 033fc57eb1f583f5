-- The figures of a view: a row for each zone, with its callers and callees, in
-- the chosen host frame or average of frames.

local bound = require "cprof.count.bound"
local core = require "cprof.core"
local graph = require "cprof.count.graph"
local group = require "cprof.count.group"

local figures = {}

---@class cprof.ViewPlace   the choice of figures
---@field back integer      the frame: how many before the last one
---@field slow? integer     a slow frame instead: how many before the last one
---@field which 0|1|2|"all" for the last frame: its figures, or an average
---@field spread boolean    whether each level of recursion has a row

---@class cprof.ViewZone    a function, a zone, or one level of its recursion
---@field title string
---@field level integer     of recursion, from 1

---@class cprof.ViewRow: cprof.Row
---@field zone cprof.ViewZone
---@field name string
---@field title string      the zone's; from the second level on, with the level
---@field heat number[]     how much self and total time change, each 0 to 1
---@field callers cprof.Neighbour[]
---@field callees cprof.Neighbour[]

---@class cprof.ViewBase    what all frames of a profile share
---@field profile cprof.Profile
---@field groups cprof.Groups        functions by title
---@field most? integer              see bound.most
---@field callees? userdata          of core.callees; nil: not needed yet

---@class cprof.ViewFigures
---@field base cprof.ViewBase
---@field rows cprof.ViewRow[]
---@field nodes? userdata   the call-tree nodes; nil: they were not kept
---@field divisor integer   calls are in units of 1 / divisor
---@field of string         what the figures are of, in words
---@field heat table<integer, number[]>  by index of the title, see ViewRow
local Figures = {}
Figures.__index = Figures

---The choice of all that was recorded.
---@type cprof.ViewPlace
figures.all = { back = 0, which = 1, spread = false }

---@param p cprof.Profile
---@return cprof.ViewBase
function figures.base(p)
  return { profile = p, groups = group.by(p.functions, group.title),
           most = bound.most(p) }
end

-- by index of the title: how much self and total time change, each 0 to 1
local function heat_of(base, which)
  local heat = {}
  for _, row in ipairs(base.profile.frames:averages(which)) do
    local id = base.groups.ids[row.func.title]
    local h = heat[id] or { 0, 0 }
    heat[id] = { math.max(h[1], row.heat), math.max(h[2], row.total_heat) }
  end
  return heat
end

local averages = { all = "average of all frames",
  "moving average, 90 % of a change after 0.8 s",
  "moving average, 90 % of a change after 2.5 s" }

-- An earlier frame: its nodes (nil: they were not kept), the figures of its
-- functions, and which frame it is, in words.
local function earlier(frames, place)
  local back = place.slow or place.back
  local slow = place.slow ~= nil
  local f = frames:at(back, slow)
  local what = slow and ("slow frame %d, %d of %d kept"):format(f.number,
    back + 1, frames.slow_kept) or ("frame %d, %d before the last"):format(
    f.number, back)
  local nodes = frames:nodes(back, slow)
  if not nodes then what = what .. ", functions only" end
  return nodes, f.rows, what
end

-- The chosen nodes (nil: they were not kept), the divisor of their calls, what
-- they are of, in words, and, for an earlier frame, figures of its functions.
local function read(base, place)
  local p = base.profile
  local frames = p.frames
  if not frames or frames.recorded == 0 then
    return p.nodes, 1, "whole recording"
  end
  if place.slow or place.back > 0 then
    local nodes, rows, what = earlier(frames, place)
    return nodes, 1, what, rows
  end
  if not frames.history then return p.nodes, 1, "whole recording" end
  if place.which == 0 or frames.counted == 0 then
    return frames:nodes(0), 1, ("frame %d"):format(frames:at(0).number)
  end
  return frames:average_nodes(place.which), 1000, averages[place.which]
end

-- Rows and edges if only figures of functions were kept: a row for each title,
-- and no edges.
local function plain(base, list)
  local rows = {}
  for i, title in ipairs(base.groups.keys) do
    rows[i] = { title = title, func = base.groups.first[i], count = 0,
                self = 0, total = 0 }
  end
  for _, r in ipairs(list) do
    local row = rows[base.groups.ids[r.func.title]]
    row.count = row.count + r.calls
    row.self, row.total = row.self + r.self_ns, row.total + r.total_ns
  end
  -- their overhead was not kept
  for _, row in ipairs(rows) do
    row.calls, row.self_raw, row.total_raw = row.count, row.self, row.total
  end
  return rows, {}
end

local function describe(self, row, level)
  local id = self.base.groups.ids[row.title]
  row.zone = { title = row.title, level = level }
  row.name = row.func.name
  if level > 1 then
    row.name = ("%s [%d]"):format(row.name, level)
    row.title = ("%s [%d]"):format(row.title, level)
  end
  row.heat = self.heat[id] or { 0, 0 }
  self.levels[id] = self.levels[id] or {}
  self.levels[id][level] = row
end

local function any_figures(edge)
  return edge.count > 0 or edge.self > 0 or edge.total_in > 0 or
    edge.total_out ~= 0
end

---@param base cprof.ViewBase
---@param place cprof.ViewPlace
---@return cprof.ViewFigures
function figures.new(base, place)
  local nodes, divisor, of, list = read(base, place)
  local frames, sampled = base.profile.frames, base.profile.samples ~= nil
  local rows, edges, levels
  if nodes then
    rows, edges, levels = graph.sums(nodes, base.groups, sampled,
      place.spread)
  else
    rows, edges = plain(base, list)
  end
  local self = setmetatable({ base = base, rows = rows, nodes = nodes,
    divisor = divisor, of = of, levels = {}, heat = {} }, Figures)
  if frames and frames.counted > 0 then
    self.heat = heat_of(base, place.which == 0 and 1 or place.which)
  end
  graph.finish(rows, edges, base.most)
  local shown = {}
  for _, edge in ipairs(edges) do
    if any_figures(edge) then shown[#shown + 1] = edge end
  end
  local callers, callees = graph.around(shown, base.most)
  for i, row in ipairs(rows) do
    describe(self, row, levels and levels[i * 2] or 1)
  end
  for _, row in ipairs(rows) do
    row.callers, row.callees = callers(row), callees(row)
  end
  return self
end

---The figures of a call-tree node.
---@param id integer
---@return table  the figures that a row has
function Figures:state(id)
  local _, _, _, calls, own, total, raw, total_raw = core.node(self.nodes, id)
  local of = { id = id, self = own, total = total, count = calls,
    calls = calls, self_raw = raw, total_raw = total_raw }
  if self.base.profile.samples then
    of.count, of.calls, of.self_raw, of.total_raw = raw, nil, own, total
  end
  return bound.set(of, self.base.most)
end

---The row of a zone; if levels of recursion are merged, the row of all levels.
---nil: it has none.
---@param zone cprof.ViewZone
---@return cprof.ViewRow?
function Figures:find(zone)
  local levels = self.levels[self.base.groups.ids[zone.title]]
  if not levels then return nil end
  local level = zone.level
  while level > 1 and not levels[level] do level = level - 1 end
  return levels[level]
end

---Does the row have any figures? Samples may have found a function in a period
---for which no time is left, as others had the processor.
---@param row cprof.ViewRow
---@return boolean
function figures.any(row)
  return row.count > 0 or (row.total_count or 0) > 0 or row.total > 0
end

---The row with the largest total, without the root; nil: no row has figures.
---@return cprof.ViewRow?
function Figures:largest()
  local most
  for _, row in ipairs(self.rows) do
    if row.func.kind ~= "root" and (row.calls or row.total) > 0 and
       (not most or row.total > most.total) then
      most = row
    end
  end
  return most
end

---The callees of a call-tree node, the largest total first: { id, function,
---line of the call, has it callees?, ... }; {} if nodes were not kept.
---@param id integer
---@return table
function Figures:children(id)
  if not self.nodes then return {} end
  local base = self.base
  base.callees = base.callees or core.callees(base.profile.nodes)
  return core.children(self.nodes, base.callees, id)
end

---The zone of a call-tree node, with its level of recursion there.
---@param id integer
---@return cprof.ViewZone
function Figures:zone(id)
  local nodes, groups = self.nodes, self.base.groups.of
  local node, level = nodes[id], 0
  local own = groups[node.func]
  while node do
    if groups[node.func] == own then level = level + 1 end
    node = nodes[node.parent]
  end
  return { title = self.base.groups.keys[own], level = level }
end

-- a list that tells for each function whether it has this title or name, and
-- the deepest recursion of these functions
local function flags_of(p, name)
  local flags, deepest = {}, 0
  for i, f in ipairs(p.functions) do
    flags[i] = f.title == name or f.name == name
    if flags[i] then deepest = math.max(deepest, f.max_depth) end
  end
  return flags, deepest
end

-- A list that tells for each function whether it has this title or name, and
-- the level of recursion that may follow the name in brackets (0: all levels);
-- nil: there is no such function or level.
local function named(p, name)
  local flags, deepest = flags_of(p, name)
  if deepest > 0 then return flags, 0 end
  local base, digits = name:match "^(.*) %[(%d+)%]$"
  if not base then return nil end
  flags, deepest = flags_of(p, base)
  local level = tonumber(digits)
  if level < 1 or level > deepest then return nil end
  return flags, level
end

---The figures of a zone in calls that `ancestor` made, directly or not. nil and
---a name: no zone has this name. false: the nodes were not kept.
---@param zone string
---@param ancestor string
---@return { calls: number, self_ns: integer, total_ns: integer }|false|nil
---@return string?
function Figures:attribute(zone, ancestor)
  local p = self.base.profile
  local is, level = named(p, zone)
  if not is then return nil, zone end
  local above, level_above = named(p, ancestor)
  if not above then return nil, ancestor end
  if not self.nodes then return false end
  local sum = core.attribute(self.nodes, is, level, above, level_above,
    self.base.groups.of)
  return { calls = sum.calls / self.divisor, self_ns = sum.self,
           total_ns = sum.total }
end

return figures
