-- Modes "total" and "self": one line for each function.

local format = require "cprof.text.format"
local name = require "cprof.source.name"
local select = require "cprof.report.select"

local flat = {}

-- the figure that rows are sorted by comes first, then the other
local others = { self = "total", total = "self" }

local function columns(by, view)
  local other, sort = others[by], view.options.sort
  return {
    { title = by, rank = 2 }, { title = by .. " %" },
    { title = other, rank = 7 }, { title = other .. " %", rank = 5 },
    { title = "waiting", optional = true, rank = 6 },
    { title = "alloc", optional = true, rank = 3 },
    { title = "allocs", optional = true, rank = 6 },
    { title = "calls", optional = true, rank = sort ~= "calls" and 4 or nil },
    { title = "function", left = true, least = 30, cut = format.cutname,
      code = true },
    { title = "defined", left = true, least = 18, cut = format.cutpath,
      code = true, rank = 1 },
  }
end

-- Returns a function for the allocations of a row itself, which are shown
-- unless they are the measure.
local function allocations_of(view)
  local meta, sums = view.profile.meta, {}
  if not meta.memory then return function() return "" end end
  for _, f in ipairs(view.profile.functions) do
    local sum = sums[f.title] or { bytes = 0, allocs = 0 }
    sum.bytes, sum.allocs = sum.bytes + f.self_bytes,
      sum.allocs + f.self_allocs
    sums[f.title] = sum
  end
  return function(row, what)
    if what == meta.measure then return "" end
    local n = sums[row.title][what]
    if n == 0 then return "-" end
    return what == "bytes" and format.bytes(n) or format.count(n)
  end
end

-- the waiting part of the time in the first column; "" if that is little
local function waiting(view, row, by)
  local ns = row[by .. "_wait_ns"] or 0
  return ns * 100 > view.profile.program_ns and format.time(ns) or ""
end

---@param view cprof.View
---@param by "self"|"total"
---@param rows cprof.Row[]  that are shown
local function cells_of(view, by, rows)
  local page, hottest = view.page, 0
  for _, row in ipairs(rows) do
    hottest = math.max(hottest, row[by .. "_ns"])
  end
  local function figures(row, which)
    local ns = row[which .. "_ns"]
    return page:time(ns, row[which .. "_most_ns"]), page:share(ns)
  end
  local allocated = allocations_of(view)
  local cells = {}
  for i, row in ipairs(rows) do
    local time, share = figures(row, by)
    local other, other_share = figures(row, others[by])
    cells[i] = {
      time, { share, format.heat(row[by .. "_ns"], hottest) },
      other, other_share, waiting(view, row, by),
      allocated(row, "bytes"), allocated(row, "allocs"),
      format.calls(row.calls),
      format.plain(row.func.name),
      { format.plain(name.where(row.func)), "dim" },
    }
  end
  return cells
end

---@param view cprof.View
---@param by "self"|"total"  the figure for min_percent, and the default order
---@param limit? integer
function flat.show(view, by, limit)
  local rows = select.functions(view.profile)
  select.sort(rows, view.options.sort or by)
  local shown, hidden, hidden_ns = select.rows(view, rows, by, limit)
  view.page:table(columns(by, view), cells_of(view, by, shown))
  view.page:rest(select.rest(view, hidden, hidden_ns, "function"))
end

---@param view cprof.View
function flat.mode(view)
  flat.show(view, view.options.mode)
  view.page:explain()
end

return flat
