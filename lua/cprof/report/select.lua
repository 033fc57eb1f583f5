-- Which rows a report shows, in which order, and what it leaves out.

local format = require "cprof.format"

local select = {}

local orders = {
  self = function(a, b) return a.self_ns > b.self_ns end,
  total = function(a, b) return a.total_ns > b.total_ns end,
  calls = function(a, b) return a.calls > b.calls end,
  name = function(a, b) return a.func.name < b.func.name end,
}

---How many calls there were in all.
---@param profile cprof.Profile
---@return integer
function select.calls(profile)
  local n = 0
  for _, f in ipairs(profile.functions) do n = n + f.calls end
  return n
end

---Sorts rows; those that are equal, by title.
---@param rows cprof.Row[]
---@param by string
function select.sort(rows, by)
  local before = orders[by]
  table.sort(rows, function(a, b)
    if before(a, b) then return true end
    if before(b, a) then return false end
    return a.title < b.title
  end)
end

---Does the filter let this row pass?
---@param row cprof.Row
---@param filter string?
---@return boolean
function select.passes(row, filter)
  return not filter or row.title:find(filter) ~= nil or
    row.func.source:find(filter) ~= nil
end

---The rows to be shown, and how many are left out with what self time.
---The root is what no function did: it counts, but is no function.
---@param view cprof.View
---@param rows cprof.Row[]
---@param measure string   field that `min_percent` is about
---@return cprof.Row[] shown, integer hidden, integer hidden_ns
function select.rows(view, rows, measure)
  local o = view.options
  local shown, hidden, hidden_ns = {}, 0, 0
  for _, row in ipairs(rows) do
    if select.passes(row, o.filter) then
      local enough = row[measure] * 100 >= o.min_percent * view.whole
      if row.func.kind == "root" then
        enough = row.self_ns * 100 >= math.max(o.min_percent, 1) * view.whole
      end
      if enough and #shown < o.limit then
        shown[#shown + 1] = row
      elseif row.func.kind ~= "root" then
        hidden, hidden_ns = hidden + 1, hidden_ns + row.self_ns
      end
    end
  end
  return shown, hidden, hidden_ns
end

---The line that says what is left out; nil when nothing is.
---@param view cprof.View
---@param hidden integer
---@param hidden_ns integer
---@param what string     "function"
---@return string?
function select.rest(view, hidden, hidden_ns, what)
  if hidden == 0 then return nil end
  return view.paint("dim", ("… %s more %s%s, %s %% self"):format(
    format.count(hidden), what, hidden == 1 and "" or "s",
    format.percent(hidden_ns, view.whole)))
end

---A time of one's own, marked where it is small beside what recording
---has cost there: then it is not known well.
---@param row { self_ns: integer, self_raw_ns: integer }
---@return string
function select.time(row)
  local cost = row.self_raw_ns - row.self_ns
  return (row.self_ns * 4 < cost and "~" or "") .. format.time(row.self_ns)
end

---The rows of a report: functions with the same title are one.
---@param profile cprof.Profile
---@return cprof.Row[], cprof.Edge[]
function select.functions(profile)
  return profile:sums(function(f) return f.title end)
end

return select
