-- What a view shows, in numbers: the rows of all zones, and who called
-- whom, in the frame or average that is looked at.

local bound = require "cprof.count.bound"
local core = require "cprof.core"
local sampled = require "cprof.count.sampled"

local figures = {}

---@class cprof.ViewPlace   what is looked at
---@field back integer      frames before the last
---@field slow? integer     instead: slow frames before the last of them
---@field which 0|1|2|"all" of the last frame: itself, or an average
---@field spread boolean    are levels of recursion told apart?

---@class cprof.ViewZone
---@field title string
---@field level integer     of recursion, from 1

---@class cprof.ViewRow
---@field zone cprof.ViewZone
---@field func cprof.Function
---@field name string
---@field title string      the zone's, with its level beyond the first
---@field calls? integer   nil in mode "sample", which has instead:
---@field self_samples? integer
---@field self_ns integer
---@field total_ns integer
---@field self_most_ns integer   what these are at most, see bound
---@field total_most_ns integer
---@field heat number[]     of self and total time
---@field callers cprof.ViewEdge[]
---@field callees cprof.ViewEdge[]

---@class cprof.ViewEdge
---@field row cprof.ViewRow the caller or callee
---@field calls? integer
---@field self_samples? integer
---@field self_ns integer
---@field total_ns integer
---@field self_most_ns integer
---@field total_most_ns integer

---@class cprof.ViewBase    of a profile: what all its frames share
---@field profile cprof.Profile
---@field titles string[]
---@field funcs cprof.Function[]     the first of each title
---@field groups integer[]           function -> title
---@field ids table<string, integer> title -> its number
---@field most? integer              see bound.most
---@field callees? userdata

---@class cprof.ViewFigures
---@field base cprof.ViewBase
---@field rows cprof.ViewRow[]
---@field nodes? userdata   the stack states; nil: they are not kept
---@field divisor integer   of calls
---@field of string         what is looked at, in words
---@field heat table<integer, number[]>
local Figures = {}
Figures.__index = Figures

