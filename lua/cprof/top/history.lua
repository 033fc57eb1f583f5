-- What was loaded in the course of time: the figures since the start, of
-- the last seconds, or since a mark, as differences of two loads.

local core = require "cprof.core"
local figures = require "cprof.view.figures"
local measures = require "cprof.count.measure"
local sampled = require "cprof.count.sampled"

local history = {}

---@class cprof.TopPoint   a load
---@field at number        seconds, by a clock that never goes back
---@field profile cprof.Profile
---@field base cprof.ViewBase
---@field nodes userdata   times, also where these are instructions
---@field program integer  time, or instructions, of the program
---@field calls integer    or samples
---@field own table<string, integer>   self time by title
---@field wait table<string, integer>  of that, waiting
---@field waited integer  of the program's time, waiting

---@class cprof.TopHistory
---@field points cprof.TopPoint[]  oldest first; the last is the newest
---@field mark? cprof.TopPoint
---@field period "start"|"window"|"mark"
---@field window number    seconds
---@field what "wall"|"cpu"|"wait"  what times are
---@field recent cprof.TopChange[]  from one load to the next
---@field previous? cprof.TopPoint  the load before, without its nodes
---@field private known? cprof.TopFigures
---@field private greatest? number
local History = {}
History.__index = History

---@class cprof.TopChange   what came between two loads
---@field whole integer     the program's time
---@field waited integer    of that, waiting
---@field own table<string, integer>   self time by title
---@field wait table<string, integer>  of that, waiting

---@class cprof.TopFigures   of a period
---@field figures cprof.ViewFigures
---@field whole integer    what is 100 %
---@field seconds? number  that the period lasted, by the clock; nil: since
---    the start, and when that was is not known
---@field samples? integer that its times are from
---@field most? integer    see bound.most
---@field measure cprof.Measure
---@field now cprof.TopPoint
---@field before? cprof.TopPoint  nil: since the start

-- intervals that a sparkline can show
local kept_shares <const> = 40

-- nodes of all loads that are kept, of 64 bytes each
local most_nodes <const> = 600000

-- the most loads that are kept for a period of the last seconds, and the least
local most_points <const>, least_points <const> = 60, 3

---@param period "start"|"window"
---@param window number
---@return cprof.TopHistory
function history.new(period, window)
  return setmetatable({ points = {}, recent = {}, period = period,
    window = window, what = "wall" }, History)
end

