-- The lines of a view, by mode. A list knows the number of its lines, and makes
-- a line only when it is shown.

local figures = require "cprof.view.figures"
local order = require "cprof.text.order"

---@class cprof.Record      a line of the view: plain data
---@field name string
---@field title string      of its function; differs if names are the same
---@field indent integer
---@field values number[]   self ms, total ms, calls
---@field most number[]     upper bounds of the values; one that exceeds its
---   value is to be displayed instead, as <12
---@field shown boolean[]   which values are to be displayed: total always, self
---   and calls unless they are 0
---@field marks "+"|"-"|" " +: there is more to show; -: it is expanded
---@field heat number       0..1: how much its figure changes
---@field highlighted boolean  whether the cursor is on it

---@class cprof.ViewEntry   a line before it becomes a record
---@field func cprof.Function
---@field of table          a row, edge or node with the figures
---@field name string
---@field indent integer
---@field marks "+"|"-"|" "
---@field heat number

---@class cprof.ViewList
---@field count integer
---@field entry fun(i: integer): cprof.ViewEntry
---@field zone fun(i: integer): cprof.ViewZone  that `select` shows
---@field row? cprof.ViewRow     mode "callgraph": has these callers and callees
---@field own? integer           mode "callgraph": the line of that row
---@field open? fun(i: integer, open: boolean)  mode "tree": expands a line, or
---    collapses it

---@alias cprof.ViewLister
---| fun(fig: cprof.ViewFigures, state: cprof.View): cprof.ViewList

---@type table<string, cprof.ViewLister>
local lists = {}

local function entry(of, func, name, indent, mark, heat)
  return { of = of, func = func, name = name, indent = indent, marks = mark,
    heat = heat or 0 }
end

local function record(fig, e, highlighted)
  local of = e.of
  local calls = (of.calls or 0) / fig.divisor
  return { name = e.name, title = e.func.title, indent = e.indent,
    marks = e.marks, heat = e.heat, highlighted = highlighted,
    values = { of.self / 1e6, of.total / 1e6, calls },
    most = { of.self_most / 1e6, of.total_most / 1e6, calls },
    shown = { of.self_most ~= 0, true, calls > 0 } }
end

local function flat(fig, field, heat)
  local rows = {}
  for _, row in ipairs(fig.rows) do
    if figures.any(row) then rows[#rows + 1] = row end
  end
  table.sort(rows, order("-" .. field, "title"))
  return {
    count = #rows,
    entry = function(i)
      local row = rows[i]
      local more = #row.callers + #row.callees > 0
      return entry(row, row.func, row.name, 0, more and "+" or " ",
        row.heat[heat])
    end,
    zone = function(i) return rows[i].zone end,
  }
end

function lists.self(fig) return flat(fig, "self", 1) end
function lists.total(fig) return flat(fig, "total", 2) end

-- a zone, with its callers above and its callees below
function lists.callgraph(fig, state)
  local row = state.zone and fig:find(state.zone) or fig:largest()
  if not row then return { count = 0 } end
  local own = #row.callers + 1
  local function edge(i)
    if i < own then return row.callers[i] end
    return row.callees[i - own]
  end
  return {
    count = own + #row.callees, row = row, own = own,
    entry = function(i)
      if i == own then
        return entry(row, row.func, row.name, 0, "-", row.heat[2])
      end
      local e = edge(i)
      local beyond = i < own and e.row.callers or e.row.callees
      return entry(e, e.row.func, e.row.name, 1, #beyond > 0 and "+" or " ",
        e.row.heat[2])
    end,
    zone = function(i) return i == own and row.zone or edge(i).row.zone end,
  }
end

-- Expanded nodes are remembered by title and line of the call, not by id, so
-- that they stay expanded in the next snapshot.
function lists.tree(fig, state)
  local functions, groups = fig.base.profile.functions, fig.base.groups.of
  local ids, funcs, sites, more, indents, within = {}, {}, {}, {}, {}, {}
  local function key(func, line)
    return functions[func].title .. "\0" .. line
  end
  local function add(id, indent, open)
    local list = fig:children(id)
    for i = 1, #list, 4 do
      local n = #ids + 1
      ids[n], funcs[n], sites[n] = list[i], list[i + 1], list[i + 2]
      more[n], indents[n], within[n] = list[i + 3], indent, open
      local below = next(open) and open[key(funcs[n], sites[n])]
      if below then add(ids[n], indent + 1, below) end
    end
  end
  add(1, 0, state.open)
  return {
    count = #ids,
    entry = function(i)
      local open = within[i][key(funcs[i], sites[i])]
      local mark = not more[i] and " " or open and "-" or "+"
      local heat = fig.heat[groups[funcs[i]]]
      local f = functions[funcs[i]]
      return entry(fig:state(ids[i]), f, f.name, indents[i], mark,
        heat and heat[2])
    end,
    zone = function(i) return fig:zone(ids[i]) end,
    open = function(i, open)
      local k = key(funcs[i], sites[i])
      within[i][k] = open and more[i] and (within[i][k] or {}) or nil
    end,
  }
end

---The lines of a list as records.
---@param fig cprof.ViewFigures
---@param list cprof.ViewList
---@param from integer
---@param to integer
---@param at integer  where the cursor is
---@return cprof.Record[]
local function records(fig, list, from, to, at)
  local out = {}
  for i = from, to do
    out[#out + 1] = record(fig, list.entry(i), i == at)
  end
  return out
end

return { modes = lists, records = records }
