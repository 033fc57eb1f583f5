-- Mode "callgraph": for each function its callers above, with the time
-- spent in it on their behalf, and its callees below, with their time on
-- its behalf. Both add up to its own line.

local format = require "cprof.format"
local name = require "cprof.name"
local select = require "cprof.report.select"

local columns = {
  { title = "total" }, { title = "%" }, { title = "self" },
  { title = "calls" },
  { title = "function", left = true, least = 20 },
  { title = "defined", left = true, least = 18, cut = format.cutpath },
}

local function cell(view, figures, label, func, style)
  local total = figures.total_ns
  return {
    { total and format.time(total) or "-", style },
    { total and format.percent(total, view.whole) or "-", style },
    { figures.self_ns and format.time(figures.self_ns) or "-", style },
    { format.count(figures.calls), style },
    { label .. format.plain(func.name), style },
    { format.plain(name.where(func)), "dim" },
  }
end

local function bytotal(a, b)
  if a.total_ns ~= b.total_ns then return a.total_ns > b.total_ns end
  if a.calls ~= b.calls then return a.calls > b.calls end
  return a.row.title < b.row.title
end

-- the callers and callees of each row
local function neighbours(edges)
  local callers, callees = {}, {}
  local function add(to, row, entry)
    to[row] = to[row] or {}
    table.insert(to[row], entry)
  end
  for _, e in ipairs(edges) do
    add(callers, e.callee, { row = e.caller, calls = e.calls,
      self_ns = e.self_ns, total_ns = e.total_in_ns })
    add(callees, e.caller, { row = e.callee, calls = e.calls,
      self_ns = e.self_ns, total_ns = e.total_out_ns })
  end
  return callers, callees
end

---@param view cprof.View
---@return string[]
return function(view)
  local rows, edges = select.functions(view.profile)
  local callers, callees = neighbours(edges)
  select.sort(rows, view.options.sort or "total")
  local shown, hidden, hidden_ns = select.rows(view, rows, "total_ns")
  local cells, last = {}, {}
  for _, row in ipairs(shown) do
    local above, below = callers[row] or {}, callees[row] or {}
    table.sort(above, bytotal)
    table.sort(below, bytotal)
    for _, e in ipairs(above) do
      cells[#cells + 1] = cell(view, e, "    ", e.row.func)
    end
    cells[#cells + 1] = cell(view, row, "", row.func, "bold")
    for _, e in ipairs(below) do
      cells[#cells + 1] = cell(view, e, "    ", e.row.func)
    end
    last[#cells] = true
  end
  local lines = format.table(columns, cells, view.width, view.paint)
  local out = { lines[1] }
  for i = 1, #cells do
    out[#out + 1] = lines[i + 1]
    if last[i] then out[#out + 1] = "" end
  end
  out[#out + 1] = select.rest(view, hidden, hidden_ns, "function")
  return out
end
