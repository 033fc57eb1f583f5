-- Selects and sorts the rows of a report, and counts what it leaves out.

local explained = require "cprof.count.rows"
local format = require "cprof.text.format"
local order = require "cprof.text.order"

local select = {}

-- by estimates; if these are equal, by upper bounds
local orders <const> = {
  self = order("-self", "-self_most", "title"),
  total = order("-total", "-total_most", "title"),
  calls = order("-count", "title"),
  name = order("func.name", "title"),
  max = order(function(row)
    return row.durations and -row.durations.max_ns or 0
  end, "-total", "title"),
}

---The number of all calls.
---@param profile cprof.Profile
---@return integer
function select.calls(profile)
  local n = 0
  for _, f in ipairs(profile.functions) do n = n + (f.calls or 0) end
  return n
end

---The number of functions with different titles. Functions without calls and
---time, which joining two profiles may leave, are not counted.
---@param profile cprof.Profile
---@return integer
function select.distinct(profile)
  local seen, n = {}, 0
  local total = (profile.recorded or profile).measure.all
  for _, f in ipairs(profile.functions) do
    local met = (f.calls or f.self_samples) > 0 or f[total] ~= 0
    local counts = met and f.kind ~= "root" and f.kind ~= "internal" and
      not explained.collector(f)
    if counts and not seen[f.title] then seen[f.title], n = true, n + 1 end
  end
  return n
end

---Sorts rows; equal rows by title.
---@param rows cprof.Row[]
---@param by string
function select.sort(rows, by) table.sort(rows, orders[by]) end

---Does this row pass the filter?
---@param row cprof.Row
---@param filter cprof.Pattern?
---@return boolean
function select.passes(row, filter)
  return not filter or filter:passes(row.func.source,
    row.func.place or "", row.title)
end

---The smallest share of the time that is shown, in percent. With an order or a
---filter, the default is 0: the user wants to see small functions, too.
---@param view cprof.ReportView
---@return number
function select.least(view)
  local o = view.options
  return o.min_percent or (o.sort or o.filter) and 0 or 1
end

-- Are rows shown whose figures are 0? They are if the user has given a filter,
-- a least share, or an order that is not by these figures.
local function wants_none(o)
  return o.filter ~= nil or o.min_percent ~= nil or
    o.sort ~= nil and o.sort ~= "self" and o.sort ~= "total"
end

---The rows to show, and the line about those that are left out; nil: there are
---none. The root is outside all functions: it is never counted as left out.
---@param view cprof.ReportView
---@param rows cprof.Row[]
---@param by "self"|"total"  the figure for `min_percent`
---@param limit? integer
---@return cprof.Row[] shown
---@return string? rest
function select.rows(view, rows, by, limit)
  limit = limit or view.options.limit or 30
  -- rows whose upper bound is large enough are shown, too
  local field, least = by .. "_most", select.least(view)
  local none = wants_none(view.options)
  local needed = (view.options.sort == "total" and "total" or by) .. "_most"
  local shown, hidden, left = {}, 0, 0
  for _, row in ipairs(rows) do
    if select.passes(row, view.options.filter) then
      local enough = row[field] * 100 >= least * view.whole and
        (none or row[needed] > 0)
      if row.func.kind == "root" and not view.options.filter then
        enough = row.self * 100 >= math.max(least, 1) * view.whole
      end
      if enough and #shown < limit then
        shown[#shown + 1] = row
      elseif row.func.kind ~= "root" then
        hidden, left = hidden + 1, left + row.self
      end
    end
  end
  return shown, select.rest(view, hidden, left, "function")
end

---The line about what is left out; nil: nothing is.
---@param view cprof.ReportView
---@param hidden integer
---@param left integer    their self
---@param what string     "function"
---@return string?
function select.rest(view, hidden, left, what)
  if hidden == 0 then return nil end
  return ("… %s, %s %% self"):format(format.plural(hidden, "more " .. what),
    format.percent(left, view.whole))
end

return select
