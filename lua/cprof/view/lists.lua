-- The lines of a view in each of its modes. A list knows how many there
-- are; a line is made when it is to be shown.

local figures = require "cprof.view.figures"

---@class cprof.Record      a line of the view: plain data
---@field name string
---@field title string      of its function: tells it from namesakes
---@field indent integer
---@field values number[]   self ms, total ms, calls
---@field most number[]     what these are at most: more than the value where
---   that is an estimate, and then to be displayed as a bound, <12
---@field shown boolean[]   which of these are to be displayed: no self
---   time where none was spent, no calls where there were none
---@field marks "+"|"-"|" " +: there is more behind it; -: it is open
---@field heat number       0..1: how much its figure changes
---@field highlighted boolean  the cursor is on it

---@class cprof.ViewEntry   what a line is about
---@field func cprof.Function
---@field of table          that has the figures
---@field name string
---@field indent integer
---@field marks "+"|"-"|" "
---@field heat number

---@class cprof.ViewList
---@field count integer
---@field entry fun(i: integer): cprof.ViewEntry
---@field zone fun(i: integer): cprof.ViewZone  what `select` selects
---@field row? cprof.ViewRow     of which these are callers and callees
---@field own? integer           its line
---@field open? fun(i: integer, open: boolean)

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
    values = { of.self_ns / 1e6, of.total_ns / 1e6, calls },
    most = { of.self_most_ns / 1e6, of.total_most_ns / 1e6, calls },
    shown = { of.self_most_ns ~= 0, true, calls > 0 } }
end

local function by(field)
  return function(a, b)
    if a[field] ~= b[field] then return a[field] > b[field] end
    return (a.title or a.row.title) < (b.title or b.row.title)
  end
end

local function flat(fig, field, heat)
  local rows = {}
  for _, row in ipairs(fig.rows) do
    if figures.any(row) then rows[#rows + 1] = row end
  end
  table.sort(rows, by(field))
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

function lists.self(fig) return flat(fig, "self_ns", 1) end
function lists.total(fig) return flat(fig, "total_ns", 2) end

-- callers above, callees below
function lists.callgraph(fig, state)
  local row = state.zone and fig:find(state.zone) or fig:largest()
  if not row then return { count = 0 } end
  table.sort(row.callers, by "total_ns")
  table.sort(row.callees, by "total_ns")
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

-- Open states are known by what was called, not by number: so they stay
-- open in the next snapshot, too.
function lists.tree(fig, state)
  local functions, groups = fig.base.profile.functions, fig.base.groups
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
