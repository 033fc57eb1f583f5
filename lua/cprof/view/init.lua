-- The view: an interactive profile as data, after IPROF. It draws nothing:
-- hosts and `cprof top` draw the records that `lines` returns.

local figures = require "cprof.view.figures"
local lists = require "cprof.view.lists"
local options = require "cprof.text.options"
local order = require "cprof.text.order"

local view = {}

---@class cprof.View
---@field private source fun(): cprof.Profile?
---@field private live boolean
---@field private base? cprof.ViewBase
---@field private list? cprof.ViewList  nil: to be made anew
---@field zone? cprof.ViewZone
local View = {}
View.__index = View

---@param source fun(): cprof.Profile?
---@param live boolean  whether `source` gives a new profile each time
---@return cprof.View
function view.new(source, live)
  return setmetatable({
    source = source, live = live, shown_mode = "total", at = 1, top = 1,
    place = { back = 0, which = 1, spread = false }, open = {},
  }, View)
end

-- The level for error() in the methods, which `view.method` calls for programs.
local LEVEL <const> = 4

local function misuse(who, must, got, level)
  error(("view:%s: %s, got %s"):format(who, must,
    options.shown(got)), level or LEVEL)
end

-- Gets the profile. Only `lines`, which draws, gets a new one of what is being
-- recorded, so that controls act on what was drawn last.
local function ready(self, who)
  if self.base and not (who == "lines" and self.live) then return end
  local p = self.source()
  if not p then
    error(("view:%s: nothing was recorded; call start first"):format(who),
      LEVEL)
  end
  self.base, self.figures, self.list = figures.base(p), nil, nil
end

-- the number of frames that are kept: all ("kept") or slow ones ("slow_kept")
local function kept(self, what)
  local frames = self.base.profile.frames
  return frames and frames[what] or 0
end

-- The chosen figures. The choice moves to a frame that is kept.
local function numbers(self)
  if self.figures then return self.figures end
  local place, slow = self.place, kept(self, "slow_kept")
  place.back = math.min(place.back, math.max(0, kept(self, "kept") - 1))
  if place.slow then
    place.slow = slow > 0 and math.min(place.slow, slow - 1) or nil
  end
  self.figures = figures.new(self.base, place)
  return self.figures
end

local function listed(self)
  if not self.list then
    self.list = lists.modes[self.shown_mode](numbers(self), self)
    self.at = math.max(1, math.min(self.at, self.list.count))
  end
  return self.list
end

-- The choice of figures has changed.
local function forget_figures(self)
  self.figures, self.list = nil, nil
end

local function show(self, mode)
  self.shown_mode, self.list = mode, nil
end

-- Shows the callers and callees of a zone, with the cursor on the zone's line.
local function show_zone(self, zone)
  self.zone = zone
  show(self, "callgraph")
  self.at = listed(self).own or 1
end

-- `n` as an integer; raises an error if it is not one
local function integer(who, n)
  return options.integer(n) or
    misuse(who, "the argument must be an integer", n, LEVEL + 1)
end

---The lines of the view: all, or at most `height`, with the cursor's line among
---them. A view of a running recording gets new figures.
---@param height? integer
---@return cprof.Record[]
function View:lines(height)
  local most = options.integer(height)
  if height ~= nil and not (most and most >= 1) then
    misuse("lines", "the height must be an integer of at least 1", height)
  end
  local list = listed(self)
  local many = math.min(most or list.count, list.count)
  local top = math.max(self.at - many + 1, math.min(self.top, self.at))
  self.top = math.max(1, math.min(top, list.count - many + 1))
  return lists.records(numbers(self), list, self.top, self.top + many - 1,
    self.at)
end

---The titles of the columns, with units, and what the figures are of, in words.
---@return { name: string, values: string[], of: string }
function View:titles()
  local fig = numbers(self)
  return { name = "zone", of = fig.of, values = { "self ms", "total ms",
    fig.divisor == 1 and "calls" or "calls/frame" } }
end