---@param p cprof.Profile
---@return cprof.ViewBase
function figures.base(p)
  local ids, groups, titles, funcs = {}, {}, {}, {}
  for i, f in ipairs(p.functions) do
    if not ids[f.title] then
      titles[#titles + 1] = f.title
      funcs[#titles] = f
      ids[f.title] = #titles
    end
    groups[i] = ids[f.title]
  end
  return { profile = p, titles = titles, funcs = funcs, groups = groups,
           ids = ids, most = bound.most(p) }
end

-- how fast the figures of each title change
local function heat_of(base, which)
  local heat = {}
  for _, row in ipairs(base.profile.frames:averages(which)) do
    local id = base.ids[row.func.title]
    local h = heat[id] or { 0, 0 }
    heat[id] = { math.max(h[1], row.heat), math.max(h[2], row.total_heat) }
  end
  return heat
end

local averages = { all = "average of all frames",
  "average, 90 % of a change in 0.8 s", "average, 90 % of a change in 2.5 s" }

-- an old frame: its nodes, or else its functions, and its title
local function old(frames, place)
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

-- nodes, what their calls are to be divided by, what that is in words,
-- and, where there are no nodes, the functions
local function read(base, place)
  local p = base.profile
  local frames = p.frames
  if not frames or frames.recorded == 0 then
    return p.nodes, 1, "whole recording"
  end
  if place.slow or place.back > 0 then
    local nodes, rows, what = old(frames, place)
    return nodes, 1, what, rows
  end
  if place.which == 0 or frames.counted == 0 then
    return frames:nodes(0), 1, ("frame %d"):format(frames:at(0).number)
  end
  return frames:average_nodes(place.which), 1000, averages[place.which]
end

-- a row for each title, of functions alone
local function plain(base, list)
  local rows = {}
  for i in ipairs(base.titles) do
    rows[i] = { calls = 0, self_ns = 0, total_ns = 0 }
  end
  for _, r in ipairs(list) do
    local row = rows[base.ids[r.func.title]]
    row.calls = row.calls + r.calls
    row.self_ns = row.self_ns + r.self_ns
    row.total_ns = row.total_ns + r.total_ns
  end
  -- nothing is known of overhead
  for _, row in ipairs(rows) do
    row.self_raw_ns, row.total_raw_ns = row.self_ns, row.total_ns
  end
  return rows, {}
end

local function describe(self, row, group, level)
  local base = self.base
  row.func = base.funcs[group]
  row.zone = { title = base.titles[group], level = level }
  row.name, row.title = row.func.name, row.zone.title
  if level > 1 then
    row.name = ("%s [%d]"):format(row.name, level)
    row.title = ("%s [%d]"):format(row.title, level)
  end
  row.heat = self.heat[group] or { 0, 0 }
  row.callers, row.callees = {}, {}
  local of = self.levels[group] or {}
  of[level] = row
  self.levels[group] = of
end

-- what one row has of another: `way` is that of its total time
local function edge(row, e, way, most)
  return bound.set({ row = row, calls = e.calls,
    self_samples = e.self_samples, self_ns = e.self_ns,
    self_raw_ns = e.self_raw_ns, total_ns = e["total_" .. way .. "_ns"],
    total_raw_ns = e["total_" .. way .. "_raw_ns"] }, most)
end

local function join(rows, edges, most)
  for _, e in ipairs(edges) do
    if (e.calls or 0) > 0 or e.self_ns > 0 or e.total_in_ns > 0 or
       e.total_out_ns ~= 0 then
      table.insert(rows[e.callee].callers,
        edge(rows[e.caller], e, "in", most))
      table.insert(rows[e.caller].callees,
        edge(rows[e.callee], e, "out", most))
    end
  end
end

---@param base cprof.ViewBase
---@param place cprof.ViewPlace
---@return cprof.ViewFigures
function figures.new(base, place)
  local nodes, divisor, of, list = read(base, place)
  local frames = base.profile.frames
  local rows, edges, levels
  if nodes then
    rows, edges, levels = core.sum(nodes, base.groups, #base.titles,
      place.spread)
  else
    rows, edges = plain(base, list)
  end
  if base.profile.samples then sampled.sums(rows, edges) end
  local self = setmetatable({ base = base, rows = rows, nodes = nodes,
    divisor = divisor, of = of, levels = {}, heat = {} }, Figures)
  if frames and frames.counted > 0 then
    self.heat = heat_of(base, place.which == 0 and 1 or place.which)
  end
  for i, row in ipairs(rows) do
    bound.set(row, base.most)
    describe(self, row, levels and levels[i * 2 - 1] or i,
      levels and levels[i * 2] or 1)
  end
  join(rows, edges, base.most)
  return self
end

---The figures of a state.
---@param id integer
---@return table  as those of a row
function Figures:state(id)
  local _, _, _, calls, self_ns, total_ns, raw, total_raw = core.node(
    self.nodes, id)
  local of = { id = id, self_ns = self_ns, total_ns = total_ns }
  if self.base.profile.samples then
    of.self_samples, raw, total_raw = raw, self_ns, total_ns
  else of.calls = calls
  end
  of.self_raw_ns, of.total_raw_ns = raw, total_raw
  return bound.set(of, self.base.most)
end

---The row of a zone: where levels are merged, that of all of them.
---@param zone cprof.ViewZone
---@return cprof.ViewRow?
function Figures:find(zone)
  local levels = self.levels[self.base.ids[zone.title]]
  if not levels then return nil end
  local level = zone.level
  while level > 1 and not levels[level] do level = level - 1 end
  return levels[level]
end

---Has the row any figures?
---@param row cprof.ViewRow
---@return boolean
function figures.any(row)
  return (row.calls or 0) > 0 or row.total_ns > 0
end

---The row that took the most time of those that have any.
---@return cprof.ViewRow?
function Figures:largest()
  local most
  for _, row in ipairs(self.rows) do
    if row.func.kind ~= "root" and (row.calls or row.total_ns) > 0 and
       (not most or row.total_ns > most.total_ns) then
      most = row
    end
  end
  return most
end

---The states that a state has called: { id, function, line of the call,
---has it called any?, ... }
---@param id integer
---@return table
function Figures:children(id)
  if not self.nodes then return {} end
  local base = self.base
  base.callees = base.callees or core.callees(base.profile.nodes)
  return core.children(self.nodes, base.callees, id)
end

---The zone of a state.
---@param id integer
---@return cprof.ViewZone
function Figures:zone(id)
  local nodes, groups = self.nodes, self.base.groups
  local node, level = nodes[id], 0
  local group = groups[node.func]
  while node do
    if groups[node.func] == group then level = level + 1 end
    node = nodes[node.parent]
  end
  return { title = self.base.titles[group], level = level }
end

local function flags_of(p, name)
  local flags, deepest = {}, 0
  for i, f in ipairs(p.functions) do
    flags[i] = f.title == name or f.name == name
    if flags[i] then deepest = math.max(deepest, f.max_depth) end
  end
  return flags, deepest
end

-- functions by title or name, and the level that may follow it in
-- brackets (0: all); nil: there are none
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

---What a zone took on behalf of another, any number of calls above it.
---nil and who is unknown; or false, where the stack states are not kept.
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
    self.base.groups)
  return { calls = sum.calls / self.divisor, self_ns = sum.self_ns,
           total_ns = sum.total_ns }
end

return figures
