-- The view: an interactive profile as data, after IPROF. It knows no
-- display; whoever has one draws the records that `lines` gives.

local figures = require "cprof.view.figures"
local lists = require "cprof.view.lists"
local options = require "cprof.text.options"
local order = require "cprof.text.order"

local view = {}

---@class cprof.View
---@field private source fun(): cprof.Profile?
---@field private live boolean
---@field private base? cprof.ViewBase
---@field private list? cprof.ViewList  as the last control left it
---@field zone? cprof.ViewZone
local View = {}
View.__index = View

---@param source fun(): cprof.Profile?
---@param live boolean  is there a new one each time?
---@return cprof.View
function view.new(source, live)
  return setmetatable({
    source = source, live = live, shown_mode = "total", at = 1, top = 1,
    place = { back = 0, which = 1, spread = false }, open = {},
  }, View)
end

-- Both are called by methods, which cprof wraps: the caller is the fourth.
local LEVEL = 4

local function misuse(who, must, got, level)
  error(("view:%s: %s, got %s"):format(who, must,
    options.shown(got)), level or LEVEL)
end

-- Figures to work with. Only drawing takes them anew where they change, so
-- that a control acts on what was seen last.
local function ready(self, who, anew)
  if self.base and not (anew and self.live) then return end
  local p = self.source()
  if not p then
    error(("view:%s: nothing was recorded; call start first"):format(who),
      LEVEL)
  end
  self.base, self.figures, self.list = figures.base(p), nil, nil
end

local function kept(self, what)
  local frames = self.base.profile.frames
  return frames and frames[what] or 0
end

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

-- another frame, average or way to sum up
local function elsewhere(self)
  self.figures, self.list = nil, nil
end

local function show(self, mode)
  self.shown_mode, self.list = mode, nil
end

-- the callers and callees of a zone, with the cursor on its own line
local function show_zone(self, zone)
  self.zone = zone
  show(self, "callgraph")
  self.at = listed(self).own or 1
end

-- the integer that is meant
local function integer(who, n)
  return options.integer(n) or
    misuse(who, "must be an integer", n, LEVEL + 1)
end

---The lines of the view: all, or as many as fit, with the cursor's among
---them. A view of what is being recorded takes its figures anew.
---@param height? integer
---@return cprof.Record[]
function View:lines(height)
  local most = options.integer(height)
  if height ~= nil and not (most and most >= 1) then
    misuse("lines", "the height must be an integer from 1", height)
  end
  ready(self, "lines", true)
  local list = listed(self)
  local many = math.min(most or list.count, list.count)
  local top = math.max(self.at - many + 1, math.min(self.top, self.at))
  self.top = math.max(1, math.min(top, list.count - many + 1))
  return lists.records(numbers(self), list, self.top, self.top + many - 1,
    self.at)
end

---What the columns are, with their units, and what the figures are of.
---@return { name: string, values: string[], of: string }
function View:titles()
  ready(self, "titles")
  local fig = numbers(self)
  return { name = "zone", of = fig.of, values = { "self ms", "total ms",
    fig.divisor == 1 and "calls" or "calls/frame" } }
end

---What is shown: functions by self or total time, the callers and callees
---of one, or the tree. Without a mode, the present one.
---@param mode? "self"|"total"|"callgraph"|"tree"
---@return string
function View:mode(mode)
  if mode == nil then return self.shown_mode end
  if not lists.modes[mode] then
    misuse("mode", 'must be "self", "total", "callgraph" or "tree"', mode)
  end
  if mode ~= self.shown_mode then self.at, self.top = 1, 1 end
  show(self, mode)
  return mode
end

---Moves the cursor by so many lines; it stays within them.
---@param n integer
function View:move(n)
  n = integer("move", n)
  ready(self, "move")
  local count = listed(self).count
  self.at = math.max(1, math.min(self.at + n, count))
end

---Puts the cursor on a line, counted from 1. Without one, where it is.
---@param i? integer
---@return integer
function View:cursor(i)
  if i ~= nil then i = integer("cursor", i) end
  ready(self, "cursor")
  local count = listed(self).count
  if i then self.at = math.max(1, math.min(i, count)) end
  return self.at
end

---Shows the callers and callees of the zone under the cursor.
function View:select()
  ready(self, "select")
  local list = listed(self)
  if list.count > 0 then show_zone(self, list.zone(self.at)) end
end

-- the caller in which most of the time of a zone is spent
local function caller(row)
  local most
  for _, e in ipairs(row.callers) do
    if e.row.func.kind ~= "root" and e.row ~= row and
       (not most or e.total_ns > most.total_ns) then
      most = e
    end
  end
  return most and most.row.zone
end

---Goes to the caller in which most of the time of the zone is spent: of
---the one whose call graph is shown, or else of that under the cursor.
function View:parent()
  ready(self, "parent")
  local list, row = listed(self), nil
  if self.shown_mode == "callgraph" then row = list.row
  elseif list.count > 0 then row = numbers(self):find(list.zone(self.at)) end
  if not row then return end
  show_zone(self, caller(row) or row.zone)
end

local function go_back(self, back)
  local last = math.max(0, kept(self, "kept") - 1)
  self.place.back, self.place.slow = math.max(0, math.min(back, last)), nil
  elsewhere(self)
end

---Looks so many frames further back, or with a negative number forward.
---@param n integer
function View:frame(n)
  n = integer("frame", n)
  ready(self, "frame")
  go_back(self, self.place.back + n)
end

