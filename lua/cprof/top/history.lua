-- What was loaded in the course of time: the figures since the start, of
-- the last seconds, or since a mark, as differences of two loads.

local core = require "cprof.core"
local figures = require "cprof.view.figures"

local history = {}

---@class cprof.TopPoint   a load
---@field at number        seconds, by a clock that never goes back
---@field profile cprof.Profile
---@field base cprof.ViewBase
---@field nodes userdata   times, also where these are instructions
---@field program integer  time, or instructions, of the program
---@field calls integer
---@field own table<string, integer>  self time by title

---@class cprof.TopHistory
---@field points cprof.TopPoint[]  oldest first; the last is the newest
---@field first? cprof.TopPoint    that was loaded first
---@field mark? cprof.TopPoint
---@field period "start"|"window"|"mark"
---@field window number    seconds
---@field recent table<string, number>[]  shares of self time, by title,
---    from one load to the next
---@field private known? cprof.TopFigures
local History = {}
History.__index = History

---@class cprof.TopFigures   of a period
---@field figures cprof.ViewFigures
---@field whole integer    what is 100 %
---@field seconds? number  that the period lasted, by the clock; nil: since
---    the start, and when that was is not known
---@field calls integer
---@field now cprof.TopPoint
---@field before? cprof.TopPoint  nil: since the start

-- intervals that a sparkline can show
local kept_shares <const> = 40

-- nodes of all loads that are kept; a node takes 72 bytes
local most_nodes <const> = 2000000

---@param period "start"|"window"
---@param window number
---@return cprof.TopHistory
function history.new(period, window)
  return setmetatable({ points = {}, recent = {}, period = period,
    window = window }, History)
end

local function point_of(p, at)
  local nodes = core.since(p.nodes)
  local base = figures.base(p)
  local rows = core.sum(nodes, base.groups, #base.titles)
  local point = { at = at, profile = p, base = base, nodes = nodes,
    program = core.program(nodes), calls = 0, own = {} }
  for i, row in ipairs(rows) do
    point.own[base.titles[i]] = row.self_ns
    point.calls = point.calls + row.calls
  end
  return point
end

local function shares(now, before)
  local whole, out = now.program - before.program, {}
  if whole <= 0 then return out end
  for title, ns in pairs(now.own) do
    local more = ns - (before.own[title] or 0)
    if more > 0 then out[title] = more / whole end
  end
  return out
end

-- what no period needs any more
local function drop_old(self)
  local points, now = self.points, self.points[#self.points].at
  local nodes = 0
  for _, point in ipairs(points) do nodes = nodes + #point.nodes end
  while #points > 2 and (points[2].at <= now - self.window or
    nodes > most_nodes) do
    nodes = nodes - #points[1].nodes
    table.remove(points, 1)
  end
end

---Adds what was loaded just now.
---@param p cprof.Profile
---@param at number  seconds
function History:add(p, at)
  local point = point_of(p, at)
  local last = self.points[#self.points]
  self.known = nil
  if last and not core.since(point.nodes, last.nodes) then
    self:forget()  -- it began anew
    last = nil
  end
  self.first = self.first or { at = at, calls = point.calls }
  if last then
    table.insert(self.recent, shares(point, last))
    if #self.recent > kept_shares then table.remove(self.recent, 1) end
  end
  self.points[#self.points + 1] = point
  drop_old(self)
end

---Another recording begins.
function History:forget()
  self.points, self.recent, self.known = {}, {}, nil
  self.first, self.mark = nil, nil
  if self.period == "mark" then self.period = "start" end
end

---@return cprof.TopPoint?
function History:now() return self.points[#self.points] end

---From here on is a period of its own.
function History:set_mark()
  self.mark = self:now()
  self:show(self.mark and "mark" or self.period)
end

---@param period "start"|"window"|"mark"
function History:show(period)
  self.period, self.known = period, nil
end

---@param seconds number
function History:set_window(seconds)
  self.window, self.known = seconds, nil
end

-- the load that the period begins with; nil: it begins at the start
local function before_of(self)
  if self.period == "mark" then return self.mark end
  if self.period == "start" then return nil end
  local points, found = self.points, nil
  local at = points[#points].at - self.window
  for _, point in ipairs(points) do
    if not found or point.at <= at then found = point end
  end
  return found
end

local function seconds_of(now, before)
  local wall = now.profile.meta.wall_ns
  if wall then
    return (wall - (before and before.profile.meta.wall_ns or 0)) / 1e9
  end
  return before and now.at - before.at
end

---The figures of the period; nil: nothing was loaded yet.
---@return cprof.TopFigures?
function History:figures()
  local now = self:now()
  if not now or self.known then return self.known end
  local before = before_of(self)
  local nodes = before and core.since(now.nodes, before.nodes) or now.nodes
  local base = setmetatable({
    profile = { functions = now.profile.functions, nodes = nodes },
    callees = core.callees(nodes),
  }, { __index = now.base })
  self.known = {
    figures = figures.new(base, { back = 0, which = 1, spread = false }),
    whole = core.program(nodes), now = now, before = before,
    seconds = seconds_of(now, before),
    calls = now.calls - (before and before.calls or 0),
  }
  return self.known
end

---Calls a second, lately; nil: that is not known.
---@return number?
function History:rate()
  local points = self.points
  local now, before = points[#points], points[#points - 1]
  if not before then return nil end
  local seconds = seconds_of(now, before)
  return seconds > 0 and (now.calls - before.calls) / seconds or nil
end

---Shares of self time of a function, lately, oldest first; -1: before that.
---@param title string
---@param count integer
---@return number[]
function History:series(title, count)
  local out = {}
  for i = #self.recent - count + 1, #self.recent do
    out[#out + 1] = i < 1 and -1 or self.recent[i][title] or 0
  end
  return out
end

return history
