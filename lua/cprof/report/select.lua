-- Selects and sorts the rows of a report, and counts what it leaves out.

local explained = require "cprof.count.rows"
local format = require "cprof.text.format"
local order = require "cprof.text.order"

local select = {}

---How often a row or a node was called or, in sampled profiles, sampled.
---@param row { calls: integer?, self_samples: integer? }
---@return integer
function select.often(row) return row.calls or row.self_samples or 0 end

-- by estimates; if these are equal, by upper bounds
local orders = {
  self = order("-self_ns", "-self_most_ns", "title"),
  total = order("-total_ns", "-total_most_ns", "title"),
  calls = order(function(row) return -select.often(row) end, "title"),
  name = order("func.name", "title"),
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
  for _, f in ipairs(profile.functions) do
    local met = select.often(f) > 0 or f.total_ns ~= 0
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
---@param view cprof.View
---@return number
function select.least(view)
  local o = view.options
  return o.min_percent or (o.sort or o.filter) and 0 or 1
end

---The rows to show, the number of rows that are left out, and their self time.
---The root is time outside all functions: it is never counted as left out.
---@param view cprof.View
---@param rows cprof.Row[]
---@param measure string   "self" or "total": the figure for `min_percent`
---@param limit? integer
---@return cprof.Row[] shown, integer hidden, integer hidden_ns
function select.rows(view, rows, measure, limit)
  limit = limit or view.options.limit or 30
  -- rows whose upper bound is large enough are shown, too
  local field, least = measure .. "_most_ns", select.least(view)
  local shown, hidden, hidden_ns = {}, 0, 0
  for _, row in ipairs(rows) do
    if select.passes(row, view.options.filter) then
      local enough = row[field] * 100 >= least * view.whole
      if row.func.kind == "root" and not view.options.filter then
        enough = row.self_ns * 100 >= math.max(least, 1) * view.whole
      end
      if enough and #shown < limit then
        shown[#shown + 1] = row
      elseif row.func.kind ~= "root" then
        hidden, hidden_ns = hidden + 1, hidden_ns + row.self_ns
      end
    end
  end
  return shown, hidden, hidden_ns
end

---The line about rows that are left out; nil: there are none.
---@param view cprof.View
---@param hidden integer
---@param hidden_ns integer
---@param what string     "function"
---@return string?
function select.rest(view, hidden, hidden_ns, what)
  if hidden == 0 then return nil end
  return ("… %s, %s %% self"):format(format.plural(hidden, "more " .. what),
    format.percent(hidden_ns, view.whole))
end

-- the sums of each profile, cached because they take a while
local known = setmetatable({}, { __mode = "k" })

-- is it an empty row for the time since the last sample?
local function vacant(row)
  return row.func.kind == "internal" and row.total_ns == 0 and
    row.total_samples == 0
end

---The rows of a report, which merge functions with the same title, and the
---calls between them, separate for each line. The caller may change the list
---of rows.
---@param profile cprof.Profile
---@param all? boolean  also rows that are empty now but may get figures later
---@return cprof.Row[]
---@return cprof.Edge[]
function select.functions(profile, all)
  local sums = known[profile]
  if not sums then
    sums = table.pack(profile:sums(function(f) return f.title end, true))
    known[profile] = sums
  end
  local out = {}
  for _, row in ipairs(sums[1]) do
    if all or not vacant(row) then out[#out + 1] = row end
  end
  return out, sums[2]
end

return select
