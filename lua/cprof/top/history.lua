-- The profiles that were loaded so far. The difference of two is the figures
-- of a period: since the start, of the last seconds, since a mark, or from one
-- time in the past to another.

local core = require "cprof.core"
local figures = require "cprof.view.figures"
local graph = require "cprof.count.graph"
local group = require "cprof.count.group"
local measure = require "cprof.count.measure"
local past = require "cprof.top.past"
local since = require "cprof.follow.since"

local history = {}

---@class cprof.TopPoint   a load
---@field at number        when, in seconds of a clock that never goes back
---@field clock integer    when, as os.time() says it
---@field profile cprof.Profile  only its counters, unless it is the newest
---@field count integer    calls, or samples
---@field self? table<string, table<string, integer>>  by measure: by title;
---    only the newest has it
---@field whole table<string, integer>                by measure

---@class cprof.TopRange   from one time in the past to another
---@field first cprof.TopPoint  with which its figures begin
---@field last cprof.TopPoint   with which they end
---@field back "start"|"window"|"mark"  the period that was shown before

---@class cprof.TopHistory
---@field past cprof.TopPast
---@field mark? cprof.TopPoint
---@field range? cprof.TopRange
---@field period "start"|"window"|"mark"|"range"
---@field window number    seconds
---@field measure cprof.Measure  what figures are shown
---@field recent cprof.TopChange[]  of the last loads, oldest first
---@field previous? cprof.TopPoint  the load before, without its nodes
---@field private known? cprof.TopFigures  what `figures` gave last
---@field private greatest? number  what `scale` gave last
local History = {}
History.__index = History

---@class cprof.TopChange   what was added from one load to the next
---@field self table<string, table<string, integer>>  by measure: by title
---@field whole table<string, integer>                by measure

---@class cprof.TopFigures   the figures of a period
---@field profile cprof.Profile  with only these
---@field figures cprof.ViewFigures
---@field measure cprof.Measure
---@field seconds? number  how long the period lasted; nil: it began at the
---    start, and when that was is not known
---@field now cprof.TopPoint

-- how many changes are kept for sparklines
local kept_shares <const> = 40

---@param period "start"|"window"
---@param window number
---@return cprof.TopHistory
function history.new(period, window)
  return setmetatable({ past = past.new(), recent = {}, period = period,
    window = window, measure = measure.row "wall" }, History)
end

local function point_of(p, at)
  local point = { at = at, clock = os.time(), profile = p, count = 0,
    self = {}, whole = {} }
  local groups = group.by(p.functions, group.title)
  local function sums(nodes) return (graph.sums(nodes, groups,
    p.samples ~= nil)) end
  local rows = sums(p.nodes)
  for _, name in ipairs(measure.options()) do
    local row_of, self, whole = measure.row(name), {}, 0
    local known = not row_of.unknown(p.meta)
    local own = known and not row_of:timed() and
      sums(core.measured(p.nodes, row_of.figure))
    for _, row in ipairs(known and (own or rows) or {}) do
      if row.func.id ~= p.overhead then
        self[row.title] = own and row.self or row_of:of_line(row)
        whole = whole + self[row.title]
      end
    end
    point.self[name], point.whole[name] = self, whole
  end
  for _, row in ipairs(rows) do point.count = point.count + row.count end
  point.count = p.samples or point.count
  return point
end

-- the figures that have grown, by title, and by how much
local function growth(now, before)
  local out = {}
  for title, n in pairs(now) do
    local came = n - (before[title] or 0)
    if came > 0 then out[title] = came end
  end
  return out
end

local function change(now, before)
  local out = { self = {}, whole = {} }
  for name, whole in pairs(now.whole) do
    out.whole[name] = whole - before.whole[name]
    out.self[name] = growth(now.self[name], before.self[name])
  end
  return out
end

-- the share of a function in a change
local function share(of, title, name)
  local whole = of.whole[name]
  return whole > 0 and (of.self[name][title] or 0) / whole or 0
end

---Adds a profile that was loaded just now.
---@param p cprof.Profile
---@param at number  seconds
function History:add(p, at)
  local point = point_of(p, at)
  local last = self:now()
  if last and not core.since(p.nodes, last.profile.nodes) then
    self:forget()  -- this is another recording
    last = nil
  end
  self.greatest = nil
  if not self.range then self.known = nil end
  if self.known then self.known.now = point end
  self.previous = last and { at = last.at, count = last.count,
    wall_ns = last.profile.meta.wall_ns }
  if last then
    table.insert(self.recent, change(point, last))
    if #self.recent > kept_shares then table.remove(self.recent, 1) end
  end
  self.past:add(point, self.window)
end

---Forgets all loads: another recording begins.
function History:forget()
  self.past, self.recent, self.known = past.new(), {}, nil
  if self.period == "range" then self.period = self.range.back end
  self.previous, self.mark, self.range = nil, nil, nil
  if self.period == "mark" then self.period = "start" end