---Shows functions by self or total time, the callers and callees of a zone, or
---the call tree. nil: changes nothing. Returns the mode.
---@param mode? "self"|"total"|"callgraph"|"tree"
---@return string
function View:mode(mode)
  if mode == nil then return self.shown_mode end
  if not lists.modes[mode] then
    misuse("mode", 'the mode must be "self", "total", "callgraph" or "tree"',
      mode)
  end
  if mode ~= self.shown_mode then self.at, self.top = 1, 1 end
  show(self, mode)
  return mode
end

---Moves the cursor down by `n` lines, at most to the last line; up if `n` is
---negative.
---@param n integer
function View:move(n)
  n = integer("move", n)
  local count = listed(self).count
  self.at = math.max(1, math.min(self.at + n, count))
end

---Puts the cursor on line `i`, from 1. nil: changes nothing. Returns its line.
---@param i? integer
---@return integer
function View:cursor(i)
  if i ~= nil then i = integer("cursor", i) end
  local count = listed(self).count
  if i then self.at = math.max(1, math.min(i, count)) end
  return self.at
end

---Shows the callers and callees of the zone under the cursor.
function View:select()
  local list = listed(self)
  if list.count > 0 then show_zone(self, list.zone(self.at)) end
end

-- the zone of the caller with the largest total, without the root and the row
-- itself; nil: there is none
local function caller(row)
  local most
  for _, e in ipairs(row.callers) do
    if e.row.func.kind ~= "root" and e.row ~= row and
       (not most or e.total > most.total) then
      most = e
    end
  end
  return most and most.row.zone
end

---Shows the callers and callees of the caller for which a zone took the most
---time. The zone is the one whose call graph is shown; in other modes, the one
---under the cursor. If it has no caller, it is shown itself.
function View:parent()
  local list, row = listed(self), nil
  if self.shown_mode == "callgraph" then row = list.row
  elseif list.count > 0 then row = numbers(self):find(list.zone(self.at)) end
  if not row then return end
  show_zone(self, caller(row) or row.zone)
end

local function go_back(self, back)
  local last = math.max(0, kept(self, "kept") - 1)
  self.place.back, self.place.slow = math.max(0, math.min(back, last)), nil
  forget_figures(self)
end

---Goes back by `n` frames; forward if `n` is negative.
---@param n integer
function View:frame(n)
  n = integer("frame", n)
  go_back(self, self.place.back + n)
end

---Shows frame `i`: 0 is the last frame, or the average; 1 the frame before it,
---and so on. nil: changes nothing. A frame whose nodes were not kept has
---functions, but no callers, callees or tree. Returns the frame's number.
---@param i? integer
---@return integer
function View:at_frame(i)
  if i ~= nil then i = integer("at_frame", i) end
  if i then go_back(self, i) end
  return self.place.back
end

local function go_slow(self, i)
  local count = kept(self, "slow_kept")
  if count == 0 then return end
  self.place.slow = math.max(0, math.min(i, count - 1))
  forget_figures(self)
end

---Shows the last slow frame. If a slow frame is shown already, goes back by `n`
---slow frames.
---@param n integer
function View:slow(n)
  n = integer("slow", n)
  go_slow(self, self.place.slow and self.place.slow + n or 0)
end

---Shows slow frame `i`, where 0 is the last one, until `at_frame` shows another
---frame. nil: changes nothing. Returns the slow frame's number; nil: no slow
---frame is shown.
---@param i? integer
---@return integer?
function View:at_slow(i)
  if i ~= nil then i = integer("at_slow", i) end
  if i then go_slow(self, i) end
  return self.place.slow
end

---Chooses the figures for the last frame: 0: its own; 1 and 2: moving averages,
---which have 90 % of a change after 0.8 and 2.5 seconds; "all": the average of
---all frames. nil: changes nothing. Returns the choice.
---@param which? 0|1|2|"all"
---@return 0|1|2|"all"
function View:average(which)
  if which == nil then return self.place.which end
  if which ~= 0 and which ~= 1 and which ~= 2 and which ~= "all" then
    misuse("average", 'the argument must be 0, 1, 2 or "all"', which)
  end
  self.place.which = which == "all" and which or math.tointeger(which)
  forget_figures(self)
  return self.place.which
end