---Looks at a frame: 0 is the last, or its average; 1 the one before, and
---so on. Of one whose stack states were not kept there are functions, but
---no callers, callees or tree. Without a frame, which it is.
---@param i? integer
---@return integer
function View:at_frame(i)
  if i ~= nil then i = integer("at_frame", i) end
  ready(self, "at_frame")
  if i then go_back(self, i) end
  return self.place.back
end

local function go_slow(self, i)
  local count = kept(self, "slow_kept")
  if count == 0 then return end
  self.place.slow = math.max(0, math.min(i, count - 1))
  elsewhere(self)
end

---Looks at the last slow frame, or so many slow frames further back.
---@param n integer
function View:slow(n)
  n = integer("slow", n)
  ready(self, "slow")
  go_slow(self, self.place.slow and self.place.slow + n or 0)
end

---Looks at a slow frame: 0 is the last of them; `at_frame` leads back.
---Without one, which; nil when it is not a slow frame that is looked at.
---@param i? integer
---@return integer?
function View:at_slow(i)
  if i ~= nil then i = integer("at_slow", i) end
  ready(self, "at_slow")
  if i then go_slow(self, i) end
  return self.place.slow
end

---Which figures are shown of the last frame: 0 its own; 1 and 2 moving
---averages, with 90 % of a change in 0.8 and 2.5 seconds; "all": the
---average of all frames. Without one, which.
---@param which? 0|1|2|"all"
---@return 0|1|2|"all"
function View:average(which)
  if which == nil then return self.place.which end
  if which ~= 0 and which ~= 1 and which ~= 2 and which ~= "all" then
    misuse("average", 'must be 0, 1, 2 or "all"', which)
  end
  self.place.which = which == "all" and which or math.tointeger(which)
  elsewhere(self)
  return self.place.which
end

---A recursive zone as one line, or one line for each level.
---@param how? "merged"|"spread"
---@return string
function View:recursion(how)
  if how ~= nil then
    if how ~= "merged" and how ~= "spread" then
      misuse("recursion", 'must be "merged" or "spread"', how)
    end
    self.place.spread = how == "spread"
    elsewhere(self)
    -- the zone may stand on another line now
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

---Shows what the state under the cursor has called; in mode "tree".
function View:expand()
  ready(self, "expand")
  set_open(self, true)
end

---Hides it again.
function View:collapse()
  ready(self, "collapse")
  set_open(self, false)
end

local function series(zones, row, index)
  local zone = zones[row.func.title]
  if not zone then
    zone = { name = row.func.name, title = row.func.title, self = {},
             total = {}, calls = {}, sum = 0 }
    zones[#zones + 1], zones[row.func.title] = zone, zone
    for i = 1, index - 1 do
      zone.self[i], zone.total[i], zone.calls[i] = 0, 0, 0
    end
  end
  zone.self[index] = (zone.self[index] or 0) + row.self_ns
  zone.total[index] = (zone.total[index] or 0) + row.total_ns
  zone.calls[index] = (zone.calls[index] or 0) + row.calls
  zone.sum = zone.sum + row.self_ns
end

---The series of the frames that are kept, oldest first, for a graph: their
---numbers, their time, and what each zone took of them, by self time. `at`
---is the index of the frame that is looked at.
---@return { numbers: integer[], ns: integer[], zones: table[], at: integer? }
function View:graph()
  ready(self, "graph")
  local frames = self.base.profile.frames
  local out = { numbers = {}, ns = {}, zones = {} }
  local zones = {}
  local many = frames and frames.kept or 0
  for index = 1, many do
    local f = frames:at(many - index)
    out.numbers[index], out.ns[index] = f.number, f.ns
    for _, row in ipairs(f.rows) do series(zones, row, index) end
    for _, zone in ipairs(zones) do
      zone.self[index] = zone.self[index] or 0
      zone.total[index] = zone.total[index] or 0
      zone.calls[index] = zone.calls[index] or 0
    end
  end
  if not self.place.slow and many > 0 then out.at = many - self.place.back end
  out.zones = table.move(zones, 1, #zones, 1, {})
  table.sort(out.zones, order("-sum", "title"))
  return out
end

---The series of one zone, by name or title, over the frames that are kept,
---oldest first. Without a zone, that of no zone: the frames alone.
---@param zone? string
---@return { numbers: integer[], ns: integer[], self: integer[],
---  total: integer[], calls: integer[] }
function View:series(zone)
  if zone ~= nil and type(zone) ~= "string" then
    misuse("series", "a name or title of a zone is needed", zone)
  end
  ready(self, "series")
  local p = self.base.profile
  local of = {}
  for i, f in ipairs(p.functions) do
    if zone and (f.title == zone or f.name == zone) then of[i] = true end
  end
  if zone and not next(of) then
    misuse("series", "must be the name or title of a zone of the " ..
      "profile, as lines show it", zone)
  end
  if not p.frames then
    return { numbers = {}, ns = {}, self = {}, total = {}, calls = {} }
  end
  return p.frames:series(of)
end

---What a zone took on behalf of another, any number of calls above it, in
---the frame or average that is looked at: by name or title, with a level
---of recursion in brackets where that alone is meant. nil and a message
---when that frame's stack states were not kept.
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
  ready(self, "attribute")
  local sum, unknown = numbers(self):attribute(zone, ancestor)
  if sum == nil then
    misuse("attribute", "must be the name or title of a zone of the " ..
      "profile, as lines show it", unknown)
  elseif not sum then
    return nil, "the stack states of this frame were not kept"
  end
  return sum
end

---The methods, that cprof may wrap them.
view.methods = View

return view
