-- The view: an interactive profile as data, after IPROF. It knows no
-- display; whoever has one draws the records that `lines` gives.

local core = require "cprof.core"

local view = {}

---@class cprof.Record      a line of the view
---@field name string
---@field indent integer
---@field values number[]   self ms, total ms, calls
---@field shown boolean[]   which of these are to be displayed
---@field marks "+"|"-"|" " +: there is more behind it; -: it is open
---@field heat number       0..1: how fast its figure changes
---@field highlighted boolean  the cursor is on it

---@class cprof.View
local View = {}
View.__index = View

local modes = { self = true, total = true, callgraph = true, tree = true }

---@param source fun(): cprof.Profile
---@param live boolean  is it taken anew for each frame?
---@return cprof.View
function view.new(source, live)
  return setmetatable({
    source = source, live = live, shown_mode = "total", at = 1,
    back = 0, which = 1, spread = false, open = {}, top = 1,
  }, View)
end

local function misuse(who, must, got)
  error(("view:%s: %s, got %s"):format(who, must,
    type(got) == "string" and ("%q"):format(got) or tostring(got)), 3)
end

local function integer(who, n)
  if math.type(n) ~= "integer" then misuse(who, "an integer is needed", n) end
  return n
end

-- {{{ what the figures are taken from

-- the profile, taken anew when a live one has moved on
function View:refresh()
  if self.profile and not self.live then return self.profile end
  self.profile = self.source()
  self.rows = nil
  return self.profile
end

-- the nodes of the frame or average that is looked at, what their calls
-- are to be divided by, and heat by function; without nodes, rows
local function figures(self)
  local p = self.profile
  local frames = p.frames
  if not frames or frames.recorded == 0 then return p.nodes, 1, {} end
  local heat = {}
  for _, row in ipairs(frames:averages(self.which > 0 and self.which or 1)) do
    heat[row.func] = { row.heat, row.total_heat }
  end
  if self.back > 0 then
    local nodes = frames:nodes(self.back)
    if nodes then return nodes, 1, heat end
    return nil, 1, heat, frames:at(self.back).rows
  end
  if self.which > 0 then return frames:average_nodes(self.which), 1000, heat end
  return frames:nodes(0), 1, heat
end

-- rows of functions, each title one, or one for each level of recursion
local function sums(self)
  local p = self.profile
  local nodes, divisor, heat, plain = figures(self)
  local ids, groups, titles, funcs = {}, {}, {}, {}
  for i, f in ipairs(p.functions) do
    if not ids[f.title] then
      titles[#titles + 1] = f.title
      funcs[#titles] = f
      ids[f.title] = #titles
    end
    groups[i] = ids[f.title]
  end
  local rows, edges, levels
  if nodes then
    rows, edges, levels = core.sum(nodes, groups, #titles, self.spread)
  else  -- an old frame of which functions were kept, not nodes
    rows, edges = {}, {}
    for i in ipairs(titles) do
      rows[i] = { calls = 0, self_ns = 0, total_ns = 0 }
    end
    for _, r in ipairs(plain) do
      local row = rows[ids[r.func.title]]
      row.calls = row.calls + r.calls
      row.self_ns = row.self_ns + r.self_ns
      row.total_ns = row.total_ns + r.total_ns
    end
  end
  for i, row in ipairs(rows) do
    local group = levels and levels[i * 2 - 1] or i
    local level = levels and levels[i * 2] or 1
    row.id, row.func = i, funcs[group]
    row.name = funcs[group].name
    row.title = titles[group]
    if level > 1 then
      row.name = ("%s [%d]"):format(row.name, level)
      row.title = ("%s [%d]"):format(row.title, level)
    end
    row.heat = heat[row.func] or { 0, 0 }
    row.callers, row.callees = {}, {}
  end
  for _, e in ipairs(edges) do
    table.insert(rows[e.callee].callers, { row = rows[e.caller],
      calls = e.calls, self_ns = e.self_ns, total_ns = e.total_in_ns })
    table.insert(rows[e.caller].callees, { row = rows[e.callee],
      calls = e.calls, self_ns = e.self_ns, total_ns = e.total_out_ns })
  end
  return rows, divisor, nodes
end

local function data(self)
  local p = self:refresh()
  if not self.rows then
    self.rows, self.divisor, self.nodes = sums(self)
    self.of = p
  end
  return self.rows
end

-- }}}
-- {{{ lines

local shown = { true, true, true }

local function record(self, figures_, name, indent, mark, heat)
  return { name = name, indent = indent, marks = mark, heat = heat or 0,
    shown = shown, highlighted = false,
    values = { figures_.self_ns / 1e6, figures_.total_ns / 1e6,
               figures_.calls / self.divisor } }
end

local function by(field)
  return function(a, b)
    if a[field] ~= b[field] then return a[field] > b[field] end
    return (a.title or a.row.title) < (b.title or b.row.title)
  end
end

-- each gives records, and for each what `select` means there
local lists = {}

local function flat(self, field, heat)
  local rows, out, target = {}, {}, {}
  for _, row in ipairs(data(self)) do
    if row.calls > 0 or row.self_ns > 0 then rows[#rows + 1] = row end
  end
  table.sort(rows, by(field))
  for i, row in ipairs(rows) do
    local more = #row.callers + #row.callees > 0
    out[i] = record(self, row, row.name, 0, more and "+" or " ",
      row.heat[heat])
    target[i] = row.title
  end
  return out, target
end

function lists.self(self) return flat(self, "self_ns", 1) end
function lists.total(self) return flat(self, "total_ns", 2) end

local function row_titled(self, title)
  for _, row in ipairs(data(self)) do
    if row.title == title then return row end
  end
end

local function largest(self)
  local most
  for _, row in ipairs(data(self)) do
    if row.func.kind ~= "root" and (not most or row.total_ns > most.total_ns)
    then
      most = row
    end
  end
  return most
end

function lists.callgraph(self)
  local row = self.zone and row_titled(self, self.zone) or largest(self)
  local out, target = {}, {}
  if not row then return out, target end
  self.zone = row.title
  local function add(entry, of, indent, mark, heat)
    out[#out + 1] = record(self, entry, of.name, indent, mark, heat)
    target[#out] = of.title
  end
  table.sort(row.callers, by "total_ns")
  table.sort(row.callees, by "total_ns")
  for _, e in ipairs(row.callers) do
    add(e, e.row, 1, e.row.func.kind == "root" and " " or "+", e.row.heat[2])
  end
  add(row, row, 0, "-", row.heat[2])
  for _, e in ipairs(row.callees) do
    local more = #e.row.callees > 0
    add(e, e.row, 1, more and "+" or " ", e.row.heat[2])
  end
  return out, target
end

function lists.tree(self)
  data(self)
  local out, target = {}, {}
  if not self.nodes then return out, target end
  local children = {}
  for _, node in ipairs(self.nodes) do
    if node.calls > 0 or node.total_ns > 0 then
      children[node.parent] = children[node.parent] or {}
      table.insert(children[node.parent], node)
    end
  end
  local functions = self.profile.functions
  local todo = {}
  local function push(id, indent)
    local list = children[id] or {}
    table.sort(list, function(a, b)
      if a.total_ns ~= b.total_ns then return a.total_ns < b.total_ns end
      return a.id > b.id
    end)
    for _, node in ipairs(list) do todo[#todo + 1] = { node, indent } end
  end
  push(1, 0)
  while #todo > 0 do
    local node, indent = table.unpack(table.remove(todo))
    local open = self.open[node.id]
    local mark = children[node.id] and (open and "-" or "+") or " "
    out[#out + 1] = record(self, node, functions[node.func].name, indent,
      mark)
    target[#out] = node.id
    if open then push(node.id, indent + 1) end
  end
  return out, target
end

local function build(self)
  local out, target = lists[self.shown_mode](self)
  self.at = math.max(1, math.min(self.at, #out))
  if out[self.at] then out[self.at].highlighted = true end
  return out, target
end

---The lines of the view: all, or as many as fit, with the cursor's among
---them.
---@param height? integer
---@return cprof.Record[]
function View:lines(height)
  if height ~= nil and (math.type(height) ~= "integer" or height < 1) then
    misuse("lines", "the height must be an integer from 1", height)
  end
  local out = build(self)
  if not height or #out <= height then
    self.top = 1
    return out
  end
  self.top = math.max(self.at - height + 1, math.min(self.top, self.at))
  self.top = math.min(self.top, #out - height + 1)
  return table.move(out, self.top, self.top + height - 1, 1, {})
end

---What the columns are, and what the figures are of.
---@return { name: string, values: string[], of: string }
function View:titles()
  data(self)
  local frames = self.profile.frames
  local of
  if not frames or frames.recorded == 0 then of = "whole recording"
  elseif self.back > 0 then
    of = ("frame %d, %d before the last"):format(
      frames:at(self.back).number, self.back)
  elseif self.which == 0 then of = ("frame %d"):format(frames:at(0).number)
  else of = ("average of %s s"):format(self.which == 1 and "0.8" or "2.5") end
  return { name = "zone", values = { "self ms", "total ms", "calls" },
           of = of }
end

-- }}}
-- {{{ control

---What is shown: functions by self or total time, the callers and callees
---of one, or the tree. Without a mode, the present one.
---@param mode? "self"|"total"|"callgraph"|"tree"
---@return string
function View:mode(mode)
  if mode ~= nil then
    if not modes[mode] then
      misuse("mode", 'must be "self", "total", "callgraph" or "tree"', mode)
    end
    if mode ~= self.shown_mode then self.at, self.top = 1, 1 end
    self.shown_mode = mode
  end
  return self.shown_mode
end

---Moves the cursor by so many lines; it stays within them.
---@param n integer
function View:move(n)
  build(self)
  self.at = math.max(1, self.at + integer("move", n))
  build(self)
end

---Puts the cursor on a line, counted from 1. Without one, where it is.
---@param i? integer
---@return integer
function View:cursor(i)
  if i ~= nil then self.at = math.max(1, integer("cursor", i)) end
  build(self)
  return self.at
end

---Shows the callers and callees of the zone under the cursor.
function View:select()
  local _, target = build(self)
  local what = target[self.at]
  if what == nil then return end
  if self.shown_mode == "tree" then
    local node = self.nodes[what]
    what = self.profile.functions[node.func].title
    if self.spread and not row_titled(self, what) then return end
  end
  self.shown_mode, self.zone = "callgraph", what
  local _, after = build(self)
  for i, title in ipairs(after) do
    if title == what then self.at = i end
  end
  -- a recursive zone stands among its own callers; its own line is the one
  for i, line in ipairs((build(self))) do
    if line.indent == 0 then self.at = i end
  end
end

---Goes to the caller in which most of the time of the zone is spent.
function View:parent()
  if self.shown_mode ~= "callgraph" then self:select() end
  local row = self.zone and row_titled(self, self.zone)
  local most
  for _, e in ipairs(row and row.callers or {}) do
    if e.row.func.kind ~= "root" and e.row ~= row and
       (not most or e.total_ns > most.total_ns) then
      most = e
    end
  end
  if not most then return end
  self.zone = most.row.title
  for i, line in ipairs((build(self))) do
    if line.indent == 0 then self.at = i end
  end
end

---Looks so many frames further back (positive) or forward.
---@param n integer
function View:frame(n)
  self:at_frame(self.back + integer("frame", n))
end

---Looks at a frame: 0 is the last, 1 the one before. Without one, which.
---@param i? integer
---@return integer
function View:at_frame(i)
  if i ~= nil then
    integer("at_frame", i)
    self:refresh()
    local frames = self.profile.frames
    local last = frames and frames.kept - 1 or 0
    self.back = math.max(0, math.min(i, last))
    self.rows = nil
  end
  return self.back
end

---Which figures are shown of the last frame: 0 its own, 1 and 2 moving
---averages. Without one, which.
---@param which? 0|1|2
---@return integer
function View:average(which)
  if which ~= nil then
    if which ~= 0 and which ~= 1 and which ~= 2 then
      misuse("average", "must be 0, 1 or 2", which)
    end
    self.which = which
    self.rows = nil
  end
  return self.which
end

---A recursive zone as one line, or one line for each level.
---@param how? "merged"|"spread"
---@return string
function View:recursion(how)
  if how ~= nil then
    if how ~= "merged" and how ~= "spread" then
      misuse("recursion", 'must be "merged" or "spread"', how)
    end
    self.spread = how == "spread"
    self.rows = nil
  end
  return self.spread and "spread" or "merged"
end

local function set_open(self, open)
  if self.shown_mode ~= "tree" then return end
  local _, target = build(self)
  if target[self.at] then self.open[target[self.at]] = open end
end

---Shows what the state under the cursor has called; in mode "tree".
function View:expand() set_open(self, true) end

---Hides it again.
function View:collapse() set_open(self, nil) end

-- }}}

---The series of the frames that are kept, oldest first, for a graph.
---@return { numbers: integer[], ns: integer[], zones: table[] }
function View:graph()
  self:refresh()
  local frames = self.profile.frames
  local out = { numbers = {}, ns = {}, zones = {} }
  if not frames then return out end
  local zones = {}
  for back = frames.kept - 1, 0, -1 do
    local f = frames:at(back)
    out.numbers[#out.numbers + 1], out.ns[#out.ns + 1] = f.number, f.ns
    for _, row in ipairs(f.rows) do
      local zone = zones[row.func.title]
      if not zone then
        zone = { name = row.func.name, title = row.func.title,
                 self = {}, total = {}, sum = 0 }
        zones[row.func.title] = zone
        out.zones[#out.zones + 1] = zone
      end
      local i = #out.numbers
      zone.self[i] = (zone.self[i] or 0) + row.self_ns
      zone.total[i] = (zone.total[i] or 0) + row.total_ns
      zone.sum = zone.sum + row.self_ns
    end
  end
  for _, zone in ipairs(out.zones) do
    for i = 1, #out.numbers do
      zone.self[i], zone.total[i] = zone.self[i] or 0, zone.total[i] or 0
    end
  end
  table.sort(out.zones, function(a, b)
    if a.sum ~= b.sum then return a.sum > b.sum end
    return a.title < b.title
  end)
  return out
end

local function named(p, who, name)
  local flags, found = {}, false
  for i, f in ipairs(p.functions) do
    flags[i] = f.title == name or f.name == name
    found = found or flags[i]
  end
  if not found then misuse("attribute", who .. " is not in the profile", name) end
  return flags
end

---What a zone took on behalf of another, any number of calls above it, in
---the frame or average that is looked at.
---@param zone string      title or name
---@param ancestor string  title or name
---@return { calls: number, self_ns: integer, total_ns: integer }
function View:attribute(zone, ancestor)
  data(self)
  local sum = core.attribute(self.nodes or self.profile.nodes,
    named(self.profile, "the zone", zone),
    named(self.profile, "the ancestor", ancestor))
  return { calls = sum.calls / self.divisor, self_ns = sum.self_ns,
           total_ns = sum.total_ns }
end

return view