---Shows a recursive zone as one line, or as one line for each level. nil:
---changes nothing. Returns the choice.
---@param how? "merged"|"spread"
---@return string
function View:recursion(how)
  if how ~= nil then
    if how ~= "merged" and how ~= "spread" then
      misuse("recursion", 'the argument must be "merged" or "spread"', how)
    end
    self.place.spread = how == "spread"
    forget_figures(self)
    -- the zone's own line may have moved
    if self.base and self.shown_mode == "callgraph" then
      self.at = listed(self).own or 1
    end
  end
  return self.place.spread and "spread" or "merged"
end

local function set_open(self, open)
  local list = listed(self)
  if not list.open or list.count == 0 then return end
  list.open(self.at, open)
  self.list = nil
end

---Shows the callees of the node under the cursor, in mode "tree".
function View:expand()
  set_open(self, true)
end

---Hides the callees of the node under the cursor, in mode "tree".
function View:collapse()
  set_open(self, false)
end

---The frames that are kept, oldest first, for a graph: their numbers, their
---times, and the figures of each zone in them, the zone with the largest self
---time first. `at` is the index of the shown frame; nil: that is a slow frame,
---or there are no frames.
---@return { numbers: integer[], ns: integer[], zones: table[], at: integer? }
function View:graph()
  local frames, groups = self.base.profile.frames, self.base.groups
  if not frames then return { numbers = {}, ns = {}, zones = {} } end
  local series, zones = frames:series(groups.of), {}
  for id, zone in pairs(series.sums) do
    zone.name, zone.title, zone.sum = groups.first[id].name, groups.keys[id], 0
    for _, ns in ipairs(zone.self) do zone.sum = zone.sum + ns end
    zones[#zones + 1] = zone
  end
  table.sort(zones, order("-sum", "title"))
  return { numbers = series.numbers, ns = series.ns, zones = zones,
    at = not self.place.slow and frames.kept > 0 and
      frames.kept - self.place.back or nil }
end

---The figures of one zone, by name or title, in the frames that are kept,
---oldest first. nil: only the frames' numbers and times, with figures of 0.
---@param zone? string
---@return { numbers: integer[], ns: integer[], self: integer[],
---  total: integer[], calls: integer[] }
function View:series(zone)
  if zone ~= nil and type(zone) ~= "string" then
    misuse("series", "a name or title of a zone is needed", zone)
  end
  local p, of = self.base.profile, {}
  for i, f in ipairs(p.functions) do
    of[i] = zone and (f.title == zone or f.name == zone) or nil
  end
  if zone and not next(of) then
    misuse("series", "the zone must be the name or title of a zone of the " ..
      "profile, as lines show it", zone)
  end
  if not p.frames then
    return { numbers = {}, ns = {}, self = {}, total = {}, calls = {} }
  end
  local series = p.frames:series(of)
  local out = series.sums[true] or p.frames:zeros()
  out.numbers, out.ns = series.numbers, series.ns
  return out
end

---The figures of a zone in calls that `ancestor` made, directly or not, in the
---shown frame or average. Both are names or titles; "f [2]" is only the second
---level of recursion of f. nil and a message: the frame's nodes were not kept.
---@param zone string
---@param ancestor string
---@return { calls: number, self_ns: integer, total_ns: integer }?
---@return string?
function View:attribute(zone, ancestor)
  local strange = type(zone) ~= "string" and 1 or
    type(ancestor) ~= "string" and 2
  if strange then
    misuse("attribute", "two names or titles of zones are needed",
      select(strange, zone, ancestor))
  end
  local sum, unknown = numbers(self):attribute(zone, ancestor)
  if sum == nil then
    misuse("attribute", "the zone must be the name or title of a zone of " ..
      "the profile, as lines show it", unknown)
  elseif not sum then
    return nil, "the call-tree nodes of this frame were not kept"
  end
  return sum
end

-- methods that only note a choice, for which there need not be a profile
local modest <const> = { mode = true, average = true, recursion = true }

---A method as programs call it.
---@param name string
---@param around fun(f: function, ...): ...  calls `f` with what follows
---@return function
function view.method(name, around)
  local f = View[name]
  local function call(self, ...)
    if not modest[name] then ready(self, name) end
    return f(self, ...)
  end
  return function(...) return around(call, ...) end
end

---The methods, by name. The module `cprof` replaces each by `view.method`.
view.methods = View

return view
