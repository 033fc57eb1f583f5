-- Which rows a report shows, in which order, and what it leaves out.

local explained = require "cprof.count.rows"
local format = require "cprof.text.format"
local order = require "cprof.text.order"

local select = {}

---How often a row or a node was met: called, or sampled.
---@param row { calls: integer?, self_samples: integer? }
---@return integer
function select.often(row) return row.calls or row.self_samples or 0 end

-- estimates decide; of two that are as large, what may be more
local orders = {
  self = order("-self_ns", "-self_most_ns", "title"),
  total = order("-total_ns", "-total_most_ns", "title"),
  calls = order(function(row) return -select.often(row) end, "title"),
  name = order("func.name", "title"),
}

---How many calls there were in all.
---@param profile cprof.Profile
---@return integer
function select.calls(profile)
  local n = 0
  for _, f in ipairs(profile.functions) do n = n + (f.calls or 0) end
  return n
end

---How many functions reports tell apart: one that was merged from two that
---differ is one of them. A function that joining two profiles has left
---without calls and without time is not counted.
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

---Sorts rows; those that are equal, by title.
---@param rows cprof.Row[]
---@param by string
function select.sort(rows, by) table.sort(rows, orders[by]) end

---Does the filter let this row pass?
---@param row cprof.Row
---@param filter cprof.Pattern?
---@return boolean
function select.passes(row, filter)
  return not filter or filter:passes(row.func.source,
    row.func.place or "", row.title)
end

---The least share of the time of what is shown, in percent. Who asks for an
---order or for certain functions wants to see the small ones, too.
---@param view cprof.View
---@return number
function select.least(view)
  local o = view.options
  return o.min_percent or (o.sort or o.filter) and 0 or 1
end

---The rows to be shown, and how many are left out with what self time.
---The root is what no function did: it counts, but is no function.
---@param view cprof.View
---@param rows cprof.Row[]
---@param measure string   "self" or "total": `min_percent` is about that
---@param limit? integer
---@return cprof.Row[] shown, integer hidden, integer hidden_ns
function select.rows(view, rows, measure, limit)
  limit = limit or view.options.limit or 30
  -- what is not known to be less is shown
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

---The line that says what is left out; nil when nothing is.
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

-- the sums of each profile that is looked at, which take a while
local known = setmetatable({}, { __mode = "k" })

-- the row of the time since the last sample, where there is none
local function vacant(row)
  return row.func.kind == "internal" and row.total_ns == 0 and
    row.total_samples == 0
end

---The rows of a report, where functions with the same title are one, and
---the calls between them, those from each line on their own. The list of
---rows is the caller's.
---@param profile cprof.Profile
---@param all? boolean  also rows that are empty now, but may not stay so
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
