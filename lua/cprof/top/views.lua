-- The views whose lines are functions: a table, the call tree, callers and
-- callees. A list is made anew when figures or the tree have changed.

local columns = require "cprof.top.columns"
local figures = require "cprof.view.figures"
local lists = require "cprof.view.lists"
local names = require "cprof.source.name"
local order = require "cprof.text.order"

local views = {}

---@class cprof.TopView
---@field name string       key in the list of views
---@field title string
---@field list fun(m: cprof.TopModel): any[]
---@field head fun(m: cprof.TopModel, line: cprof.ScreenLine)
---@field draw fun(m: cprof.TopModel, line: cprof.ScreenLine, item: any)
---@field text fun(item: any): string      the text that is searched
---@field key? fun(item: any): string      finds the line again in a new list
---@field zone? fun(item: any): cprof.ViewZone?
---@field into? string    what Enter does, for the hints
---@field sorts? boolean  whether its lines can be sorted
---@field none? fun(f: cprof.Function): string?  why it does not show a function

-- Rows that are not shown: the root, profiler overhead and, in a period that
-- does not begin at the start, the host if it did not run there.
local function hidden(m, f, of)
  return f.kind == "root" or f.id == m.now.profile.overhead or
    f.name == names.host and of ~= nil and of.self_most == 0 and
      m.history.period ~= "start"
end

-- orders by estimates, then by upper bounds
local orders = {
  self = order("-of.self", "-of.self_most", "zone.title"),
  total = order("-of.total", "-of.total_most", "zone.title"),
  calls = order(function(entry) return -entry.of.count end, "zone.title"),
  name = order("name", "zone.title"),
}

local function text(entry) return entry.name end
local function zone(entry) return entry.zone end
local function draw(m, line, entry) columns.draw(line, m, entry) end

local function key(entry)
  return ("%d %s"):format(entry.indent, entry.zone.title)
end

-- the lines of a list of 'cprof.view'
local function entries_of(m, list)
  local out = {}
  for i = 1, list.count do
    local e = list.entry(i)
    if not hidden(m, e.func) then
      out[#out + 1] = { func = e.func, name = e.name, indent = e.indent,
        mark = e.marks, of = e.of, zone = list.zone(i), index = i,
        own = i == list.own }
    end
  end
  out.source = list
  return out
end

---@type cprof.TopView
views.functions = {
  name = "functions", title = "Functions", sorts = true, into = "Callers",
  text = text, zone = zone, draw = draw, key = key,
  head = function(m, line) columns.head(line, m, m.sort) end,
  list = function(m)
    local out = {}
    for _, row in ipairs(m.now.figures.rows) do
      if not hidden(m, row.func, row) and figures.any(row) and
         (not m.passes or m.passes(row.name)) then
        out[#out + 1] = { func = row.func, name = row.name, indent = 0,
          of = row, zone = row.zone }
      end
    end
    table.sort(out, orders[m.sort])
    return out
  end,
}

-- Opens the first closed node on the hottest path from line `at` on, while
-- callees have half of their caller's time. False: there is none.
local function open_hottest(list, at)
  local indent, most = list.entry(at).indent, list.entry(at).of.total
  if list.entry(at).marks == "+" then
    list.open(at, true)
    return true
  end
  -- callees are in order of their time
  local next_at = at + 1
  if next_at > list.count or list.entry(next_at).indent <= indent then
    return false
  end
  return list.entry(next_at).of.total * 2 >= most and
    list.entry(next_at).marks ~= " " and open_hottest(list, next_at)
end

---Expands the tree along the hottest path from a line on.
---@param m cprof.TopModel
---@param at integer  line in the list of 'cprof.view'
function views.expand_hottest(m, at)
  local fig = m.now.figures
  for _ = 1, 200 do  -- levels
    if not open_hottest(lists.modes.tree(fig, m), at) then return end
  end
end

-- opens the hottest path from the first function on
local function open_first(m)
  m.open = {}
  local list = lists.modes.tree(m.now.figures, m)
  for i = 1, list.count do
    if not hidden(m, list.entry(i).func) then
      views.expand_hottest(m, i)
      return
    end
  end
end

---@type cprof.TopView
views.tree = {
  name = "tree", title = "Tree", into = "Expand",
  text = text, zone = zone, draw = draw, key = key,
  head = function(m, line) columns.head(line, m) end,
  list = function(m)
    if not m.open then open_first(m) end
    return entries_of(m, lists.modes.tree(m.now.figures, m))
  end,
}

---@type cprof.TopView
views.callgraph = {
  name = "callgraph", title = "Call graph", into = "Walk",
  text = text, zone = zone, draw = draw, key = key,
  head = function(m, line) columns.head(line, m) end,
  list = function(m)
    return entries_of(m, lists.modes.callgraph(m.now.figures, m))
  end,
}

return views