end

---@return cprof.TopPoint?
function History:now() return self.past:now() end

---Sets the mark here, and shows the period since then.
function History:set_mark()
  self.mark = self:now()
  self:show(self.mark and "mark" or self.period)
end

---@param period "start"|"window"|"mark"
function History:show(period)
  self.period, self.known, self.range = period, nil, nil
end

---Shows the period from one time in the past to another, between the nearest
---loads. Its figures stay as they are while more is loaded.
---@param from number
---@param to number
function History:show_range(from, to)
  local first, last = self.past:between(from, to)
  if not first then return end
  self.range = { first = first, last = last,
    back = self.range and self.range.back or self.period }
  self.period, self.known = "range", nil
end

---Shows the period that was shown before the range.
function History:leave_range()
  if self.range then self:show(self.range.back) end
end

---Chooses the measure.
---@param option string
function History:set_measure(option)
  self.measure, self.known, self.greatest = measure.row(option), nil, nil
end

---@param seconds number
function History:set_window(seconds)
  self.window, self.known = seconds, nil
end

-- the load with which the period begins; nil: it begins at the start
local function before_of(self)
  if self.period == "mark" then return self.mark end
  if self.period == "range" then return self.range.first end
  if self.period == "start" then return nil end
  return self.past:before(self:now().at - self.window)
end

-- ns from the start to a load; nil: not known. With labels, wall_ns is only the
-- time that the program ran under them.
local function wall_of(point)
  local meta = point.profile.meta
  return not meta.labels and meta.wall_ns or nil
end

-- how long it was from a load, or from the start, to another load
local function seconds_between(now, before)
  local wall = wall_of(now)
  if wall then
    return (wall - (before and before.profile.meta.wall_ns or 0)) / 1e9
  end
  return before and now.at - before.at
end

---The figures of the period; nil: no profile was loaded yet.
---@return cprof.TopFigures?
function History:figures()
  local now = self:now()
  if not now or self.known then return self.known end
  local before, last = before_of(self), self.range and self.range.last or now
  local then_ = past.profile(last, now.profile)
  local p = measure.profile(before and since(then_, before.profile) or then_,
    self.measure)
  self.known = { profile = p, now = now, measure = p.measure,
    figures = figures.new(figures.base(p), figures.all),
    seconds = seconds_between(last, before) }
  return self.known
end

---Calls or samples a second since the load before; nil: not known.
---@return number?
function History:rate()
  local now, before = self:now(), self.previous
  if not before then return nil end
  local wall = wall_of(now)
  local seconds = wall and (wall - before.wall_ns) / 1e9 or now.at - before.at
  return seconds > 0 and (now.count - before.count) / seconds or nil
end

-- what the line of the past shows: a title, and the figure whose growth it is
local function activity(self, meta)
  local option = self.measure.option
  if not meta.waiting_ns or not measure.row(option):timed() then
    return meta.mode == "sample" and "samples" or "calls",
      function(point) return point.count end
  elseif option == "wait" then
    return "waiting", function(point) return point.whole.wait end
  end
  return "CPU time", function(point) return point.whole.cpu end
end

---What the program did from the time on when top began to look: a title, and
---as many shares of the greatest; the last is of now.
---@param count integer
---@param step number  seconds of each
---@return string title
---@return number[] shares
function History:course(count, step)
  local title, figure = activity(self, self:now().profile.meta)
  local out = self.past:growth(count, step, figure)
  local most = math.max(1e-9, table.unpack(out))
  for i, n in ipairs(out) do out[i] = n / most end
  return title, out
end

---The seconds from the first load that is kept to the newest.
---@return number
function History:lasted()
  return self:now() and self:now().at - self.past.points[1].at or 0
end

-- shares that a full bar of a sparkline can stand for
local scales <const> = { 0.05, 0.1, 0.2, 0.5, 1 }

---The share that a full bar stands for: the smallest scale that no recent
---share of a function exceeds.
---@return number
function History:scale()
  if not self.greatest then
    local most, name = 0, self.measure.option
    for _, of in ipairs(self.recent) do
      for title in pairs(of.self[name]) do
        most = math.max(most, share(of, title, name))
      end
    end
    for i = #scales, 1, -1 do
      if scales[i] >= most then self.greatest = scales[i] end
    end
    self.greatest = self.greatest or 1
  end
  return self.greatest
end

---A function's recent shares of self, from one load to the next, oldest first;
---0 for times before the first load.
---@param title string
---@param count integer
---@return number[]
function History:series(title, count)
  local out = {}
  for i = #self.recent - count + 1, #self.recent do
    out[#out + 1] = i >= 1 and share(self.recent[i], title,
      self.measure.option) or 0
  end
  return out
end

return history