local function point_of(p, at)
  -- instructions as if they were times
  local nodes = p.meta.mode == "count" and core.since(p.nodes) or p.nodes
  local base = figures.base(p)
  local rows = core.sum(nodes, base.groups, #base.titles)
  local point = { at = at, profile = p, base = base, nodes = nodes,
    program = core.program(nodes), calls = 0, own = {}, wait = {},
    waited = 0 }
  for i, row in ipairs(rows) do
    point.own[base.titles[i]] = row.self_ns
    point.wait[base.titles[i]] = row.self_wait_ns
    point.waited = point.waited + row.self_wait_ns
    point.calls = point.calls + row.calls
  end
  point.calls = p.samples or point.calls
  return point
end

local function more(now, before)
  local out = {}
  for title, ns in pairs(now) do
    local came = ns - (before[title] or 0)
    if came > 0 then out[title] = came end
  end
  return out
end

local function change(now, before)
  return { whole = now.program - before.program,
    waited = now.waited - before.waited, own = more(now.own, before.own),
    wait = more(now.wait, before.wait) }
end

-- what of a time is measured, `wait` of which is waiting
local function part(what, ns, wait)
  return what == "wall" and ns or what == "wait" and wait or
    math.max(ns - wait, 0)
end

-- the share of a function in what was measured between two loads
local function share(of, title, what)
  local whole = part(what, of.whole, of.waited)
  return whole > 0 and part(what, of.own[title] or 0, of.wait[title] or 0) /
    whole or 0
end

-- What no period needs any more. Those that are kept have some distance from
-- each other, which is greater where there are many nodes.
local function drop_old(self)
  local points = self.points
  local now = points[#points]
  local many = math.max(least_points, math.min(most_points,
    most_nodes // #now.nodes))
  local before, last = points[#points - 2], points[#points - 1]
  if before and last.at - before.at < self.window / (many - 1) * 0.99 then
    table.remove(points, #points - 1)
  end
  while points[2] and points[2].at <= now.at - self.window do
    table.remove(points, 1)
  end
end

---Adds what was loaded just now.
---@param p cprof.Profile
---@param at number  seconds
function History:add(p, at)
  local point = point_of(p, at)
  local last = self:now()
  if last and not core.since(point.nodes, last.nodes) then
    self:forget()  -- it began anew
    last = nil
  end
  self.known, self.greatest = nil, nil
  self.previous = last and { at = last.at, calls = last.calls,
    wall_ns = last.profile.meta.wall_ns }
  if last then
    table.insert(self.recent, change(point, last))
    if #self.recent > kept_shares then table.remove(self.recent, 1) end
  end
  self.points[#self.points + 1] = point
  drop_old(self)
end

---Another recording begins.
function History:forget()
  self.points, self.recent, self.known = {}, {}, nil
  self.previous, self.mark = nil, nil
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

---What times are from now on.
---@param what "wall"|"cpu"|"wait"
function History:set_measure(what)
  self.what, self.known, self.greatest = what, nil, nil
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

-- how many samples the shares of a period are from
local function samples_of(now, before, what)
  local function since(field)
    local n = now.profile[field]
    return n and n - (before and before.profile[field] or 0)
  end
  local n, waits = since "time_samples", since "wait_samples"
  if not n or not waits then return n end
  if what ~= "wall" then return math.floor(part(what, n, waits)) end
  local whole = now.program - (before and before.program or 0)
  local waited = now.waited - (before and before.waited or 0)
  return sampled.both(n, waits, math.max(waited, 0) / math.max(whole, 1))
end

---The figures of the period; nil: nothing was loaded yet.
---@return cprof.TopFigures?
function History:figures()
  local now = self:now()
  if not now or self.known then return self.known end
  local before = before_of(self)
  local nodes = before and core.since(now.nodes, before.nodes) or now.nodes
  if self.what ~= "wall" then nodes = core.measured(nodes, self.what) end
  local whole = core.program(nodes)
  local base = setmetatable({
    profile = { functions = now.profile.functions, nodes = nodes,
                samples = now.profile.samples },
    callees = core.callees(nodes), most = now.base.most and whole,
  }, { __index = now.base })
  local samples = samples_of(now, before, self.what)
  self.known = {
    figures = figures.new(base, { back = 0, which = 1, spread = false }),
    whole = whole, most = base.most, now = now, before = before,
    seconds = seconds_of(now, before), samples = samples,
    measure = measures.new("ns", whole, samples),
  }
  return self.known
end

---Calls or samples a second, lately; nil: that is not known.
---@return number?
function History:rate()
  local now, before = self:now(), self.previous
  if not before then return nil end
  local wall = now.profile.meta.wall_ns
  local seconds = wall and (wall - before.wall_ns) / 1e9 or now.at - before.at
  return seconds > 0 and (now.calls - before.calls) / seconds or nil
end

-- what a full bar of a graph may stand for
local scales <const> = { 0.05, 0.1, 0.2, 0.5, 1 }

---The share that a full bar stands for: above that no function is, lately.
---@return number
function History:scale()
  if not self.greatest then
    local most = 0
    for _, of in ipairs(self.recent) do
      for title in pairs(of.own) do
        most = math.max(most, share(of, title, self.what))
      end
    end
    for i = #scales, 1, -1 do
      if scales[i] >= most then self.greatest = scales[i] end
    end
    self.greatest = self.greatest or 1
  end
  return self.greatest
end

---Shares of self time of a function, lately, oldest first; 0: before that.
---@param title string
---@param count integer
---@return number[]
function History:series(title, count)
  local out = {}
  for i = #self.recent - count + 1, #self.recent do
    out[#out + 1] = i >= 1 and share(self.recent[i], title, self.what) or 0
  end
  return out
end

return history
